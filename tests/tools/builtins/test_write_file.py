"""write_file: whole files, replaced in one step, only where the person agreed to."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from builtin_calls import Calls, said, shown

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtins.files import file_tools
from mm.tools.places import Places
from mm.tools.spec import Look, Need


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def calls(work: Path) -> Calls:
    return Calls(file_tools(Places(work)), work.parent)


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".mm-*")]


def test_a_new_file_is_written_as_sent_with_the_folders_it_needs(calls: Calls, work: Path) -> None:
    content = '{"a": 1}\r\n\té\n\n'
    text = calls.text("write_file", path="new/deep/a.json", content=content)
    assert (work / "new/deep/a.json").read_bytes() == content.encode()
    assert text == "Wrote new file `new/deep/a.json` (3 lines, 15 bytes)."


def test_an_old_file_is_replaced_and_keeps_its_permissions(calls: Calls, work: Path) -> None:
    path = work / "run.sh"
    path.write_text("old, and much longer than the new one")
    path.chmod(0o750)
    assert calls.text("write_file", path="run.sh", content="new\n") == "Replaced `run.sh` (1 line, 4 bytes)."
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert left_over(work) == []


def test_a_new_file_has_the_permissions_that_the_umask_gives(calls: Calls, work: Path) -> None:
    (work / "touched").touch()
    calls.call("write_file", path="a.txt", content="")
    assert (work / "a.txt").stat().st_mode == (work / "touched").stat().st_mode


def test_the_person_sees_the_path_and_the_content(calls: Calls, work: Path) -> None:
    plan = calls.plan("write_file", path="a.txt", content="text").plan
    assert plan.need is Need.ASK
    assert shown(plan) == f"new file: {work / 'a.txt'}\ncontent: text"
    assert [part.look for part in plan.shown] == [Look.PATH, Look.CONTENT]
    (work / "a.txt").touch()
    assert shown(calls.plan("write_file", path="a.txt", content="").plan).startswith("replaces: ")


def test_an_agent_file_is_asked_about_even_under_yolo(calls: Calls) -> None:
    assert calls.plan("write_file", path="agent.yaml", content="").plan.need is Need.ALWAYS


def test_an_always_inside_does_not_cover_a_path_outside(calls: Calls, work: Path) -> None:
    def definition(path: str) -> str:
        return calls.plan("write_file", path=path, content="").plan.definition

    assert definition("a.txt") == definition("b/c.txt")
    assert len({definition("a.txt"), definition("../a.txt"), definition("../b.txt")}) == 3


def test_writing_through_a_link_changes_the_target_that_was_shown(calls: Calls, work: Path) -> None:
    (work / "real.txt").write_text("old")
    (work / "link.txt").symlink_to("real.txt")
    calls.call("write_file", path="link.txt", content="new")
    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "new"


def test_a_link_to_nothing_outside_is_shown_for_what_it_is(calls: Calls, work: Path) -> None:
    """(C78)"""
    (work / "a.txt").symlink_to("../made-outside.txt")
    plan = calls.plan("write_file", path="a.txt", content="x").plan
    assert shown(plan).startswith(f"new file: {work.parent / 'made-outside.txt'}\n")
    assert plan.definition != calls.plan("write_file", path="b.txt", content="x").plan.definition


@pytest.mark.parametrize("planted", ["file", "folder", "new folder"])
def test_a_link_planted_after_consent_is_never_written_through(calls: Calls, work: Path, planted: str) -> None:
    """(C104)"""
    outside = work.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("precious")
    (work / "out").mkdir()
    (work / "out" / "a.txt").write_text("old")
    path = "fresh/a.txt" if planted == "new folder" else "out/a.txt"
    call = calls.plan("write_file", path=path, content="overwritten")
    if planted == "file":
        (work / "out" / "a.txt").unlink()
        (work / "out" / "a.txt").symlink_to(outside / "a.txt")
    elif planted == "folder":
        (work / "out").rename(work / "old")
        (work / "out").symlink_to(outside)
    else:
        (work / "fresh").symlink_to(outside)
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "a link since the call was approved" in said(output)
    assert (outside / "a.txt").read_text() == "precious"
    assert left_over(work.parent) == []


def test_another_name_of_the_file_keeps_its_content(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("old")
    os.link(work / "a.txt", work.parent / "precious.txt")
    calls.call("write_file", path="a.txt", content="new")
    assert (work.parent / "precious.txt").read_text() == "old"


def test_a_failed_write_leaves_the_old_file(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("old")
    call = calls.plan("write_file", path="a.txt", content="new")
    (work / "a.txt").unlink()
    (work / "a.txt").mkdir()
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "has become a folder" in said(output)
    assert left_over(work) == []


def test_half_a_character_is_answered_in_words(calls: Calls) -> None:
    builtin = next(tool for tool in calls.tools if tool.name == "write_file")
    with pytest.raises(ToolError, match="lone surrogate"):
        builtin.plan({"path": "a.txt", "content": "\ud800"})


def test_a_folder_that_may_not_be_written_is_answered_in_words(calls: Calls, work: Path) -> None:
    call = calls.plan("write_file", path="/proc/mm-test/a.txt", content="x")
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert said(output).startswith("`/proc/mm-test` could not be opened: ")
