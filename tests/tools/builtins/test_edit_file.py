"""edit_file: one exact text replaced by another, and words for every way in which that is not possible."""

from __future__ import annotations

import stat
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
    return Calls(file_tools(Places(work)), work.parent)


def refusal(calls: Calls, **arguments: object) -> str:
    with pytest.raises(ToolError) as caught:
        calls.plan("edit_file", **arguments)
    return caught.value.message


def test_one_text_is_replaced_and_the_rest_stays(calls: Calls, work: Path) -> None:
    path = work / "a.py"
    path.write_text("def f():\n    return 1\n\ndef g():\n    return 2\n")
    path.chmod(0o640)
    text = calls.text("edit_file", path="a.py", old_text="return 2", new_text="return 3")
    assert text == "Edited `a.py`: 1 replacement, at line 5."
    assert path.read_text() == "def f():\n    return 1\n\ndef g():\n    return 3\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_several_matches_are_counted_and_nothing_changes(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("x = 1\ny = 2\nx = 1\n")
    message = refusal(calls, path="a.txt", old_text="x = 1", new_text="x = 3")
    assert "found 2 times in `a.txt`, at lines 1, 3" in message
    assert "replace_all" in message
    text = calls.text("edit_file", path="a.txt", old_text="x = 1", new_text="x = 3", replace_all=True)
    assert text == "Edited `a.txt`: 2 replacements, at lines 1, 3."
    assert (work / "a.txt").read_text() == "x = 3\ny = 2\nx = 3\n"


def test_no_match_shows_the_nearest_lines(calls: Calls, work: Path) -> None:
    (work / "a.py").write_text("import os\n\ndef area(width, height):\n    return width * height\n")
    message = refusal(calls, path="a.py", old_text="def area(w, height):\n    return w*height", new_text="x")
    assert "The nearest lines, from line 3, are:\ndef area(width, height):\n    return width * height\n" in message


def test_a_difference_in_white_space_alone_is_said(calls: Calls, work: Path) -> None:
    (work / "a.py").write_text("class A:\n\tdef f(self):\n\t\treturn 1\n")
    message = refusal(calls, path="a.py", old_text="    def f(self):\n        return 1", new_text="x")
    assert "differs only in white space" in message
    assert "\tdef f(self):\n\t\treturn 1\n" in message


def test_a_text_like_nothing_in_the_file_is_answered_so(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("apple\n")
    assert "Nothing in the file is like it" in refusal(calls, path="a.txt", old_text="zzzzzz", new_text="x")


def test_windows_line_ends_are_kept(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    calls.call("edit_file", path="a.txt", old_text="one\ntwo\n", new_text="1\n2\n2b\n")
    assert (work / "a.txt").read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"


def test_mixed_line_ends_are_left_as_they_are(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    calls.call("edit_file", path="a.txt", old_text="two\n", new_text="2\n")
    assert (work / "a.txt").read_bytes() == b"one\r\n2\nthree\r\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_the_encoding_is_kept(calls: Calls, work: Path, encoding: str) -> None:
    (work / "a.txt").write_text("café\nthé\n", encoding)
    calls.call("edit_file", path="a.txt", old_text="café", new_text="cafés")
    assert (work / "a.txt").read_bytes() == "cafés\nthé\n".encode(encoding)


def test_a_character_that_the_encoding_lacks_is_answered(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_bytes(b"caf\xe9\n")
    assert "lacks a character" in refusal(calls, path="a.txt", old_text="caf", new_text="日本")


def test_nothing_to_do_is_answered(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("a")
    assert "`old_text` is empty" in refusal(calls, path="a.txt", old_text="", new_text="x")
    assert "the same" in refusal(calls, path="a.txt", old_text="a", new_text="a")


def test_a_binary_file_is_not_edited(calls: Calls, work: Path) -> None:
    (work / "a.bin").write_bytes(b"a\0b")
    assert "binary data" in refusal(calls, path="a.bin", old_text="a", new_text="b")


def test_the_person_sees_old_and_new(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("old")
    plan = calls.plan("edit_file", path="a.txt", old_text="old", new_text="new").plan
    assert plan.need is Need.ASK
    assert shown(plan) == f"changes: {work / 'a.txt'}\nold text: old\nnew text: new"


def test_what_a_file_outside_contains_is_not_told_before_consent(calls: Calls, work: Path) -> None:
    (work.parent / "secret.txt").write_text("password = 12345\n")
    call = calls.plan("edit_file", path="../secret.txt", old_text="password = 1", new_text="x")
    assert call.plan.need is Need.ASK
    call = calls.plan("edit_file", path="../secret.txt", old_text="passwort = 12345", new_text="x")
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "nearest lines" in said(output)


def test_an_edit_applies_to_the_file_as_it_is_when_it_runs(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("one two")
    call = calls.plan("edit_file", path="a.txt", old_text="two", new_text="2")
    (work / "a.txt").write_text("one\ntwo")
    assert said(calls.run(call)) == "Edited `a.txt`: 1 replacement, at line 2."
    again = calls.run(call)
    assert again.outcome is Outcome.FAILED
    assert (work / "a.txt").read_text() == "one\n2"


def test_a_link_planted_after_consent_is_not_edited_through(calls: Calls, work: Path) -> None:
    (work.parent / "precious.txt").write_text("one")
    (work / "a.txt").write_text("one")
    call = calls.plan("edit_file", path="a.txt", old_text="one", new_text="two")
    (work / "a.txt").unlink()
    (work / "a.txt").symlink_to("../precious.txt")
    assert calls.run(call).outcome is Outcome.FAILED
    assert (work.parent / "precious.txt").read_text() == "one"


def test_very_many_matches_are_counted_quickly(calls: Calls, work: Path) -> None:
    (work / "a.txt").write_text("a\n" * 1_000_000)
    text = calls.text("edit_file", path="a.txt", old_text="a", new_text="b", replace_all=True)
    assert text == "Edited `a.txt`: 1,000,000 replacements, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …."
