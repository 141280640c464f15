"""A slip of one line: told in its own line, with the edit that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.schema import Literal, Template
from tests.config.agent_files import command, read, wrong
from tests.config.test_edits import edit_of, mended
from tests.config.test_edits import tool as entry

NO_BLANK = 'a blank is missing after "-"'


def place_of(text: str, part: str) -> str:
    """Where a part of the file starts, as `line:column: `."""
    before = text[: text.index(part)]
    return f"{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}: "


@pytest.mark.parametrize(
    "text",
    [
        "tools:\n  -name: it\n    command: [x]\n",
        "tools:\n  - name: one\n    command: [x]\n  -name: it\n    command: [x]\n",
        "tools:\n  - command: [x]\n    name: one\n  # the other\n  -name: it\n    command: [x]\n",
    ],
)
def test_a_key_right_behind_its_dash_is_mended_by_its_edit(tmp_path: Path, text: str) -> None:
    (found,) = wrong(tmp_path, text)
    assert found.startswith(place_of(text, "-name") + NO_BLANK)
    config = read(tmp_path, mended(tmp_path, text, [(NO_BLANK, "-name: it")]))
    assert config.tools[-1].name == "it"


def test_where_the_other_keys_stand_below_the_dash_the_edit_says_how_far_to_indent_them(tmp_path: Path) -> None:
    text = "name: ops\ntools:\n  -name: it\n  description: Does it all.\n  command: [x]\n"
    (found,) = wrong(tmp_path, text)
    assert found.startswith(f"3:3: {NO_BLANK}")
    assert "and two more blanks before the other keys of this entry" in found
    after = mended(tmp_path, text, [(NO_BLANK, "-name: it")])
    after = after.replace("  description", "    description").replace("  command", "    command")
    assert read(tmp_path, after).tools[0].description == "Does it all."


@pytest.mark.parametrize("written", ['-"{{file}}"', "-'{{file}}'", '-["--in", "{{file}}"]'])
def test_an_entry_right_behind_its_dash_is_mended_by_its_edit(tmp_path: Path, written: str) -> None:
    text = entry(f"command:\n- wc\n- -l\n{written}\nparameters:\n  file: {{type: string}}")
    (found,) = wrong(tmp_path, text)
    assert found.startswith(place_of(text, written) + NO_BLANK)
    read(tmp_path, mended(tmp_path, text, [(NO_BLANK, written)]))


def test_a_key_with_a_dash_of_its_own_is_no_slip(tmp_path: Path) -> None:
    text = entry("description: |\n  -name: x\n  -\"b\"\ncommand: [find, '-name: x', -name]\nenv: {-name: x}")
    found = read(tmp_path, text).tools[0]
    assert found.description == '-name: x\n-"b"'
    assert command(found).env == {"-name": "x"}


def test_a_dash_in_a_block_text_is_not_blamed_for_a_mistake_behind_it(tmp_path: Path) -> None:
    text = entry('description: |\n  Writes\n  -"b"\nnonsense\ncommand: [x]')
    assert not any(NO_BLANK in one for one in wrong(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "word", "key"),
    [
        (entry("description: |\nCount the lines.\ncommand: [x]"), "Count", "description"),
        (entry("description: >\nCount the lines.\ncommand: [x]"), "Count", "description"),
        ("tools:\n  - name: it\n    description: |\n  Count the lines.\n    command: [x]\n", "Count", "description"),
        ("tools:\n  - name: it\n    description: |-\n\nCount the lines.\n    command: [x]\n", "Count", "description"),
        (entry("description: |\n    Count the lines.\nUse it.\ncommand: [x]"), "Use", "description"),
        ("name: ops\ninstructions: >\nBe brief.\n", "Be", "instructions"),
    ],
)
def test_a_block_text_that_is_not_indented_is_told_in_its_line_and_mended_there(
    tmp_path: Path, text: str, word: str, key: str
) -> None:
    (found,) = wrong(tmp_path, text)
    assert found.startswith(f"{place_of(text, word)}this line belongs to the text of `{key}`, and is not indented")
    blanks = int(found.partition("its key: ")[2].split()[0])
    line = next(one for one in text.splitlines() if one.lstrip().startswith(word))
    config = read(tmp_path, text.replace(line, " " * blanks + line.lstrip()))
    assert line.strip() in (config.tools[0].description if config.tools else config.instructions)


def test_what_follows_a_block_text_is_not_taken_for_a_part_of_it(tmp_path: Path) -> None:
    text = entry("description: |\n  Count the lines.\ncommand [x]\nfinal: true")
    assert not any("belongs to the text" in one for one in wrong(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("name = ops\nyolo: true\n", "name = ops"),
        ("yolo: true\nname = ops\n", "name = ops"),
        ("name=ops\nyolo: true\nmax_rounds: 5\n", "name=ops"),
        ('tools:\n  - name: it\n    description = "Does it."\n    command: [x]\n', 'description = "Does it."'),
    ],
)
def test_an_equals_sign_in_place_of_a_colon_is_mended_by_its_edit(tmp_path: Path, text: str, written: str) -> None:
    (found,) = wrong(tmp_path, text)
    assert found.startswith(place_of(text, written) + "`=` stands behind")
    read(tmp_path, mended(tmp_path, text, [("`=` stands behind", written)]))


CURLY = "curly quotes are a part of the text"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (entry("description: “Does it all.”\ncommand: [x]"), "“Does it all.”"),
        (entry("description: ‘Doesn’t do it.’\ncommand: [x]"), "‘Doesn’t do it.’"),
        (entry("description: „Macht alles.“\ncommand: [x]"), "„Macht alles.“"),
        (entry('command: [x, "{{a}}"]\nparameters: {a: {description: “Name of it”}}'), "“Name of it”"),
        (entry("command: [x, “{{a}}”]\nparameters: {a: {}}"), "“{{a}}”"),
        (entry('command: [x, "“{{a}}”"]\nparameters: {a: {}}'), '"“{{a}}”"'),
        ("“name”: ops\n", "“name”"),
    ],
)
def test_curly_quotes_around_a_value_are_mended_by_the_edit(tmp_path: Path, text: str, written: str) -> None:
    (found,) = wrong(tmp_path, text)
    assert found.startswith(place_of(text, written) + CURLY)
    after = mended(tmp_path, text, [(CURLY, written)])
    assert not set("“”„‘") & set(after)
    read(tmp_path, after)


def test_curly_quotes_around_a_text_that_a_comma_cuts_are_straight_in_its_edit(tmp_path: Path) -> None:
    text = entry('command: [x, "{{a}}"]\nparameters: {a: {description: “Name, such as b”}}')
    after = mended(tmp_path, text, [("ends the text", "description: “Name, such as b”")])
    assert 'description: "Name, such as b"' in after
    read(tmp_path, after)


@pytest.mark.parametrize(
    "text", ["“Yes” and “no”", '"“Yes”"', "Say “yes”", "’", "'“”'", "‘a’ or ‘b’", "|\n      “Yes”", '"“{{a}}” it"']
)
def test_curly_quotes_in_a_text_are_a_part_of_it(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, entry(f"description: {text}\ncommand: [x]")).tools[0]
    assert set("“”’") & set(found.description)


@pytest.mark.parametrize(
    "keys",
    [
        ["type: string", "description: Name of the file"],
        ["description: Name of the file"],
        ["type: integer", "default: 3", "minimum: 1"],
        ["required: false"],
    ],
)
def test_the_keys_of_a_parameter_that_stand_beside_it_are_one_problem_and_mended_by_indenting_them(
    tmp_path: Path, keys: list[str]
) -> None:
    start = 'command: [x, "{{file}}", "{{other}}"]\nparameters:\n  other: {}\n  file:\n'
    text = entry(start + "".join(f"  {key}\n" for key in keys))
    (found,) = wrong(tmp_path, text)
    stand = "stands" if len(keys) == 1 else "stand"
    names = " and ".join(f"`{key.partition(':')[0]}`" for key in keys)
    assert found.startswith(f"{place_of(text, keys[0])}{names} {stand} beside `file`, not under it | Indent")
    read(tmp_path, entry(start + "".join(f"    {key}\n" for key in keys)))


@pytest.mark.parametrize(
    ("more", "edit", "after"),
    [
        ("  type: string\n  description: Name", "Remove them: `file` has its own.", "{type: string, description: …}"),
        (
            "  type: string\n  format: date",
            "Write them into the braces of `file`.",
            "{type: string, description: …, format: date}",
        ),
    ],
)
def test_keys_beside_a_parameter_in_braces_are_one_problem(tmp_path: Path, more: str, edit: str, after: str) -> None:
    start = 'command: [x, "{{file}}"]\nparameters:\n  file: '
    (found,) = wrong(tmp_path, entry(f"{start}{{type: string, description: …}}\n{more}"))
    assert found.endswith(f"beside `file`, not under it | {edit}")
    read(tmp_path, entry(start + after))


def test_a_parameter_in_words_whose_name_is_a_key_as_well_is_no_key_of_the_one_above(tmp_path: Path) -> None:
    text = entry('command: [x, "{{file}}", "{{format}}"]\nparameters:\n  file:\n  format: Such as csv')
    edits = [("the parameter `file`", "file:\n"), ("the parameter `format`", "format: Such as csv")]
    assert "description: Such as csv" in mended(tmp_path, text, edits)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ('command: [x, "{{file}}"]', ["file"]),
        ('command: [x, "{{file}}", ["--to", "{{to}}"]]\nstdin: "{{file}}{{text}}"', ["file", "to", "text"]),
        ('command: [x, "{{file}}"]\nparameters:', ["file"]),
        ('command: [x, "{{file}}"]\nparameters: {}', ["file"]),
    ],
)
def test_where_no_parameter_is_declared_the_edit_is_the_whole_line_for_all(
    tmp_path: Path, keys: str, names: list[str]
) -> None:
    edits = {edit_of(finding) for finding in wrong(tmp_path, entry(keys))}
    shown = ", ".join(f"{name}: {{type: string, description: …}}" for name in names)
    assert edits == {f"parameters: {{{shown}}}"}
    after = entry(keys.partition("\nparameters:")[0] + "\n" + edits.pop())
    assert list(read(tmp_path, after).tools[0].schema.document["properties"]) == names


@pytest.mark.parametrize(
    ("text", "escape", "written", "meant"),
    [
        (entry('description: "Count \\d lines."\ncommand: [x]'), "\\d", '"Count \\d lines."', "Count \\d lines."),
        (
            entry('description: "It\'s \\$5, \\"or\\""\ncommand: [x]'),
            "\\$",
            '"It\'s \\$5, \\"or\\""',
            'It\'s \\$5, "or"',
        ),
        (entry('command: [x, "a\\.b", "c"]\ndescription: It'), "\\.", '"a\\.b"', "a\\.b"),
        (entry('description: "a\\nb\\d"\ncommand: [x]'), "\\d", "\\d", "a\nb\\d"),
        (entry('command: [x]\ndescription: "a\\\\b\\w"'), "\\w", '"a\\\\b\\w"', "a\\b\\w"),
    ],
)
def test_a_backslash_that_is_no_escape_is_mended_by_its_edit(
    tmp_path: Path, text: str, escape: str, written: str, meant: str
) -> None:
    says = f"`{escape}` is no escape"
    (found,) = wrong(tmp_path, text)
    assert found.startswith(place_of(text, escape) + says)
    found_tool = read(tmp_path, mended(tmp_path, text, [(says, written)])).tools[0]
    arguments = [one for one in command(found_tool).arguments if isinstance(one, Template)]
    assert meant in (
        found_tool.description,
        *(piece.text for one in arguments for piece in one.pieces if isinstance(piece, Literal)),
    )


def test_a_text_over_several_lines_with_a_backslash_is_told_what_to_use(tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, 'instructions: "Be\n  brief \\d."\n')
    assert found == "2:9: `\\d` is no escape that YAML knows in double quotes | " + (
        "Use single quotes, in which a backslash stands for itself."
    )
