"""read_file: what the model is given of a file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from builtin_calls import Calls, said, shown

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtins.files import file_tools
from mm.tools.places import Places
from mm.tools.spec import Need


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def calls(work: Path) -> Calls:
    return Calls(file_tools(Places(work), size=1000), work.parent)


def test_a_file_is_given_as_it_is(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("one\n\ttwo\nthree")
    assert calls.call("read_file", path="a.txt").note == ""
    assert calls.text("read_file", path="a.txt") == "one\n\ttwo\nthree"


def test_a_part_is_given_and_the_note_says_how_to_go_on(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    part = calls.call("read_file", path="a.txt", offset=3, limit=2)
    assert part.stdout.head == b"line 3\nline 4\n"
    assert part.note == "These are lines 3 to 4 of `a.txt`. Go on with offset=5."
    assert calls.call("read_file", path="a.txt", offset=9, limit=2).note == ""


def test_reading_on_as_the_notes_say_gives_the_whole_file(calls: Calls, work: Path) -> None:
    text = "".join(f"line {number} {'é' * (number % 50)}\n" for number in range(500))
    (work / "a.txt").write_text(text)
    got, offset = b"", 1
    while True:
        part = calls.call("read_file", path="a.txt", offset=offset)
        got += part.stdout.head
        assert len(part.stdout.head) <= 1000
        if not part.note:
            break
        offset = int(part.note.rsplit("offset=")[1].rstrip("."))
    assert got.decode() == text


def test_an_offset_past_the_end_says_how_many_lines_there_are(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\n")
    (work / "b.txt").write_text("one\ntwo")
    for name in ("a.txt", "b.txt"):
        for offset in (3, 4, 2**40):
            output = calls.call("read_file", path=name, offset=offset)
            assert output.outcome is Outcome.FAILED
            assert said(output) == f"`{name}` has 2 lines, so there is no line {offset}."


def test_an_empty_file_says_so(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("")
    assert calls.text("read_file", path="a.txt") == "`a.txt` is empty (0 bytes)."


def test_a_huge_file_is_never_read_whole(calls: Calls, work: Path) -> None:
    with (work / "huge.txt").open("wb") as file:
        file.write(b"first\n")
        file.truncate(10 << 30)  # ten sparse gigabytes of NUL
    with (work / "long.txt").open("wb") as file:
        file.write(b"x" * 20_000)
        file.truncate(10 << 30)
    start = time.monotonic()
    assert "not text" in calls.text("read_file", path="huge.txt")
    text = calls.text("read_file", path="long.txt")
    assert time.monotonic() - start < 2
    assert "Line 1 is too long: only its first 1,000 characters are shown." in text
    assert text.endswith("x" * 1000)


def test_a_long_line_is_cut_between_characters(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("x" + "é" * 3000 + "\nnext\n")
    output = calls.call("read_file", path="a.txt")
    assert output.stdout.head.decode() == "x" + "é" * 499
    assert "offset=2" in output.note
    assert calls.text("read_file", path="a.txt", offset=2) == "next\n"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
        (b"%PDF-1.7 text only", "a PDF document"),
        (b"text and\0more", "binary data"),
        (bytes(range(1, 32)) * 8, "binary data"),
        (b"\0asm\1\0\0\0", "a WebAssembly module"),
    ],
)
def test_a_binary_file_is_named_not_dumped(calls: Calls, work: Path, data: bytes, kind: str) -> None:
    (work / "a.bin").write_bytes(data)
    output = calls.call("read_file", path="a.bin")
    assert output.outcome is Outcome.FAILED
    assert said(output) == f"`a.bin` is {kind} of {len(data)} bytes, not text, so it is not shown."


def test_other_encodings_are_read(calls: Calls, work: Path) -> None:
    (work / "mark.txt").write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    (work / "wide.txt").write_text("café\nline 2\n", "utf-16")
    (work / "latin.txt").write_bytes(b"caf\xe9\n")
    assert calls.text("read_file", path="mark.txt") == "café\n"
    assert calls.text("read_file", path="wide.txt") == "café\nline 2\n"
    assert calls.text("read_file", path="wide.txt", offset=2) == "line 2\n"
    assert calls.text("read_file", path="latin.txt") == "(The file is not UTF-8; it was read as Latin-1.)\ncafé\n"


def test_windows_line_ends_are_shown_as_plain_ones(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    assert calls.text("read_file", path="a.txt") == "one\ntwo\n"


def test_a_pipe_is_refused_and_never_waited_for(calls: Calls, work: Path) -> None:
    os.mkfifo(work / "pipe")
    with pytest.raises(ToolError, match=r"`pipe` is a pipe \(FIFO\)"):
        calls.plan("read_file", path="pipe")


def test_a_folder_is_answered_with_the_tool_that_lists_it(calls: Calls) -> None:
    with pytest.raises(ToolError, match="list_files"):
        calls.plan("read_file", path=".")


def test_a_file_that_may_not_be_read_is_answered_in_words(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("x")
    call = calls.plan("read_file", path="a.txt")
    (work / "a.txt").unlink()
    assert said(calls.run(call)) == f"`{work / 'a.txt'}` could not be read: no such file or directory."
    if os.getuid() != 0:
        (work / "a.txt").touch(0o000)
        assert "permission denied" in calls.text("read_file", path="a.txt")


def test_the_person_is_shown_the_resolved_path(calls: Calls, work: Path) -> None:
    (work.parent / "secret.txt").write_text("secret")
    (work / "notes.txt").symlink_to("../secret.txt")
    plan = calls.plan("read_file", path="notes.txt").plan
    assert plan.need is Need.ASK
    assert shown(plan) == f"path: {work.parent / 'secret.txt'}"


@pytest.mark.parametrize("planted", ["file", "folder"])
def test_a_link_planted_after_consent_is_not_followed(calls: Calls, work: Path, planted: str) -> None:
    """(C78, C104)"""
    (work / "notes").mkdir()
    (work / "notes" / "a.txt").write_text("a note")
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "a.txt").write_text("secret")
    call = calls.plan("read_file", path="notes/a.txt")
    assert call.plan.need is Need.NONE
    if planted == "file":
        (work / "notes" / "a.txt").unlink()
        (work / "notes" / "a.txt").symlink_to(work.parent / "outside" / "a.txt")
    else:
        (work / "notes").rename(work / "old")
        (work / "notes").symlink_to(work.parent / "outside")
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "secret" not in said(output)
    assert "link" in said(output)


def test_a_pipe_put_in_the_place_of_a_file_is_not_waited_for(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("x")
    call = calls.plan("read_file", path="a.txt")
    (work / "a.txt").unlink()
    os.mkfifo(work / "a.txt")
    assert "not a regular file" in said(calls.run(call))


def test_an_interrupt_ends_a_long_read(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("x\n" * (2 << 20))
    calls.stop.set()
    assert calls.call("read_file", path="a.txt", offset=2 << 20).outcome is Outcome.INTERRUPTED


def test_an_always_outside_is_for_that_path_alone(calls: Calls, work: Path) -> None:
    for name in ("b.txt", "c.txt"):
        (work.parent / name).write_text("")
        (work / name).write_text("")

    def definition(path: str) -> str:
        return calls.plan("read_file", path=path).plan.definition

    assert definition("b.txt") == definition("c.txt")
    assert len({definition("b.txt"), definition("../b.txt"), definition("../c.txt")}) == 3


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a Linux /proc")
def test_an_error_while_reading_is_answered_in_words(calls: Calls) -> None:
    output = calls.call("read_file", path="/proc/self/mem")
    assert output.outcome is Outcome.FAILED
    assert "could not be read: input/output error" in said(output)
