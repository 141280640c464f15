"""What a module sees: its arguments, its name, the folders granted to it, and nothing else."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from wasm_calls import ECHO, Bench, exit_with, open_path, program, text_at

from mm.config.schema import Grant
from mm.messages import Outcome

SUCCESS, EXISTS, NO_ENTRY, NOT_FOLDER, NOT_PERMITTED, READ_ONLY = 0, 20, 44, 54, 63, 69
BAD_DESCRIPTOR = 8


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with files and links in it, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file.txt").write_text("secret")
    notes = tmp_path / "notes"
    (notes / "inner").mkdir(parents=True)
    (notes / "note.txt").write_text("a note")
    (notes / "inside-link").symlink_to("note.txt")
    (notes / "absolute-link").symlink_to(tmp_path / "secret.txt")
    (notes / "relative-link").symlink_to("../secret.txt")
    (notes / "folder-link").symlink_to("../outside")
    return notes


def read(folder: Path) -> Grant:
    return Grant(folder, "notes", writable=False)


def write(folder: Path) -> Grant:
    return Grant(folder, "notes", writable=True)


@pytest.mark.parametrize(
    "arguments", [{}, {"name": "naïve – 日本.md", "list": [1, 2.5, True, None]}, {"text": "x" * 1_000_000}]
)
def test_the_arguments_arrive_as_one_json_object_on_stdin(bench: Bench, arguments: dict[str, object]) -> None:
    """(C83)"""
    tool = bench.tool(bench.assemble(program(ECHO)))
    output = bench.run(tool, arguments)
    whole = output.stdout.file.read_bytes() if output.stdout.file else output.stdout.head
    assert output.outcome is Outcome.OK
    assert json.loads(whole.decode("utf-8")) == arguments
    assert not whole.startswith(b"\xef\xbb\xbf")


def test_calls_that_overlap_each_get_their_own_arguments(bench: Bench) -> None:
    """(C83)"""
    tool = bench.tool(bench.assemble(program(ECHO)))
    answers: dict[int, object] = {}

    def call(number: int) -> None:
        answers[number] = json.loads(bench.run(tool, {"number": number}).stdout.head)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: {"number": number} for number in range(12)}


def test_no_state_survives_a_call(bench: Bench) -> None:
    body = "(i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))" + exit_with(
        "(i32.load (i32.const 64))"
    )
    tool = bench.tool(bench.assemble(program(body)))
    assert [bench.run(tool).exit_code for _ in range(3)] == [1, 1, 1]


def test_the_environment_is_pwd_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    body = (
        "(drop (call $environ_sizes_get (i32.const 0) (i32.const 4)))"
        "(drop (call $environ_get (i32.const 64) (i32.const 1024)))"
        "(i32.store (i32.const 8) (i32.const 1024)) (i32.store (i32.const 12) (i32.load (i32.const 4)))"
        "(drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))"
        + exit_with("(i32.load (i32.const 0))")
    )
    output = bench.run_text(program(body))
    assert (output.exit_code, output.stdout.head) == (1, b"PWD=/\0")


def test_the_only_argument_is_the_name_of_the_tool(bench: Bench) -> None:
    body = (
        "(drop (call $args_sizes_get (i32.const 0) (i32.const 4)))"
        "(drop (call $args_get (i32.const 64) (i32.const 1024)))"
        "(i32.store (i32.const 8) (i32.const 1024)) (i32.store (i32.const 12) (i32.load (i32.const 4)))"
        "(drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))"
        + exit_with("(i32.load (i32.const 0))")
    )
    output = bench.run_text(program(body))
    assert (output.exit_code, output.stdout.head) == (1, b"demo\0")


def test_without_grants_there_is_no_folder(bench: Bench) -> None:
    """(C87)"""
    text = program(exit_with("(call $fd_prestat_get (i32.const 3) (i32.const 0))"))
    assert bench.run_text(text).exit_code == BAD_DESCRIPTOR


@pytest.mark.parametrize("path", ["note.txt", "./note.txt", "inner/../note.txt", "inside-link"])
def test_files_of_a_granted_folder_can_be_read(bench: Bench, notes: Path, path: str) -> None:
    assert bench.run_text(open_path(path), read(notes)).exit_code == SUCCESS


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "inner/../../secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "absolute-link",
        "relative-link",
        "folder-link/file.txt",
    ],
)
@pytest.mark.parametrize("writable", [False, True])
def test_no_path_leaves_a_granted_folder(bench: Bench, notes: Path, path: str, writable: bool) -> None:
    """(C76)"""
    assert bench.run_text(open_path(path), Grant(notes, "notes", writable)).exit_code == NOT_PERMITTED


@pytest.mark.parametrize(("path", "error"), [("note.txt/", NOT_FOLDER), ("", NO_ENTRY), ("nothing", NO_ENTRY)])
def test_odd_paths_are_answered_with_an_error_number(bench: Bench, notes: Path, path: str, error: int) -> None:
    """(C76)"""
    assert bench.run_text(open_path(path), read(notes)).exit_code == error


@pytest.mark.parametrize(
    "text",
    [
        open_path("new.txt", create=True, write=True),
        open_path("note.txt", write=True),
        program(
            exit_with("(call $path_unlink_file (i32.const 3) (i32.const 64) (i32.const 8))"), text_at(64, "note.txt")
        ),
        program(
            exit_with("(call $path_create_directory (i32.const 3) (i32.const 64) (i32.const 3))"), text_at(64, "new")
        ),
    ],
    ids=["create", "open for writing", "remove", "make a folder"],
)
def test_a_read_grant_cannot_be_written_to(bench: Bench, notes: Path, text: str) -> None:
    before = sorted(notes.iterdir())
    assert bench.run_text(text, read(notes)).exit_code in (NOT_PERMITTED, READ_ONLY)
    assert sorted(notes.iterdir()) == before
    assert (notes / "note.txt").read_text() == "a note"


def test_a_write_grant_can_be_written_to(bench: Bench, notes: Path) -> None:
    assert bench.run_text(open_path("new.txt", create=True, write=True), write(notes)).exit_code == SUCCESS
    assert (notes / "new.txt").exists()


def link(target: str) -> str:
    size = len(target)
    call = f"(call $path_symlink (i32.const 64) (i32.const {size}) (i32.const 3) (i32.const 512) (i32.const 7))"
    return program(exit_with(call), text_at(64, target) + text_at(512, "planted"))


def test_a_guest_cannot_plant_an_absolute_link(bench: Bench, notes: Path) -> None:
    """(C78)"""
    assert bench.run_text(link("/etc/passwd"), write(notes)).exit_code == NOT_PERMITTED


def test_a_link_that_a_guest_planted_leads_no_guest_outside(bench: Bench, notes: Path) -> None:
    """(C78) The link itself is made: whoever follows it on the outside has to resolve it first."""
    assert bench.run_text(link("../secret.txt"), write(notes)).exit_code == SUCCESS
    assert (notes / "planted").resolve() == notes.parent / "secret.txt"
    assert bench.run_text(open_path("planted"), write(notes)).exit_code == NOT_PERMITTED


def test_a_guest_cannot_plant_a_link_in_a_read_grant(bench: Bench, notes: Path) -> None:
    assert bench.run_text(link("note.txt"), read(notes)).exit_code in (NOT_PERMITTED, READ_ONLY)
    assert not (notes / "planted").is_symlink()
