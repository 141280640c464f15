"""Command tools: checked arguments become argv, without a shell and without a way to add an option."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mm.config.schema import CommandTool, Flag, Group, Literal, Slot, Template
from mm.errors import ToolError
from mm.messages import Outcome
from mm.schemas.schema import Schema
from mm.tools.command import CommandExecutor, find_program
from mm.tools.spec import ApprovedCall, Kind, Look, Output, Plan, Run, Tool

Part = str | list[str] | Flag
PRINT_ARGV = (sys.executable, "-c", "import sys; print(sys.argv[1:])")


def template(text: str) -> Template:
    """`a{{x}}b` as the loader would give it."""
    pieces: list[Literal | Slot] = []
    for place, piece in enumerate(text.replace("}}", "{{").split("{{")):
        if place % 2:
            pieces.append(Slot(piece))
        elif piece:
            pieces.append(Literal(piece))
    return Template(tuple(pieces))


def tool(*parts: Part, properties: Mapping[str, Any] | None = None, program: str = "echo", **given: Any) -> Tool:
    arguments = tuple(
        part
        if isinstance(part, Flag)
        else Group(tuple(map(template, part)))
        if isinstance(part, list)
        else template(part)
        for part in parts
    )
    spec = CommandTool(program=program, arguments=arguments, **given)
    schema = Schema({"type": "object", "properties": properties or {}})
    return Tool("t", Kind.COMMAND, "", schema, spec)


def executor(cwd: Path = Path("/"), **environment: str) -> CommandExecutor:
    return CommandExecutor({"PATH": os.environ["PATH"], **environment}, cwd)


def argv(one: Tool, **arguments: Any) -> tuple[str, ...]:
    return executor().plan(one, arguments).shown[0].entries[1:]


def run(one: Tool, spill: Path, runner: CommandExecutor | None = None, **arguments: Any) -> Output:
    runner = runner or executor()
    plan = runner.plan(one, arguments)
    return runner.run(ApprovedCall("1", one, arguments, plan), Run(threading.Event(), spill))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3"),
        (-2.5, "-2.5"),
        (1e16, "10000000000000000"),
        (1e300, "1e300"),
        (1e-7, "1e-7"),
        (9007199254740993, "9007199254740993"),
        (10**40, "1" + "0" * 40),
        ("", ""),
        ("a b", "a b"),
        ("x\ny", "x\ny"),
        ("1.4.2; rm -rf ~ && `id` $(id) > f", "1.4.2; rm -rf ~ && `id` $(id) > f"),
        ("{{other}}", "{{other}}"),
        ({"k": 1.0, "é": [None, "b"]}, '{"k":1,"é":[null,"b"]}'),
    ],
)
def test_a_value_becomes_one_entry(value: Any, text: str) -> None:
    """(C74)"""
    assert argv(tool("{{v}}"), v=value, other="no") == (text,)
    assert argv(tool("--x={{v}}!"), v=value) == (f"--x={text}!",)


def test_placeholders_are_replaced_in_place() -> None:
    """(C63)"""
    assert argv(tool("/data/{{t}}-{{n}}.{{t}}", "{{t}}{{t}}"), t="a", n=1) == ("/data/a-1.a", "aa")


def test_a_list_alone_or_with_text_repeats_its_entry() -> None:
    assert argv(tool("x", "{{l}}"), l=["a", "b c", 3.0]) == ("x", "a", "b c", "3")
    assert argv(tool("--x={{l}}"), l=["a", ["b"]]) == ("--x=a", '--x=["b"]')
    assert argv(tool("--x={{l}}", "{{l}}", "end"), l=[]) == ("end",)


def test_an_optional_parameter_without_a_value_drops_its_entry() -> None:
    assert argv(tool("a", "--n={{n}}", "{{n}}:{{m}}", "{{m}}"), m="x") == ("a", "x")
    assert argv(tool("--n={{n}}"), n=None) == ()


def test_a_group_is_dropped_or_repeated_as_a_whole() -> None:
    one = tool(["--limit", "{{n}}"], ["-e", "{{l}}", "{{n}}"])
    assert argv(one, l=["a", "b"], n=5) == ("--limit", "5", "-e", "a", "5", "-e", "b", "5")
    assert argv(one, n=5) == ("--limit", "5")
    assert argv(one, l=[], n=5) == ("--limit", "5")


def test_a_flag_is_there_if_its_boolean_is_true() -> None:
    one = tool(Flag("--verbose", "v"), "x")
    assert [argv(one, v=True), argv(one, v=False), argv(one)] == [("--verbose", "x"), ("x",), ("x",)]


def test_two_lists_in_one_entry_are_answered() -> None:
    with pytest.raises(ToolError, match="`a` and `b`"):
        argv(tool("{{a}}={{b}}"), a=["1"], b=["2"])


ANYTHING: dict[str, Any] = {"type": "string"}


@pytest.mark.parametrize(
    ("one", "arguments"),
    [
        (tool("log", "{{v}}"), {"v": "--output=/tmp/x"}),
        (tool("{{v}}"), {"v": "---\n# title"}),
        (tool("{{v}}"), {"v": "-"}),
        (tool("{{v}}"), {"v": "-5"}),
        (tool("{{v}}"), {"v": ["ok", "--pre=sh"]}),
        (tool(["-e", "{{v}}"]), {"v": "-x"}),
        (tool("{{a}}{{v}}"), {"a": "", "v": "-x"}),
        (tool("{{a}}-x{{v}}"), {"a": "", "v": "y"}),
        (tool("{{n}}{{v}}"), {"n": -5, "v": "x"}),
        (tool("{{a}}", "{{v}}"), {"a": "--", "v": "-x"}),
        (tool("{{v}}", "--"), {"v": "-x"}),
        (tool(["--", "{{a}}"], "{{v}}"), {"v": "-x"}),
        (tool(Flag("--", "a"), "{{v}}"), {"a": False, "v": "-x"}),
        (tool("--x", "{{v}}", allow_dash=frozenset({"a"})), {"v": "-x"}),
        (tool("{{v}}", properties={"v": {"not": {"enum": ["-x"]}}}), {"v": "-x"}),
        (tool("{{v}}", properties={"v": {"enum": ["-x"]}}), {"v": "-xy"}),
        (tool("{{v}}", properties={"v": {"default": "-x"}}), {"v": "-x"}),
        (tool("{{a}}{{v}}", properties={"a": {"enum": ["", "-"]}}), {"a": "-", "v": "-output=/tmp/x"}),
        (tool("{{a}}{{v}}", properties={"a": {"enum": ["", "--"]}}), {"a": "--", "v": "output=/tmp/x"}),
        (tool("{{a}}{{v}}", properties={"a": {"enum": ["-"]}, "v": {"enum": ["x"]}}), {"a": "-", "v": "o"}),
        (tool("{{a}}:{{v}}=", properties={"a": {"const": "-"}}), {"a": "-", "v": "o"}),
        (tool("{{a}}{{v}}", allow_dash=frozenset({"a"})), {"a": "-", "v": "x"}),
        (tool("{{a}}{{v}}", allow_dash=frozenset({"a"})), {"a": "", "v": "-x"}),
        (tool("{{v}}{{a}}", properties={"a": {"enum": ["=-x"]}}), {"a": "=-x", "v": "-x"}),
    ],
)
def test_a_value_that_would_be_read_as_an_option_is_refused(one: Tool, arguments: dict[str, Any]) -> None:
    """(C60)"""
    with pytest.raises(ToolError, match=r"begins with `-`.*Nothing was run.*allow_dash"):
        argv(one, **arguments)


@pytest.mark.parametrize(
    ("one", "arguments"),
    [
        (tool("--", "{{v}}"), {"v": "-x"}),
        (tool(["--", "{{v}}"]), {"v": "-x"}),
        (tool(Flag("--", "a"), "{{v}}"), {"a": True, "v": "-x"}),
        (tool("--x={{v}}"), {"v": "-x"}),
        (tool("-{{v}}"), {"v": "-x"}),
        (tool("{{v}}"), {"v": -5}),
        (tool("{{v}}"), {"v": [-5, -1.5]}),
        (tool("{{v}}px"), {"v": -5}),
        (tool("{{v}}", allow_dash=frozenset({"v"})), {"v": "-x"}),
        (tool("{{v}}", properties={"v": {"enum": ["-x", "y"]}}), {"v": "-x"}),
        (tool("{{v}}", properties={"v": {"const": "-x"}}), {"v": "-x"}),
        (tool("{{v}}", properties={"v": {"type": "array", "items": {"enum": ["-x"]}}}), {"v": ["-x"]}),
        (tool("{{v}}", properties={"v": {"anyOf": [{"const": "-x"}, {"type": "null"}]}}), {"v": "-x"}),
        (tool("{{v}}x", properties={"v": {"enum": ["-"]}}), {"v": "-"}),
        (tool("{{a}}{{v}}", properties={"a": {"enum": ["-"]}, "v": {"enum": ["x"]}}), {"a": "-", "v": "x"}),
        (tool("{{a}}={{v}}", properties={"a": {"enum": ["--in", "--out"]}}), {"a": "--in", "v": "-x"}),
        (tool("{{a}}{{v}}", allow_dash=frozenset({"a", "v"})), {"a": "-", "v": "x"}),
    ],
)
def test_an_option_that_the_author_foresaw_passes(one: Tool, arguments: dict[str, Any]) -> None:
    assert any(entry.startswith("-") for entry in argv(one, **arguments))


def test_an_author_s_value_behind_a_reference_passes() -> None:
    one = tool("{{v}}", properties={"v": {"$ref": "#/$defs/mode"}})
    one.schema.document["$defs"] = {"mode": {"enum": ["-fast"], "allOf": [{"$ref": "#/$defs/mode"}]}}
    assert argv(one, v="-fast") == ("-fast",)


@pytest.mark.parametrize(
    ("value", "words"), [("a\0b", "`v` contains a NUL"), ("a" * 131_072, "`v` is 131,072 bytes"), ("\ud800", "`v`")]
)
def test_a_value_that_no_argument_can_carry_is_answered(value: str, words: str) -> None:
    """(C64, C65)"""
    with pytest.raises(ToolError, match=words):
        argv(tool("--x={{v}}" if len(value) < 10 else "{{v}}"), v=value)


def test_the_program_gets_exactly_what_was_shown(tmp_path: Path) -> None:
    program, *start = PRINT_ARGV
    one = tool(*start, "--x={{v}}", "{{l}}", program=program)
    output = run(one, tmp_path, v="a b;'\"", l=["é\n", ""])
    assert output.stdout.head.decode() == f"{['--x=' + 'a b;' + chr(39) + chr(34), 'é' + chr(10), '']}\n"


def test_standard_input_is_json_a_template_or_empty(tmp_path: Path) -> None:
    cat: Callable[..., Tool] = lambda **given: tool(program="cat", **given)  # noqa: E731
    assert run(cat(), tmp_path, v="x").stdout.size == 0
    whole = run(cat(stdin_json=True), tmp_path, v="é\n", n=2.0, o={"a": [9007199254740993]})
    assert whole.stdout.head.decode() == '{"v":"é\\n","n":2,"o":{"a":[9007199254740993]}}'
    assert run(cat(stdin=template("<{{v}}{{w}}{{u}}>")), tmp_path, v="x", u=None).stdout.head == b"<x>"
    with pytest.raises(ToolError, match="surrogate"):
        executor().plan(cat(stdin_json=True), {"v": "\ud800"})
    assert run(cat(stdin=template("<{{v}}{{w}}>")), tmp_path, v="-a\nb" * 100_000).stdout.size == 400_002


def test_the_environment_is_the_filtered_one_and_the_entry_s_own(tmp_path: Path) -> None:
    output = run(tool(program="env", env={"MODE": "fast"}), tmp_path, executor(A="1"))
    assert set(output.stdout.head.decode().split()) == {f"PATH={os.environ['PATH']}", "A=1", "MODE=fast"}


def test_the_folder_is_the_one_that_mm_was_started_in_unless_said(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    here = executor(tmp_path)
    assert run(tool(program="pwd"), tmp_path, here).stdout.head.decode().strip() == str(tmp_path)
    assert run(tool(program="pwd", cwd=tmp_path / "sub"), tmp_path, here).stdout.head.decode().strip().endswith("sub")
    with pytest.raises(ToolError, match="working directory"):
        here.plan(tool(program="pwd", cwd=tmp_path / "gone"), {})


def test_failure_and_time_limit_are_told_apart(tmp_path: Path) -> None:
    failed = run(tool("-c", "echo why >&2; exit 7", program="sh"), tmp_path)
    assert (failed.outcome, failed.exit_code, failed.stderr.head) == (Outcome.FAILED, 7, b"why\n")
    late = run(tool("100", program="sleep", timeout=0.2), tmp_path)
    assert (late.outcome, late.note) == (Outcome.TIMED_OUT, "stopped: it was still running after 0.2 s, its time limit")


def test_a_program_without_a_slash_is_never_taken_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "planted"
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolError, match="no folder on PATH has it"):
        find_program("planted", ":.:relative:/bin")
    assert find_program("planted", f":/nowhere:{tmp_path}") == str(planted)
    planted.chmod(0o644)
    with pytest.raises(ToolError, match="may not be executed"):
        find_program("planted", str(tmp_path))
    with pytest.raises(ToolError, match="is not there"):
        find_program(f"{tmp_path}/gone", "/bin")


def test_a_folder_on_path_that_cannot_be_looked_into_holds_no_program() -> None:
    with pytest.raises(ToolError, match="no folder on PATH has it"):
        find_program("no-such-program", f"/{'x' * 300}:/bin")


def test_a_script_that_cannot_start_is_answered(tmp_path: Path) -> None:
    script = tmp_path / "run"
    script.write_text("echo no first line\n")
    script.chmod(0o755)
    output = run(tool(program=str(script)), tmp_path)
    assert (output.outcome, output.answers) == (Outcome.FAILED, True)
    assert b"`#!` line" in output.stdout.head


def test_a_person_sees_all_that_would_run(tmp_path: Path) -> None:
    one = tool("{{v}}", env={"MODE": "fast", "GH_TOKEN": "s3cret"}, cwd=tmp_path, stdin=template("in {{v}}"))
    shown = executor().plan(one, {"v": "a b"}).shown
    assert [(part.look, part.entries) for part in shown] == [
        (Look.ARGV, ("echo", "a b")),
        (Look.PATH, (str(tmp_path),)),
        (Look.TEXT, ("MODE=fast", "GH_TOKEN=(set, not shown)")),
        (Look.STDIN, ("in a b",)),
    ]


def test_an_always_holds_for_this_definition_whatever_the_arguments(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\necho one\n")
    script.chmod(0o755)

    def plan(*parts: str, v: str = "x", **given: Any) -> Plan:
        return executor().plan(tool(*parts, program=str(script), **given), {"v": v})

    first = plan("{{v}}").definition
    assert plan("{{v}}", v="y", timeout=5.0).definition == first
    others = {
        plan("--x={{v}}").definition,
        plan("{{v}}", env={"A": "1"}).definition,
        plan("{{v}}", cwd=tmp_path).definition,
        plan("{{v}}", stdin=template("{{v}}")).definition,
        plan("{{v}}", stdin_json=True).definition,
        plan("{{v}}", allow_dash=frozenset({"v"})).definition,
    }
    script.write_text("#!/bin/sh\necho two\n")
    others.add(plan("{{v}}").definition)
    assert len(others - {first}) == 7


def test_a_program_that_changed_after_consent_does_not_run(tmp_path: Path) -> None:
    """(C104)"""
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/sh\necho one\n")
    script.chmod(0o755)
    one = tool(program=str(script))
    plan = executor().plan(one, {})
    script.write_text("#!/bin/sh\necho two\n")
    output = executor().run(ApprovedCall("1", one, {}, plan), Run(threading.Event(), tmp_path))
    assert output.outcome is Outcome.FAILED
    assert b"changed after it was approved" in output.stdout.head


@pytest.mark.parametrize(
    "command",
    [
        ("{python}", "./s.py"),
        ("{python}", "s.py", "{{v}}"),
        ("nice", "{python}", "./s.py"),
        ("sh", "-c", "{python} ./s.py; true"),
        ("{python}", "-X", "dev", "./s.py"),
    ],
)
def test_an_always_and_a_consent_cover_the_script_that_an_interpreter_is_given(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    script = tmp_path / "s.py"
    script.write_text("print(1)\n")
    program, *parts = (part.replace("{python}", sys.executable) for part in command)
    one = tool(*parts, program=program)
    runner = executor(tmp_path)
    first = runner.plan(one, {"v": "x"})
    assert run(one, tmp_path, runner, v="x").stdout.head == b"1\n"
    script.write_text("print(2)\n")
    again = runner.plan(one, {"v": "x"})
    assert again.definition != first.definition
    assert {name for name, part in again.parts.items() if part != first.parts[name]} == {
        "a file that its program is given to run"
    }
    output = runner.run(ApprovedCall("1", one, {}, first), Run(threading.Event(), tmp_path))
    assert output.outcome is Outcome.FAILED
    assert b"changed after it was approved and did not run" in output.stdout.head


@pytest.mark.parametrize("command", [("wc", "./data.txt"), ("./own.sh", "./data.txt"), ("cat", "data.txt")])
def test_an_always_does_not_depend_on_data(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "own.sh").write_text("#!/bin/sh\n")
    (tmp_path / "own.sh").chmod(0o755)
    program, *parts = command
    one = tool(*parts, program=str(tmp_path / program) if "/" in program else program)
    (tmp_path / "data.txt").write_text("one")
    first = executor(tmp_path).plan(one, {}).definition
    (tmp_path / "data.txt").write_text("other")
    assert executor(tmp_path).plan(one, {}).definition == first
