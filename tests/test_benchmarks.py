"""The benchmarks run: a smoke run of those that need no model and install nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_quick_run_of_the_benchmarks_ends_well(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/run_all.py", "--quick"],
        cwd=ROOT,
        env={**os.environ, "MM_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mm -p, first byte sent" in done.stdout


def test_every_request_of_the_experiment_is_written_once_and_names_an_agent() -> None:
    asked = {}
    for name, count in {"first": 6, "wordings": 30, "second": 30}.items():
        requests = json.loads((ROOT / "benchmarks" / "actions" / f"{name}.json").read_text("utf-8"))["requests"]
        asked[name] = {one["text"] for one in requests}
        assert len(requests) == len(asked[name]) == count
        assert {one["agent"] for one in requests} <= {"ops", "office"}
    assert asked["first"] < asked["wordings"]
    assert not asked["wordings"] & asked["second"]
