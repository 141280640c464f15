"""The modules of `wasm-modules/`, as the agent of `examples/notes` declares them: Go and C, built for WASI."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from mm.config.load import load
from mm.messages import JSON, Outcome
from mm.tools.catalog import declared
from mm.tools.spec import ApprovedCall, Output, Run, Tool
from mm.tools.wasm import WasmExecutor
from mm.tools.wasm_inspect import inspect_module

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "wasm-modules"
EXAMPLE = ROOT / "examples" / "notes"


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of built modules. Building takes some 20 seconds once, and nothing when they are there."""
    made = subprocess.run(
        ["make", "-C", str(MODULES), f"PYTHON={sys.executable}"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return EXAMPLE / "modules"


@dataclass(frozen=True)
class Notes:
    """The example's agent, copied to where a test may change it."""

    folder: Path
    executor: WasmExecutor
    tools: dict[str, Tool]

    def run(self, name: str, /, **arguments: JSON) -> Output:
        tool = self.tools[name]
        call = ApprovedCall("1", tool, arguments, self.executor.plan(tool, arguments))
        return self.executor.run(call, Run(threading.Event(), self.folder / "spill"))


@pytest.fixture(scope="session")
def cache(request: pytest.FixtureRequest) -> Path:
    """Compiled modules, kept from run to run: one of Go takes seconds to compile."""
    assert request.config.cache is not None
    return request.config.cache.mkdir("wasm")


@pytest.fixture
def notes(built: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Notes:
    monkeypatch.setenv("MM_HOME", str(cache))
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    config = load(folder / "agent.yaml", environ={})
    return Notes(folder, WasmExecutor(), {entry.name: declared(entry) for entry in config.tools})


def test_a_note_is_read(notes: Notes) -> None:
    output = notes.run("read_note", name="trip.md")
    assert (output.outcome, output.exit_code) == (Outcome.OK, 0)
    assert output.stdout.head == (EXAMPLE / "notes" / "trip.md").read_bytes()


@pytest.mark.parametrize("name", ["none.md", "../agent.yaml", "/etc/passwd", "../modules/read_note.wasm", "", "\u00fc"])
def test_whatever_is_no_note_is_not_found(notes: Notes, name: str) -> None:
    """(C76)"""
    output = notes.run("read_note", name=name)
    assert (output.outcome, output.exit_code, output.stdout.size) == (Outcome.FAILED, 1, 0)
    assert output.stderr.head.decode() == (
        f"There is no note of that name: {name}\nThe notes are: garden.md, shopping.md, trip.md\n"
    )


def test_links_that_leave_the_folder_lead_a_go_program_nowhere(notes: Notes) -> None:
    """(C76, C78)"""
    (notes.folder / "notes" / "planted.md").symlink_to("../agent.yaml")
    (notes.folder / "notes" / "absolute.md").symlink_to("/etc/passwd")
    for name in ("planted.md", "absolute.md"):
        assert notes.run("read_note", name=name).exit_code == 1


def test_a_note_is_saved_in_the_one_folder_that_may_be_written(notes: Notes) -> None:
    output = notes.run("save_note", name="packing.md", text="été: adapter\n")
    assert (output.outcome, output.stdout.head) == (Outcome.OK, b"Saved packing.md (15 bytes).\n")
    assert (notes.folder / "drafts" / "packing.md").read_text() == "été: adapter\n"


def test_a_note_that_is_there_is_replaced_only_when_told_to(notes: Notes) -> None:
    notes.run("save_note", name="a.md", text="first")
    refused = notes.run("save_note", name="a.md", text="second", replace=False)
    assert refused.exit_code == 1 and b"already a note a.md" in refused.stderr.head
    assert notes.run("save_note", name="a.md", text="third", replace=True).outcome is Outcome.OK
    assert (notes.folder / "drafts" / "a.md").read_text() == "third"


@pytest.mark.parametrize("name", ["../agent.yaml", "/agent.yaml", "a/b", "..", ".", "", ".hidden"])
def test_a_note_is_saved_nowhere_else(notes: Notes, name: str) -> None:
    before = sorted(notes.folder.rglob("*"))
    assert notes.run("save_note", name=name, text="x").exit_code == 1
    assert sorted(notes.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("date", "days", "answer"),
    [
        ("2026-11-30", 45, b"2027-01-14 (Thursday)\n"),
        ("2024-02-28", 1, b"2024-02-29 (Thursday)\n"),
        ("2000-03-01", -1, b"2000-02-29 (Tuesday)\n"),
        ("2027-03-12", 9.0, b"2027-03-21 (Sunday)\n"),
    ],
)
def test_days_are_counted_in_the_calendar(notes: Notes, date: str, days: float, answer: bytes) -> None:
    assert notes.run("add_days", date=date, days=days).stdout.head == answer


def test_a_day_that_is_none_is_told(notes: Notes) -> None:
    output = notes.run("add_days", date="2026-02-30", days=1)
    assert output.exit_code == 1
    assert b"Not a day of the calendar: 2026-02-30" in output.stderr.head


def test_a_c_program_reads_a_note_by_a_relative_path(notes: Notes) -> None:
    """(C84)"""
    (notes.folder / "notes" / "é \U0001f33f.md").write_text("one two\nthree\n")
    assert notes.run("word_count", name="é \U0001f33f.md").stdout.head == b"2 lines, 3 words, 14 bytes\n"


@pytest.mark.parametrize("name", ["../agent.yaml", "none", "", 'a"b\\c', "x" * 5000])
def test_a_c_program_is_told_that_there_is_no_such_note(notes: Notes, name: str) -> None:
    assert notes.run("word_count", name=name).exit_code == 1


def test_modules_that_write_nothing_count_as_readonly(notes: Notes) -> None:
    readonly = {name: tool.readonly for name, tool in notes.tools.items()}
    assert readonly == {"read_note": True, "word_count": True, "add_days": True, "save_note": False}


def test_the_modules_pass_inspection(notes: Notes) -> None:
    for path in sorted((notes.folder / "modules").glob("*.wasm")):
        assert inspect_module(path) is None
