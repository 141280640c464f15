"""Starts many processes that run misbehaving modules, and counts those that do not end cleanly.

    python benchmarks/soak_wasm.py [PROCESSES]

Clean is: exit code 0 and nothing on stderr. Takes about a second a process; most of it is waiting.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MISBEHAVE = ROOT / "tests" / "tools" / "wasm_misbehave.py"
SIDE_BY_SIDE = 4
MOST_CALLS = 8  # one of each kind


def run_one(home: Path, number: int) -> str:
    """Empty if the process ended cleanly, else what it did."""
    calls = number % MOST_CALLS + 1
    done = subprocess.run(
        [sys.executable, str(MISBEHAVE), str(home), str(calls)],
        env={**os.environ, "MM_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    clean = (done.returncode, done.stdout, done.stderr) == (0, f"{calls} calls\n", "")
    return "" if clean else f"process {number}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


def main(processes: int) -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        unclean = [told for told in pool.map(lambda number: run_one(Path(folder), number), range(processes)) if told]
    for told in unclean:
        print(told)
    calls = sum(number % MOST_CALLS + 1 for number in range(processes))
    print(f"{processes} processes, {calls} calls, {len(unclean)} unclean, {time.monotonic() - started:.0f} s")
    return 1 if unclean else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
