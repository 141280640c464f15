"""A process that ran modules of every kind ends by itself, at once, without a stray line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MISBEHAVE = Path(__file__).with_name("wasm_misbehave.py")

LEAVE = """
import sys, threading
from pathlib import Path
from wasm_calls import CHATTER, CHATTER_DATA, Bench, program

bench = Bench(Path(sys.argv[1]))
text = {
    "loop": program("(loop $again (br $again))"),
    "flood": program(CHATTER, CHATTER_DATA),
}[sys.argv[2]]
tool = bench.tool(bench.assemble(text), timeout=60)
threading.Thread(target=bench.run, args=(tool,), daemon=True).start()
threading.Event().wait(float(sys.argv[3]))
"""


def run_process(home: Path, calls: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", str(MISBEHAVE), str(home), str(calls)],
        env={**os.environ, "MM_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("calls", [1, 8, 16])
def test_a_process_that_ran_misbehaving_modules_ends_cleanly(tmp_path: Path, calls: int) -> None:
    """Among them: endless loops and sleeps, crashes, exit codes, floods, an open that hangs for ever."""
    done = run_process(tmp_path, calls)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{calls} calls\n")


@pytest.mark.parametrize("what", ["loop", "flood"])
def test_a_process_that_ends_while_a_module_runs_ends_cleanly(tmp_path: Path, what: str) -> None:
    """Whatever the module is just doing, its thread is ended before the interpreter goes away."""
    for seconds in ("0", "0.01", "0.1"):
        done = subprocess.run(
            [sys.executable, "-c", LEAVE, str(tmp_path), what, seconds],
            env={
                **os.environ,
                "MM_HOME": str(tmp_path),
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parent)]),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
