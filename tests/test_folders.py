"""mm's own folders: private, and nobody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm import folders
from mm.errors import MMError

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may give folders away")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_folder_of_the_user_s_own_may_be_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    (home / "data").symlink_to(tmp_path / "mine")
    assert folders.data_folder() == home / "data"


def test_a_link_to_a_folder_that_others_may_write_to_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (home / "data").symlink_to(tmp_path / "open")
    with pytest.raises(MMError, match=r"^Others may write to `.*data`, which leads to `.*open`, so"):
        folders.data_folder()


@NEEDS_ROOT
@pytest.mark.parametrize("mode", [0o777, 0o700])
def test_a_link_to_a_folder_of_another_user_is_refused(home: Path, tmp_path: Path, mode: int) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other").chmod(mode)
    os.chown(tmp_path / "other", 12345, 12345)
    (home / "data").symlink_to(tmp_path / "other")
    with pytest.raises(MMError, match=r"leads to `.*other`, belongs to another user"):
        folders.data_folder()
    assert not list((tmp_path / "other").iterdir())


@NEEDS_ROOT
def test_a_link_of_another_user_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (home / "data").symlink_to(tmp_path / "mine")
    os.lchown(home / "data", 12345, 12345)
    with pytest.raises(MMError, match="belongs to another user"):
        folders.data_folder()


def test_a_file_behind_a_link_that_others_may_write_to_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "open.json").touch()
    (tmp_path / "open.json").chmod(0o666)
    (home / "file.json").symlink_to(tmp_path / "open.json")
    with pytest.raises(MMError, match="Others may write to"):
        folders.refuse_if_not_ours(home / "file.json")


@pytest.mark.parametrize("what", ["a file", "a file above", "a link to nowhere", "a circle", "too long"])
def test_a_folder_that_cannot_be_made_is_said_in_words(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    match what:
        case "a file":
            (home / "data").touch(0o600)
        case "a file above":
            (tmp_path / "file").touch()
            monkeypatch.setenv("MM_HOME", str(tmp_path / "file"))
        case "a link to nowhere":
            (home / "data").symlink_to(tmp_path / "nowhere")
        case "a circle":
            (home / "data").symlink_to("data")
        case "too long":
            monkeypatch.setenv("MM_HOME", "/" + "x" * 5000)
    with pytest.raises(MMError, match=r"cannot be (made|used)"):
        folders.data_folder()


def test_the_home_of_a_user_who_is_not_there_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MM_HOME", "~nosuchuser/x")
    with pytest.raises(MMError, match="there is no such user"):
        folders.data_folder()
