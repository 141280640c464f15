"""`mm init`: a file that works at once, and never another's work overwritten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mm.cli.main import run
from mm.config.load import load
from tests.cli.running import Place

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    here = tmp_path / "ops"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def test_the_file_passes_the_check_without_findings(folder: Path, capsys: Output) -> None:
    assert run(["init"]) == 0
    capsys.readouterr()
    assert run(["tools", "check"]) == 0
    assert capsys.readouterr().out == "1 tool, no problems\n"
    assert load(folder / "agent.yaml", environ={}).name == "ops"


def test_its_example_runs_as_printed_and_needs_no_trust(place: Place) -> None:
    printed = place.mm("init")
    assert (printed.code, printed.err) == (0, "")
    line = next(line for line in printed.out.splitlines() if "tools run" in line)
    ran = place.mm(*line.split()[1:], "--allow", "count_lines")
    lines = (place.folder / "agent.yaml").read_text().count("\n")
    assert (ran.code, ran.out.split()) == (0, [str(lines), "agent.yaml"])


def test_editors_find_the_schema_that_the_first_line_names(folder: Path) -> None:
    run(["init"])
    first = (folder / "agent.yaml").read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = json.loads((folder / first.partition("=")[2]).read_text())
    assert schema["$defs"]["tool"]["properties"]["command"]


def test_three_commands_to_type_next_and_where(folder: Path, capsys: Output) -> None:
    assert run(["init", "new folder/x"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Wrote new folder/x/agent.yaml. Next:"
    assert lines[1] == "  cd 'new folder/x'"
    assert [line.split()[1] for line in lines[2:]] == ["tools", "doctor", "-p"]
    assert load(folder / "new folder/x/agent.yaml", environ={}).name == "x"


@pytest.mark.parametrize("name", ["no", "1.10", "a: b", 'quo"te', "# x", "été 2", "- x", "{{x}}", "null"])
def test_any_name_of_a_folder_arrives_as_it_is(folder: Path, name: str) -> None:
    assert run(["init", f"./{name}"]) == 0
    assert load(folder / name / "agent.yaml", environ={}).name == name


@pytest.mark.parametrize("there", ["agent.yaml", ".mm/agent.yaml"])
def test_what_is_there_is_not_overwritten(folder: Path, capsys: Output, there: str) -> None:
    path = folder / there
    path.parent.mkdir(exist_ok=True)
    path.write_text("name: mine\n")
    assert run(["init"]) == 2
    error = capsys.readouterr().err
    assert f"`{there}` is there already" in error
    assert "mm tools new" in error
    assert path.read_text() == "name: mine\n"
    assert sorted(one.name for one in folder.rglob("*") if one.is_file()) == [path.name]


def test_a_link_that_leads_nowhere_is_not_written_through(folder: Path) -> None:
    (folder / "agent.yaml").symlink_to(folder / "elsewhere")
    assert run(["init"]) == 2
    assert not (folder / "elsewhere").exists()


@pytest.mark.parametrize("name", ["x" * 300, "/dev/null/x"])
def test_a_folder_that_cannot_be_is_said(capsys: Output, name: str) -> None:
    assert run(["init", name]) == 2
    assert "cannot be made:" in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_is_said(folder: Path, capsys: Output) -> None:
    (folder / "x").write_text("")
    assert run(["init", "x"]) == 2
    assert "`x` is a file" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_said(folder: Path, capsys: Output) -> None:
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write anywhere")
    assert run(["init"]) == 2
    assert "cannot be written: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101])
def test_a_name_that_is_no_short_line_is_refused(folder: Path, capsys: Output, name: str) -> None:
    assert run(["init", "--name", name]) == 2
    assert "one short line" in capsys.readouterr().err
    assert not (folder / "agent.yaml").exists()
