"""`@file` in a message."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mm.terminal.mentions import LARGEST, insert_files, own_output, split_prompt


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_cannot_close_the_block_that_it_is_in() -> None:
    Path("a.md").write_text("```\nnot the end\n````\n")
    assert insert_files("see @a.md").text == "see @a.md\n\nContent of `a.md`:\n`````md\n```\nnot the end\n````\n`````"


def test_a_name_may_hold_blanks_or_end_a_sentence() -> None:
    Path("my notes.txt").write_text("x")
    Path("b.txt").write_text("y")
    assert insert_files('see @"my notes.txt" and @b.txt.').files == ("my notes.txt", "b.txt")


def test_mail_addresses_and_decorators_are_no_files() -> None:
    mentions = insert_files("mail ann@example.org about\n@property\n@app.route('/')")
    assert (mentions.files, mentions.problems) == ((), ())


def test_what_cannot_be_read_is_said() -> None:
    Path("folder").mkdir()
    Path("binary").write_bytes(b"\0")
    Path("big").write_bytes(b"x" * (LARGEST + 1))
    problems = insert_files("@folder @binary @big @none.txt").problems
    assert problems == (
        "`folder` is a folder; name a file in it.",
        "`binary` is not a text file.",
        "`big` is longer than 256 KiB; let the model read it in parts.",
        "There is no file `none.txt`.",
    )


@contextmanager
def as_someone_else() -> Iterator[None]:
    """Not as root, who may look everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_nobody_may_look_at_is_said_to_be_one() -> None:
    Path("locked").mkdir()
    Path("locked/a.txt").write_text("x")
    Path("locked").chmod(0)
    with as_someone_else():
        problems = insert_files("see @locked/a.txt and @locked/b.").problems
    Path("locked").chmod(0o755)
    assert problems == (
        "`locked/a.txt` cannot be read: Permission denied.",
        "`locked/b` cannot be read: Permission denied.",
    )


def test_a_name_that_is_longer_than_any_file_s_is_no_file() -> None:
    word = "x" * 300
    assert insert_files(f"see @{word} and @{word}.").problems == ()
    (problem,) = insert_files(f"see @{word}/{word}").problems
    assert problem.startswith("There is no file `xxx") and " … " in problem
    assert insert_files('see @"a\0b"').problems == ()


def test_a_home_of_nobody_is_a_file_that_is_not_there() -> None:
    assert insert_files("see @~nosuchuser/a.txt").problems == ("There is no file `~nosuchuser/a.txt`.",)


def test_a_prompt_is_split_into_what_was_typed_and_the_outputs_that_went_with_it() -> None:
    Path("a.md").write_text("```\n\nI ran `x`\n```\n")
    outputs = [own_output("seq 3", "exit code 0", "1\n\n```\n2\n"), own_output("true", "ended by SIGINT", "")]
    sent = insert_files("see\n\n@a.md").text
    assert split_prompt("\n\n".join([sent, *outputs])) == ("see\n\n@a.md", outputs)
    assert split_prompt(f"{sent}\n\nand more") == (f"{sent}\n\nand more", [])
    assert split_prompt("plain") == ("plain", [])
