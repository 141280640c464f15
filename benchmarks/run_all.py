"""Runs every benchmark, one after the other, each in a process of its own.

    python benchmarks/run_all.py [--quick]

--quick is a smoke run of a few seconds: fewer rounds, no models, nothing installed; figures are not kept.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT

from mm.errors import MMError
from mm.models import weights

HERE = ROOT / "benchmarks"
QUICK = (("startup.py", "--quick"), ("journey.py", "--quick"))
FULL = (("startup.py",), ("journey.py",), ("sandbox.py",), ("sessions.py",), ("actions.py",), ("chart.py",))


def missing(program: str) -> str:
    """Why a benchmark cannot run on this machine, "" if it can."""
    if program != "actions.py":
        return ""
    if importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("mcp") is None:
        return 'needs the extras: pip install "mm-agent[local,mcp]"'
    try:
        for name in ("qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"):
            weights.find(name)
    except MMError as error:
        return f"{error.message} {error.hint}"
    return ""


def main(*, quick: bool) -> int:
    failed = []
    with tempfile.TemporaryDirectory() as kept_nowhere:
        results = {"MM_BENCHMARK_RESULTS": kept_nowhere} if quick else {}
        for program, *options in QUICK if quick else FULL:
            print(f"\n== {program}", flush=True)
            reason = missing(program)
            if reason:
                print(f"left out: {reason}", flush=True)
                continue
            begin = time.monotonic()
            command = [sys.executable, str(Path(HERE, program)), *options]
            environment = {**os.environ, "PYTHONPATH": str(ROOT), **results}
            if subprocess.run(command, env=environment, check=False).returncode:
                failed.append(program)
            print(f"({time.monotonic() - begin:.0f} s)", flush=True)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    sys.exit(main(quick=parser.parse_args().quick))
