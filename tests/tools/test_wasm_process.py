"""A process that ran modules of every kind ends by itself, at once, without a stray line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MISBEHAVE = Path(__file__).with_name("wasm_misbehave.py")


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
