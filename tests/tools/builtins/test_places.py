"""Paths as a model writes them: where they lead, and what consent they need."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from mm.config.schema import (
    CommandTool,
    Config,
    Hook,
    HookEvent,
    Literal,
    McpServer,
    Place,
    Slot,
    Template,
    ToolEntry,
    WasmTool,
)
from mm.errors import ToolError
from mm.schemas.schema import Schema
from mm.tools.places import Places, protected_by
from mm.tools.spec import Need


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    return tmp_path / "work"


def test_reading_inside_asks_nobody_and_reading_outside_asks(work: Path) -> None:
    places = Places(work)
    assert places.reading(places.resolve("notes/a.txt")) is Need.NONE
    assert places.reading(places.resolve("../outside/secret.txt")) is Need.ASK
    assert places.reading(places.resolve("/etc/passwd")) is Need.ASK


def test_a_folder_beside_with_the_same_beginning_is_outside(work: Path) -> None:
    places = Places(work)
    assert places.reading(places.resolve(f"{work}2/a.txt")) is Need.ASK


@pytest.mark.parametrize("target", ["../outside/secret.txt", "{outside}/secret.txt"])
def test_a_link_inside_that_leads_out_is_outside(work: Path, target: str) -> None:
    """(C78)"""
    (work / "link").symlink_to(target.format(outside=work.parent / "outside"))
    places = Places(work)
    assert places.resolve("link") == work.parent / "outside" / "secret.txt"
    assert places.reading(places.file("link")) is Need.ASK


def test_a_link_to_a_folder_outside_leads_outside_for_all_in_it(work: Path) -> None:
    (work / "docs").symlink_to(work.parent / "outside")
    places = Places(work)
    assert places.reading(places.file("docs/secret.txt")) is Need.ASK
    assert places.changing(places.target("docs/new.txt")) is Need.ASK
    assert places.resolve("docs/../a.txt") == work.parent / "a.txt"


def test_a_link_that_stays_inside_is_inside(work: Path) -> None:
    (work / "a.txt").write_text("a")
    (work / "link").symlink_to("a.txt")
    places = Places(work)
    assert places.reading(places.file("link")) is Need.NONE


def test_a_working_directory_that_is_itself_a_link_is_inside(work: Path) -> None:
    (work / "a.txt").write_text("a")
    alias = work.parent / "alias"
    alias.symlink_to(work)
    places = Places(alias)
    assert places.reading(places.file("a.txt")) is Need.NONE
    assert places.reading(places.file(str(alias / "a.txt"))) is Need.NONE


def test_further_folders_may_be_read_without_asking(work: Path) -> None:
    places = Places(work, readable=[work.parent / "outside"])
    path = places.file("../outside/secret.txt")
    assert places.reading(path) is Need.NONE
    assert places.changing(path) is Need.ASK


def test_a_tilde_is_the_home_folder(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(work.parent / "outside"))
    places = Places(work)
    assert places.resolve("~/secret.txt") == work.parent / "outside" / "secret.txt"
    assert places.resolve("~") == work.parent / "outside"
    assert places.resolve("~nobody-at-all/x") == work / "~nobody-at-all" / "x"


@pytest.mark.parametrize(
    "text",
    ["", "  ", "a\0b", "a" * 5000, "/".join(["a"] * 3000), "\ud800.txt", "x" * 300],
    ids=["empty", "blank", "NUL", "long", "deep", "surrogate", "long name"],
)
def test_a_path_that_cannot_be_is_answered_in_words(work: Path, text: str) -> None:
    """(C64)"""
    places = Places(work)
    for find in (places.file, places.folder):
        with pytest.raises(ToolError) as caught:
            find(text)
        assert caught.value.message.endswith(".")


def test_links_in_a_circle_are_answered_in_words(work: Path) -> None:
    (work / "a").symlink_to("b")
    (work / "b").symlink_to("a")
    with pytest.raises(ToolError, match="circle"):
        Places(work).file("a/x")


def test_a_missing_file_names_the_nearest_ones(work: Path) -> None:
    (work / "src").mkdir()
    (work / "src" / "main.py").write_text("")
    places = Places(work)
    with pytest.raises(ToolError, match=r"no `src/mian.py`.*`main.py`"):
        places.file("src/mian.py")
    with pytest.raises(ToolError, match=r"no folder `scr` either.*`src`"):
        places.file("scr/main.py")
    with pytest.raises(ToolError, match=r"no `src/main.py/x`"):
        places.file("src/main.py/x")


def test_names_outside_are_not_told(work: Path) -> None:
    with pytest.raises(ToolError) as caught:
        Places(work).file("../outside/secrt.txt")
    assert "secret.txt" not in caught.value.message
    assert str(work) in caught.value.message


def test_a_name_in_another_spelling_of_the_same_letters_is_found(work: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "café.txt")
    (work / decomposed).write_text("x")
    places = Places(work)
    assert places.file(unicodedata.normalize("NFC", "café.txt")).name == decomposed
    assert places.target(unicodedata.normalize("NFC", "café.txt")).name == decomposed


def test_a_name_that_is_no_text_is_found_as_it_is_shown(work: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    try:
        (work / name).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    places = Places(work)
    told = places.shown(work / name)
    assert told.isprintable()
    assert places.file(told).name == name


def test_a_device_a_pipe_and_a_socket_are_refused(work: Path) -> None:
    os.mkfifo(work / "pipe")
    places = Places(work)
    for text, kind in {"pipe": "a pipe", "/dev/null": "a device"}.items():
        for find in (places.file, places.folder, places.file_or_folder, places.target):
            with pytest.raises(ToolError, match=kind):
                find(text)


def test_a_file_cannot_be_put_into_a_file_or_in_place_of_a_folder(work: Path) -> None:
    (work / "a.txt").write_text("")
    (work / "folder").mkdir()
    places = Places(work)
    with pytest.raises(ToolError, match=r"`a.txt` is a file, so no file can be put in it"):
        places.target("a.txt/b/c.txt")
    with pytest.raises(ToolError, match="is a folder"):
        places.target("folder")
    with pytest.raises(ToolError, match="names a folder"):
        places.target("new/")


@pytest.mark.parametrize("text", ["agent.yaml", ".mm/agent.yaml", ".mm/hooks/check.py", "../agent.yaml", "Agent.YAML"])
def test_changing_what_mm_would_find_as_agent_file_always_asks(work: Path, text: str) -> None:
    places = Places(work)
    assert places.changing(places.target(text)) is Need.ALWAYS


def test_changing_other_files_asks_as_usual(work: Path) -> None:
    places = Places(work)
    assert places.changing(places.target("src/agent.yaml")) is Need.ASK
    assert places.changing(places.target("agent.yaml.txt")) is Need.ASK


def test_a_link_to_a_protected_file_is_protected(work: Path) -> None:
    (work / "agent.yaml").write_text("name: a")
    (work / "notes.txt").symlink_to("agent.yaml")
    places = Places(work)
    assert places.changing(places.target("notes.txt")) is Need.ALWAYS


def test_another_name_of_a_protected_file_is_protected(work: Path) -> None:
    (work / "check.py").write_text("")
    os.link(work / "check.py", work / "notes.txt")
    places = Places(work, protected=[work / "check.py"])
    assert places.changing(places.target("notes.txt")) is Need.ALWAYS


def test_all_that_an_agent_file_trusts_is_protected(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MM_HOME", str(work.parent / "home"))
    files = ("release.sh", "build.py", "guard.py", "data.txt", "note.wasm", "skills/a/SKILL.md", "my-agent.yaml")
    for name in files:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("")
    place = Place(work / "my-agent.yaml", 1, 1)

    def literal(text: str) -> Template:
        return Template((Literal(text),))

    def entry(name: str, run: CommandTool | WasmTool) -> ToolEntry:
        return ToolEntry(name, "", Schema({}), run, place)

    config = Config(
        file=work / "my-agent.yaml",
        folder=work,
        skills=(work / "skills",),
        hooks=(Hook(HookEvent.BEFORE, ".*", ("python3", "guard.py"), place),),
        tools=(
            entry("release", CommandTool(str(work / "release.sh"), (Template((Slot("version"),)),))),
            entry("build", CommandTool("python3.11", (literal("build.py"), literal("--all")))),
            entry("count", CommandTool("wc", (literal("-l"), literal("data.txt")))),
            entry("note", WasmTool(work / "note.wasm")),
        ),
    )
    places = Places(work, protected=protected_by(config, work))
    asked = {name for name in files if places.changing(places.target(name)) is Need.ALWAYS}
    assert asked == set(files) - {"data.txt"}
    assert places.changing(places.target("skills/new/SKILL.md")) is Need.ALWAYS
    assert places.changing(places.target(str(work.parent / "home/data/memory/x.md"))) is Need.ALWAYS
    assert places.changing(places.target("src/guard.py")) is Need.ASK


def test_what_an_mcp_server_and_a_starter_may_run_is_protected_also_before_it_is_there(work: Path) -> None:
    place = Place(work / "my-agent.yaml", 1, 1)
    start = CommandTool("nice", tuple(Template((Literal(text),)) for text in ("python3", "later.py", "src")))
    config = Config(
        file=None,
        folder=work,
        mcp_servers=(
            McpServer("s", place, ("python3", "server.py")),
            McpServer("p", place, ("npx", "pkg", "notes.db")),
        ),
        tools=(ToolEntry("build", "", Schema({}), start, place),),
    )
    (work / "server.py").touch()
    places = Places(work, protected=protected_by(config, work))
    names = ("server.py", "later.py", "src/other.py", "notes.db", "python3")
    asked = {name for name in names if places.changing(places.target(name)) is Need.ALWAYS}
    assert asked == {"server.py", "later.py"}


def test_in_the_root_folder_what_the_kernel_makes_up_is_still_asked_about() -> None:
    places = Places(Path("/"))
    assert places.reading(places.file("etc/passwd")) is Need.NONE
    assert places.reading(places.file("proc/self/environ")) is Need.ASK
