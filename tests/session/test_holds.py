"""A session is open in one mm at a time, and free again however that mm ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mm.session.holds import Holds

HOLDER = """
import subprocess, sys
from pathlib import Path
from mm.session.holds import Holds
assert Holds(Path(sys.argv[1])).take("20260412-kodamiru")
child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
sys.stdin.read()
"""
SESSION = "20260412-kodamiru"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def test_a_session_is_held_by_one_until_it_is_released(path: Path) -> None:
    one, other = Holds(path), Holds(path)
    assert one.take(SESSION)
    assert not other.take(SESSION)
    assert other.take("20260412-another")
    one.release(SESSION)
    assert other.take(SESSION)


def test_what_is_taken_twice_is_free_when_it_was_released_twice(path: Path) -> None:
    one, other = Holds(path), Holds(path)
    assert one.take(SESSION) and one.take(SESSION)
    one.release(SESSION)
    assert not other.take(SESSION)
    one.release(SESSION)
    assert other.take(SESSION)


def test_nothing_stays_on_the_disk(path: Path) -> None:
    holds = Holds(path)
    for name in (SESSION, "../../somewhere", "x" * 5000):
        assert holds.take(name)
    holds.close()
    assert [file for file in path.parent.rglob("*") if file.is_file()] == []


def test_after_kill_9_the_session_is_free_though_what_that_mm_started_runs_on(path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    child = holder.stdout.readline().strip()
    try:
        assert not Holds(path).take(SESSION)
        holder.kill()
        holder.wait()
        assert Path(f"/proc/{child}").exists()
        assert Holds(path).take(SESSION)
    finally:
        subprocess.run(["kill", "-9", child], check=False)
        holder.communicate()
