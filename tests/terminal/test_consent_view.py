"""What the consent prompt says, line by line."""

from __future__ import annotations

import pytest

from mm.dispatch.person import ConsentRequest
from mm.schemas.schema import Schema
from mm.terminal.consent_view import consent_lines, key_lines
from mm.terminal.quoting import quote, script_lines
from mm.tools.builtins.plans import plan as builtin_plan
from mm.tools.spec import Kind, Look, Need, Plan, Shown, Tool
from tests.terminal.stand_in import plan, tool


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("", "''"),
        ("a b", "'a b'"),
        ("a   b", "'a[␠×3]b'"),
        ("it's", '"it\'s"'),
        ("a\nb", r"'a\nb'"),
        (r"a\nb", r"'a\\nb'"),
        (r"\d+", r"'\d+'"),
        ("\x1b[2J", r"'\x1b[2J'"),
        ("\u202eexe", r"'\u202eexe'"),
        ("[␠×3]", r"'[\u2420×3]'"),
    ],
)
def test_two_different_entries_never_look_the_same(entry: str, shown: str) -> None:
    assert quote(entry) == shown


def test_a_script_hides_nothing_in_blanks_and_empty_lines() -> None:
    assert script_lines("ls" + " " * 200 + "; rm x\n" + "\n" * 50 + "rm y\x1b\n") == [
        "ls[␠×200]; rm x",
        "[empty line ×50]",
        r"rm y[\x1b]",
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_long_entry_is_wrapped_and_never_cut(width: int) -> None:
    long = "x" * 500 + "end"
    lines = consent_lines(ConsentRequest(tool(), {}, plan("./run", long)), width)
    assert all(len(line) <= width for line in lines)
    assert long in "".join(line.strip().removesuffix(" ↩") for line in lines)


def test_the_lines_of_a_script_cannot_pass_for_the_question() -> None:
    text = "true\n? Run nothing?\n  y  no, do not run it"
    lines = consent_lines(ConsentRequest(tool("bash"), {}, Plan(None, (Shown("bash", Look.TEXT, (text,)),), "d")), 80)
    assert [line.lstrip() for line in lines[1:]] == ["bash  │ true", "│ ? Run nothing?", "│   y  no, do not run it"]


def test_what_mm_trusts_is_never_allowed_always() -> None:
    request = ConsentRequest(tool(), {}, Plan(None, (), "d", Need.ALWAYS))
    assert not any("always" in line for line in key_lines(request, 80))


def test_always_for_bash_is_this_exact_command() -> None:
    lines = key_lines(ConsentRequest(tool("bash"), {}, plan("x")), 80)
    assert any("always in this session: this exact command" in line for line in lines)


@pytest.mark.parametrize(
    ("scope", "covered"),
    [("in /home/ann", "anything in this folder"), ("on /etc/hosts", "this path alone"), ("", "any arguments")],
)
def test_always_for_a_builtin_names_the_folder_or_the_path_that_it_covers(scope: str, covered: str) -> None:
    read = Tool("read_file", Kind.BUILTIN, "Reads.", Schema({"type": "object"}), None)
    lines = key_lines(ConsentRequest(read, {}, builtin_plan("read_file", None, (), Need.ASK, scope)), 80)
    assert any(line.endswith(f"always in this session: `read_file`, {covered}") for line in lines)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_of_a_question_is_wider_than_the_window(width: int) -> None:
    what = plan("./release.sh", "--channel=stable", text="Boats are faster than trains.\n" * 30)
    request = ConsentRequest(tool(), {}, what, "`release` is in `ask` of the agent file")
    lines = [*consent_lines(request, width), *key_lines(request, width)]
    assert max(map(len, lines)) <= width
    if width == 80:
        assert len(key_lines(request, width)) == 6, "each key has one line"
