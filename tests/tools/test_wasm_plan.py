"""What is shown and approved before a module runs, and that this and nothing else is what runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from wasm_calls import Bench, say

from mm.config.schema import Grant
from mm.errors import ToolError
from mm.tools.spec import ApprovedCall, Look, Need, Run


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def test_a_person_is_shown_the_module_its_folders_its_limits_and_its_arguments(bench: Bench, folder: Path) -> None:
    other = folder / "inner"
    other.mkdir()
    module = bench.assemble(say("x"))
    tool = bench.tool(module, Grant(folder, "notes", False), Grant(other, "drafts", True), timeout=30)
    plan = bench.plan(tool, {"name": "ü"})
    assert [(part.label, part.look, part.entries) for part in plan.shown] == [
        ("module", Look.PATH, (str(module),)),
        ("may use", Look.GRANT, (f"read {folder} (as /notes)", f"read and write {other} (as /drafts)")),
        ("limits", Look.TEXT, ("30 s, 256 MiB of memory, no network, no environment",)),
        ("stdin", Look.STDIN, ('{"name":"ü"}',)),
    ]
    assert plan.need is Need.ASK


def test_a_module_without_grants_is_shown_to_use_no_folder(bench: Bench) -> None:
    plan = bench.plan(bench.tool(bench.assemble(say("x"))))
    assert plan.shown[1].entries == ("no folder at all",)


def test_a_folder_is_shown_as_what_it_really_is(bench: Bench, folder: Path) -> None:
    """(C78) A granted folder that is a link is followed, so its target is what is shown and granted."""
    link = bench.folder / "link"
    link.symlink_to(folder)
    plan = bench.plan(bench.tool(bench.assemble(say("x")), Grant(link, "notes", False)))
    assert plan.shown[1].entries == (f"read {folder} (as /notes)",)


def test_a_folder_that_becomes_a_link_after_approval_is_not_opened(bench: Bench, folder: Path) -> None:
    tool = bench.tool(bench.assemble(say("ran")), Grant(folder, "notes", True))
    plan = bench.plan(tool)
    folder.rmdir()
    folder.symlink_to("/etc")
    output = bench.executor.run(ApprovedCall("1", tool, {}, plan), Run(bench.stop, bench.folder / "spill"))
    assert "is not there any more" in output.stdout.head.decode()
    assert output.answers


def test_a_folder_that_leads_elsewhere_than_when_mm_started_is_not_granted(bench: Bench, tmp_path: Path) -> None:
    for name in ("docs", "private"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to("docs")
    tool = bench.tool(bench.assemble(say("x")), Grant(link, "docs", writable=False, resolved=link.resolve()))
    bench.plan(tool)
    link.unlink()
    link.symlink_to("private")
    with pytest.raises(ToolError, match=r"led to `.*docs` when mm started, and now to `.*private`\. Nothing ran"):
        bench.plan(tool)


def test_the_definition_changes_with_the_module_the_grants_and_the_limits_only(bench: Bench, folder: Path) -> None:
    module = bench.assemble(say("x"), "one.wasm")
    grant = Grant(folder, "notes", False)
    first = bench.plan(bench.tool(module, grant), {"a": 1}).definition
    assert bench.plan(bench.tool(module, grant), {"a": 2}).definition == first
    others = [
        bench.tool(bench.assemble(say("y"), "two.wasm"), grant),
        bench.tool(module),
        bench.tool(module, Grant(folder, "notes", True)),
        bench.tool(module, Grant(folder, "other", False)),
        bench.tool(module, grant, memory=1 << 20),
        bench.tool(module, grant, timeout=1),
    ]
    definitions = {bench.plan(tool).definition for tool in others}
    assert len(definitions) == len(others) and first not in definitions


def test_a_module_that_is_replaced_after_approval_does_not_run(bench: Bench) -> None:
    """The bytes that were hashed are the bytes that run."""
    tool = bench.tool(bench.assemble(say("approved")))
    plan = bench.plan(tool)
    bench.assemble(say("replaced"))
    output = bench.executor.run(ApprovedCall("1", tool, {}, plan), Run(bench.stop, bench.folder / "spill"))
    assert output.stdout.head == b"approved"
    assert bench.run(tool).stdout.head == b"replaced"


def test_a_missing_module_is_told_with_its_path(bench: Bench) -> None:
    path = bench.folder / "none.wasm"
    with pytest.raises(ToolError, match="does not exist") as caught:
        bench.plan(bench.tool(path))
    assert str(path) in caught.value.message and "`demo`" in caught.value.message


def test_a_folder_in_place_of_the_module_is_told(bench: Bench, folder: Path) -> None:
    with pytest.raises(ToolError, match="is not a file"):
        bench.plan(bench.tool(folder))


def test_missing_and_wrong_folders_are_told_with_their_path(bench: Bench) -> None:
    """(C85)"""
    module = bench.assemble(say("x"))
    file = bench.folder / "file.txt"
    file.write_text("x")
    with pytest.raises(ToolError, match=r"none`, which it sees as `/notes`, does not exist"):
        bench.plan(bench.tool(module, Grant(bench.folder / "none", "notes", False)))
    with pytest.raises(ToolError, match=r"file\.txt`, which it sees as `/notes`, is not a folder"):
        bench.plan(bench.tool(module, Grant(file, "notes", False)))


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf")])
def test_arguments_that_are_no_json_are_answered(bench: Bench, value: object) -> None:
    with pytest.raises(ToolError, match="cannot be written as JSON"):
        bench.plan(bench.tool(bench.assemble(say("x"))), {"a": value})


def test_a_whole_number_reaches_the_module_as_an_integer(bench: Bench) -> None:
    """A model may send 3.0 where 3 is meant, and typed languages would not read that into an integer."""
    plan = bench.plan(bench.tool(bench.assemble(say("x"))), {"days": 3.0, "list": [1e3, 2.5]})
    assert plan.shown[3].entries[0] == '{"days":3,"list":[1000,2.5]}'


def test_large_numbers_reach_the_module_digit_by_digit(bench: Bench) -> None:
    plan = bench.plan(bench.tool(bench.assemble(say("x"))), {"n": 12345678901234567890123})
    assert json.loads(plan.shown[3].entries[0]) == {"n": 12345678901234567890123}
