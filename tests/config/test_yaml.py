from __future__ import annotations

import json
from pathlib import Path

import pytest

from mm.config.load import load
from mm.config.nodes import to_json
from mm.config.yaml_tree import read_tree
from mm.errors import UsageError
from tests.config.agent_files import HOME, command, deep_by_aliases, read, tool, write, wrong, wrong_tool


def value(text: str) -> object:
    return to_json(read_tree(Path("f"), text)[0])


def test_only_true_and_false_are_booleans_and_only_json_numbers_are_numbers() -> None:
    """(C97, C98)"""
    text = "[no, yes, on, off, y, True, 0o17, 0x1F, 010, 1_000, 1:30, 2024-01-01, +5, .5, .inf, 1e999, 1e3, -1, 1.10]"
    assert value(text) == [
        *("no", "yes", "on", "off", "y", True, "0o17", "0x1F", "010", "1_000", "1:30", "2024-01-01"),
        *("+5", ".5", ".inf", "1e999", 1000.0, -1, 1.1),
    ]


def test_quoted_text_is_never_a_number_or_a_boolean() -> None:
    assert value("""['1', "true", 'null', !!str 3, null, ~]""") == ["1", "true", "null", "3", None, None]


def test_a_text_keeps_its_spelling_where_text_is_wanted(tmp_path: Path) -> None:
    """(C98)"""
    entry = tool(tmp_path, "command: [git, log, -1, 1.10, 010, true]\ndescription: 1.10")
    assert [piece.text for one in command(entry).arguments for piece in one.pieces] == [
        "log",
        "-1",
        "1.10",
        "010",
        "true",
    ]
    assert entry.description == "1.10"


def test_words_that_yaml_1_1_takes_for_booleans_stay_allowed_values(tmp_path: Path) -> None:
    """(C97)"""
    entry = tool(
        tmp_path, 'command: [x, "{{on}}"]\nparameters:\n  on: {enum: [en, no, off, 1.10, 2024-01-01], default: off}'
    )
    assert entry.schema.document["properties"]["on"] == {
        "type": "string",
        "enum": ["en", "no", "off", "1.10", "2024-01-01"],
        "default": "off",
    }


@pytest.mark.parametrize(
    ("entry", "column", "written"),
    [
        ("command: [grep, {{x}}]", 21, "{{x}}"),
        ("command: [grep, {{ x }}, a]", 21, "{{ x }}"),
        ("command: [grep, --x={{x}}]", 25, "{{x}}"),
        ("stdin: {{x}}", 12, "{{x}}"),
        ("stdin: {{x}} and more", 12, "{{x}}"),
        ("env: {A: {{x}}}", 14, "{{x}}"),
        ("command: {{x}}", 14, "{{x}}"),
        ("description: {{x}}: b", 18, "{{x}}"),
        ("command: [[-a, {{x}}]]", 20, "{{x}}"),
        ("command: [a, {{.Names}}]", 18, "{{.Names}}"),
        ("{{x}}: 3", 5, "{{x}}"),
    ],
)
def test_an_unquoted_placeholder_is_answered_with_quote_it(
    tmp_path: Path, entry: str, column: int, written: str
) -> None:
    """(C100)"""
    found = wrong(tmp_path, f"tools:\n  - name: it\n    {entry}\n")
    assert any(f"3:{column}: quote it: YAML reads `{written}` as a mapping" in one for one in found)
    assert any("| Write it in quotes: " in one and written in one.partition("quotes: ")[2] for one in found)


def test_an_unquoted_placeholder_in_a_block_list_is_found_where_it_stands(tmp_path: Path) -> None:
    """(C100)"""
    found = wrong(tmp_path, "tools:\n  - name: it\n    command:\n      - grep\n      - {{x}}\n      - {{y}}/z\n")
    assert [one[:13] for one in found if "quote it" in one] == ["5:9: quote it", "6:9: quote it"]


def test_a_placeholder_that_was_not_quoted_is_read_as_if_it_were(tmp_path: Path) -> None:
    found = wrong_tool(tmp_path, "command: [grep, {{x}}]\nparameters: {x: {description: y}}")
    assert len(found) == 1


def test_an_unquoted_variable_inside_braces_is_answered_with_quote_it(tmp_path: Path) -> None:
    found = wrong(tmp_path, "model: {name: ollama:x, api_key: ${KEY}}\n", {"KEY": "sesame"})
    assert found == ['1:35: quote it: YAML reads the brace of `${KEY}` itself | Write it in quotes: "${KEY}"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nname: b\n", "2:1: `name` stands twice; the first is in line 1"),
        ("model: {name: a, name: b, base_url: 'http://x'}\n", "1:18: `name` stands twice"),
        ("tools:\n\t- name: a\n", "2:1: a tab is used for indentation"),
        ("name: a\n\tmore\n", "2:1: a tab is used for indentation"),
        ("name: a\n---\nname: b\n", "2:1: a second document starts here"),
        ("name: [a\n", "1:7: the list that starts here is not closed"),
        ('name: "a\n', "1:7: the quote that opens here is never closed"),
        ("name: a: b\n", "1:8: a `: ` stands inside unquoted text"),
        ("name: @a\n", "1:7: unquoted text cannot start with `@`"),
        ("name: *\n", "1:7: unquoted text cannot start with `*`"),
        ("name: *other\n", "1:7: `*other` refers to nothing"),
        ("name: !!python/object:os.system x\n", "1:7: the tag `tag:yaml.org,2002:python/object:os.system` is not read"),
        ("<<: {name: a}\n", "1:1: `<<` is not read"),
        ("? [a]\n: b\n", "1:3: a key must be text"),
        ("", "1:1: the file is empty"),
        ("# nothing\n", "1:1: the file is empty"),
        ("- a\n", "1:1: the file is a list, not keys"),
        ("just text\n", "1:1: the file is text, not keys"),
    ],
)
def test_what_is_no_agent_file_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert any(message in one for one in wrong(tmp_path, text))


def test_an_alias_bomb_is_refused_before_anybody_walks_it(tmp_path: Path) -> None:
    """(C101)"""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "aliases unfold to more than 20,000 values" in wrong(tmp_path, "\n".join(lines))[0]


@pytest.mark.parametrize("links", [2, 25])
def test_aliases_nest_no_deeper_than_what_is_written_out(tmp_path: Path, links: int) -> None:
    (found,) = wrong(tmp_path, deep_by_aliases(links))
    assert found == (
        "5:63: the values are nested more than 60 deep | `*a0` counts as the value that it stands for: nest that less."
    )


def test_aliases_may_nest_as_deep_as_what_is_written_out() -> None:
    text = f"a: &a {'[' * 30}x{']' * 30}\nb: {'[' * 29}*a{']' * 29}\n"
    assert json.dumps(value(text)).count("[") == 89


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "tools: &p {x: {items: *p}}\n"])
def test_a_value_that_contains_itself_is_refused(tmp_path: Path, text: str) -> None:
    """(C101)"""
    assert "refers to a value that contains it" in wrong(tmp_path, text)[0]


def test_a_plain_alias_is_read(tmp_path: Path) -> None:
    entry = tool(
        tmp_path,
        """
        command: [x, "{{a}}", "{{b}}"]
        parameters:
          a: &text {description: A text}
          b: *text
        """,
    )
    properties = entry.schema.document["properties"]
    assert properties["a"] == properties["b"] == {"type": "string", "description": "A text"}


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
@pytest.mark.parametrize("depth", [61, 5_000, 250_000])
def test_absurd_nesting_is_an_error_and_no_crash(tmp_path: Path, opening: str, depth: int) -> None:
    found = wrong(tmp_path, "a: " + opening * depth + "\n" if opening != "- " else opening * depth + "a\n")
    assert "nested" in found[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"name: caf\xe9\n", "1:10: byte 0xe9 is not UTF-8"),
        ("name: a\n".encode("utf-16"), "the file is UTF-16"),
        (b"name: a\x00b\n", "1:8: the character U+0000 does not belong"),
        (b"name: a\nx: \x1b[31m\n", "2:4: the character U+001B does not belong"),
        (b"name: " + b"a" * 1_100_000, "the file has 1,100,006 bytes"),
    ],
)
def test_bytes_that_are_no_text_are_refused_where_they_stand(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "agent.yaml"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"agent\.yaml") as caught:
        load(path, environ=HOME)
    assert message in str(caught.value)


def test_a_byte_order_mark_and_windows_line_ends_are_read_over(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: ops\r\ninstructions: |\r\n  a\r\n  b\r\n")
    config = load(path, environ=HOME)
    assert (config.name, config.instructions) == ("ops", "a\nb")


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path, kind: str) -> None:
    path = tmp_path if kind == "folder" else tmp_path / "nope.yaml"
    with pytest.raises(UsageError, match="not a regular file" if kind == "folder" else "There is no file"):
        load(path, environ=HOME)


def test_every_problem_is_told_in_one_go_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """\
    nmae: ops
    yolo: yes
    tools:
      - name: a
        command: [x, "{{y}}"]
        command: [z]
      - name: b
        comand: [x]
    """
    lines = [one.split(":")[0] for one in wrong(tmp_path, text)]
    assert lines == ["1", "2", "5", "6", "8"]


def test_problems_are_printed_as_file_line_column_and_the_edit(tmp_path: Path) -> None:
    path = write(tmp_path, "nmae: ops\n")
    with pytest.raises(UsageError) as caught:
        load(path, environ=HOME)
    assert str(caught.value).splitlines() == [
        "1 problem in the agent file",
        f"{path}:1:1: the agent file has no key `nmae`",
        "  Did you mean `name`?",
    ]


def test_a_hostile_key_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path, '"\\e]0;title\\a": x\n')
    with pytest.raises(UsageError) as caught:
        load(path, environ=HOME)
    assert "\x1b" not in str(caught.value)
    assert "\\x1b]0;title" in str(caught.value)


def test_an_agent_file_with_nothing_but_a_name_is_enough(tmp_path: Path) -> None:
    assert read(tmp_path, "name: ops\n").tools == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "- name: x\n    description: foo\n",
            "2:16: this line is indented deeper than the one above it, which is no key of its own"
            " | Indent with spaces: 2 before `description`, as for `name`.",
        ),
        (
            "a:\n - b: 1\n   c: 2\n    d: 3\n",
            "4:6: this line is indented deeper than the one above it, which is no key of its own"
            " | Indent with spaces: 3 before `d`, as for `c`.",
        ),
        (
            "a:\n   b: {c: 1}\n     d: 2\n",
            "3:6: a `key: value` is expected here | Indent with spaces: 3 before `d`, as for `b`.",
        ),
        (
            "a:\n  - b: 1\n   c: 2\n",
            "3:4: a list entry is expected here | Indent with spaces: 4 before `c`, as for `b`.",
        ),
        (
            "tools:\n  - name: a\n\tfinal: true\n",
            "3:1: a tab is used for indentation | Indent with spaces: 4 before `final`, as for `name`.",
        ),
        (
            "hooks:\n\tpreToolCall: []\n",
            "2:1: a tab is used for indentation"
            " | Indent with spaces: 2 before `preToolCall`, two more than before `hooks`.",
        ),
        (
            "a: {type: string required: false}\n",
            "1:18: a comma is missing before `required` | Write `, required:`.",
        ),
        ("a: [b\n", "1:4: the list that starts here is not closed, or lacks a comma | Write `[b]`."),
        ("a: {b: [c]\nd: 1\n", "1:4: the mapping that starts here is not closed, or lacks a comma | Write `{b: [c]}`."),
    ],
)
def test_what_cannot_be_read_comes_alone_and_with_its_edit(tmp_path: Path, text: str, found: str) -> None:
    assert wrong(tmp_path, text) == [found]


def test_texts_without_quotes_are_all_told_in_one_go_with_what_else_is_wrong(tmp_path: Path) -> None:
    text = """\
    nmae: ops
    tools:
      - name: it
        description: e.g. "trip": the name
        command: [./x, --a={{a}}, {{b}}, *.csv]
        parameters:
          a: {type: int, description: Month, 1 to 12}
          b: {pattern: ^[a-z]{2,3}$}
    """
    places = [one.split(": ")[0] for one in wrong(tmp_path, text)]
    assert places == ["1:1", "4:29", "5:24", "5:31", "5:38", "7:17", "7:35", "8:21"]


def test_masked_characters_never_get_into_a_value(tmp_path: Path) -> None:
    text = 'instructions: |\n  use {{x}} and ${Y}\nname: "a{{b}}"\n'
    config = read(tmp_path, text)
    assert (config.instructions, config.name) == ("use {{x}} and ${Y}", "a{{b}}")
    strange = "\ue07b\ue07b"  # what a masked `{{` looks like
    assert read(tmp_path, f"instructions: '{strange} {{{{y}}}}'\n").instructions == f"{strange} {{{{y}}}}"


def test_a_list_in_a_list_and_a_flow_mapping_are_not_taken_for_text() -> None:
    assert value("[a, [b, {c: [d]}], {e: {f: g}}]") == ["a", ["b", {"c": ["d"]}], {"e": {"f": "g"}}]
    assert value("{a: b, c, d: {e}}") == {"a": "b", "c": None, "d": {"e": None}}


@pytest.mark.parametrize("text", ["a: {b: {c: d}{}}\n", "a: {b: [c][d]}\n", "a: {b: c{}{}{}}\n", "a: [b[c]{d}]\n"])
def test_brackets_that_follow_each_other_are_read_to_an_end(tmp_path: Path, text: str) -> None:
    assert wrong(tmp_path, text)
