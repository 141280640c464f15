"""A quote that was forgotten, a `#` that cuts a text: told where it stands, with the edit that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.agent_files import read, tool, wrong
from tests.config.test_edits import mended
from tests.config.test_edits import tool as entry

CLOSE_IT = "the quote that opens here is never closed"


@pytest.mark.parametrize(
    ("text", "opener"),
    [
        (
            entry('description: "Publish a release\ncommand: [x, "{{v}}"]\nparameters: {v: {description: Version}}'),
            '"Publish a release',
        ),
        (
            entry(
                'command: [x, --, "{{v}}", "{{c}}"]\nparameters:\n'
                '  v: {type: string, description: "Version number}\n  c: {type: string, description: "Where"}'
            ),
            '"Version number',
        ),
        (
            entry('description: "Publish a release\ncommand: [x]\ntimeout: 5s\nfinal: true\nenv: {A: "b"}'),
            '"Publish a release',
        ),
        (entry("description: 'Publish it\ncommand: [x, '{{v}}']\nparameters: {v: {}}"), "'Publish it"),
        (
            entry("description: \"Publish it\ncommand: [x, -v]\nstdin: json\nparameters: {v: {pattern: '^\\d+$'}}"),
            '"Publish it',
        ),
        (entry('command: [\n  x,\n  "a b,\n  "c d"\n]'), '"a b'),
        (entry('command: [x, "{{v}}, "{{w}}"]\nparameters: {v: {}, w: {}}'), '"{{v}}'),
        (entry('command: [x, "{{v}}"]\nparameters: {v: {description: "Version, pattern: "^a"}}'), '"Version'),
        (entry('command: [x]\nenv: {A: "b, C: "#fff"}'), '"b'),
        ('name: "ops\ntools:\n  - name: it\n    command: [x, "y z"]\n', '"ops'),
        (entry('description: "Publish it\ncommand: [x]\nenv: {A: ""}'), '"Publish it'),
        (entry('description: "Publish a release, such as 1.4\ncommand: [x, "y z"]'), '"Publish a release, such as 1.4'),
        (
            entry('command: [x, "{{v}}"]\nparameters: {v: {type: string, description: "Version, such as 1.4}}'),
            '"Version, such as 1.4',
        ),
        (entry('command: [x, "{{v}}"]\nparameters: {v: {description: "Use {x}, default: a}}'), '"Use {x}'),
        ('name: "ops\ninstructions: " Be brief."\n', '"ops'),
        ('name: "ops\ninstructions: "Be brief."\nskills: [\'a\']\n', '"ops'),
    ],
)
def test_a_forgotten_closing_quote_is_told_where_it_opens_and_mended_by_its_edit(
    tmp_path: Path, text: str, opener: str
) -> None:
    (found,) = wrong(tmp_path, text)
    before = text[: text.index(opener)]
    assert found.startswith(f"{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}: {CLOSE_IT}")
    read(tmp_path, mended(tmp_path, text, [(CLOSE_IT, opener)]))


@pytest.mark.parametrize(
    "text",
    [
        'instructions: "Be\n  brief."\nname: [a\n',
        'instructions: "Be\n  brief." now\n',
        'instructions: "Be\n  brief \\d."\n',
        "instructions: 'It''s\n  fine'\nname: a: b\n",
    ],
)
def test_a_text_over_several_lines_is_not_blamed_for_another_mistake(tmp_path: Path, text: str) -> None:
    assert not any(CLOSE_IT in one for one in wrong(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "word", "old"),
    [
        (
            entry('command: [x, "{{n}}"]\nparameters:\n  n: {type: integer, description: Issue number, such as #42}'),
            "#42",
            "description: Issue number, such as #42",
        ),
        (
            entry('command: [x, "{{n}}"]\nparameters:\n  n: {description: Issue #42, type: integer}\nfinal: true'),
            "#42",
            "description: Issue #42",
        ),
        (
            entry('command: [x, "{{n}}"]\nparameters: {n: {description: Colour, #fff or so}}'),
            "#fff",
            "description: Colour, #fff or so",
        ),
        (entry("command: [echo, issue #12]\nfinal: true"), "#12", "issue #12"),
        (entry("command: [gh, view, #12]\nfinal: true"), "#12", "#12"),
        (entry("command: [x]\nenv: {COLOUR: #fff}\nfinal: true"), "#fff", "COLOUR: #fff"),
    ],
)
def test_a_number_sign_in_brackets_is_named_and_mended_by_quotes(
    tmp_path: Path, text: str, word: str, old: str
) -> None:
    read(tmp_path, mended(tmp_path, text, [(f"`{word}` is read as a comment, and with it what closes the", old)]))


def test_a_number_sign_that_breaks_a_longer_text_is_named(tmp_path: Path) -> None:
    text = entry("description: Close issue #12\n  and all below it\ncommand: [x]")
    assert wrong(tmp_path, text) == [
        "3:30: `#12` is read as a comment, which ends the text before it"
        " | Put a quote before `Close issue`, and one behind the end of the text."
    ]
    read(tmp_path, text.replace("Close issue", '"Close issue').replace("below it", 'below it"'))


def test_comments_are_not_taken_for_text(tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, "skills: [\n  a #first\n  b\n]\n")
    assert "comment" not in found
    (found,) = wrong(tmp_path, "name: ops #mine\nskills: [a\n")
    assert "comment" not in found


@pytest.mark.parametrize(
    ("lines", "edit"),
    [
        ("description: Close issue #12", 'description: "Close issue #12"'),
        ("description: Close issue #12, or #13", 'description: "Close issue #12, or #13"'),
        ("parameters:\n  a:\n    description: Number, such as #42", 'description: "Number, such as #42"'),
        ("parameters: {\n  a: {description: Such as #42\n  }}", 'description: "Such as #42"'),
    ],
)
def test_a_text_that_a_number_sign_ends_is_warned_about(tmp_path: Path, lines: str, edit: str) -> None:
    text = entry(f"command: [x]\nstdin: json\n{lines}")
    (warning,) = read(tmp_path, text).warnings
    assert "is read as a comment, and the text ends before it" in warning
    assert f"write `{edit}`" in warning
    assert read(tmp_path, text.replace(lines.rpartition("description: ")[2].rstrip("\n }"), edit[13:])).warnings == ()


def test_instructions_that_a_number_sign_ends_are_warned_about(tmp_path: Path) -> None:
    (warning,) = read(tmp_path, "instructions: Look at #general first\n").warnings
    assert warning.startswith(f"{tmp_path}/agent.yaml:1:15: `#general first` is read as a comment")


@pytest.mark.parametrize(
    "line", ["description: Close it # soon", "description: 'Close #12' #12", "command: [x] #12", "timeout: 5s #12"]
)
def test_a_comment_is_no_warning(tmp_path: Path, line: str) -> None:
    text = entry(line if line.startswith("command") else f"command: [x]\n{line}")
    assert read(tmp_path, text).warnings == ()


def test_a_number_sign_without_a_blank_before_it_is_text(tmp_path: Path) -> None:
    assert tool(tmp_path, "command: [x]\ndescription: Close issue#12").description == "Close issue#12"
