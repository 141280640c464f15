from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.config.find import Found, find, passed_over


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "own"))
    return tmp_path / "own/config/agent.yaml"


def make(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("name: x\n")
    return path


def test_the_nearest_file_upwards_is_found(tmp_path: Path) -> None:
    start = tmp_path / "home/project/src/deep"
    start.mkdir(parents=True)
    environ = {"HOME": str(tmp_path / "home")}
    hidden = make(tmp_path / "home/project/.mm/agent.yaml")
    assert find(start, environ) == Found(hidden, own=False)
    plain = make(tmp_path / "home/project/agent.yaml")
    assert find(start, environ) == Found(plain, own=False)
    nearer = make(start / ".mm/agent.yaml")
    assert find(start, environ) == Found(nearer, own=False)


def test_nothing_above_the_home_folder_is_looked_at(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    make(tmp_path / "agent.yaml")
    assert find(home / "work", {"HOME": str(home)}) is None
    at_home = make(home / "agent.yaml")
    assert find(home / "work", {"HOME": str(home)}) == Found(at_home, own=False)


def test_the_users_own_file_is_the_last_resort(tmp_path: Path, own: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    make(own)
    assert find(home, {"HOME": str(home)}) == Found(own, own=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_file_of_somebody_else_is_passed_over(tmp_path: Path, given: str) -> None:
    home = tmp_path / "home"
    theirs = make(home / "project/agent.yaml")
    os.chown(theirs if given == "file" else theirs.parent, 12345, -1)
    assert find(theirs.parent, {"HOME": str(home)}) is None
    assert passed_over(theirs.parent, {"HOME": str(home)}) == (theirs,)


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling"])
def test_what_is_not_a_file_is_passed_over(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "agent.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    assert find(tmp_path, {"HOME": str(tmp_path)}) is None


def test_another_file_system_is_not_entered(tmp_path: Path) -> None:
    make(tmp_path / "agent.yaml")
    shared = Path("/dev/shm")  # a mount of its own on Linux
    if not shared.is_dir() or shared.stat().st_dev == Path("/dev").stat().st_dev:
        pytest.skip("there is no second file system")
    assert find(shared, {"HOME": "/nowhere"}) is None
