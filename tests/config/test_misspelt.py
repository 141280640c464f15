"""A key that is misspelt or broken is told once, without what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.agent_files import wrong, wrong_tool

USES = """\
command: [./x.sh, "{{version}}", ["--channel", "{{channel}}"], {flag: --dry, when: dry}]
stdin: "{{notes}}"
"""
PARAMETERS = "{version: {type: string}, channel: {type: string}, dry: {type: boolean}, notes: {type: string}}"


@pytest.mark.parametrize("key", ["params", "paramters", "input_schema", "Parameters"])
def test_misspelt_parameters_are_told_once(tmp_path: Path, key: str) -> None:
    found = wrong_tool(tmp_path, f"{USES}{key}: {PARAMETERS}")
    assert found == [f"a tool entry has no key `{key}` | Did you mean `parameters`?"]


def test_what_is_wrong_in_misspelt_parameters_is_told_as_well(tmp_path: Path) -> None:
    text = 'command: [./x.sh, "{{version}}", "{{chanel}}"]\nparams: {version: {type: strin}, channel: {type: string}}'
    found = wrong_tool(tmp_path, text)
    assert len(found) == 4
    assert any("Did you mean `channel`?" in one for one in found)
    assert any("Did you mean `string`?" in one for one in found)
    assert any("the parameter `channel` is used nowhere" in one for one in found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("comand: [./x.sh]", "a tool entry has no key `comand` | Did you mean `command`?"),
        ("argv: [./x.sh]", "a tool entry has no key `argv` | Did you mean `command`?"),
        ("module: x.wasm", "a tool entry has no key `module` | Did you mean `wasm`?"),
        ("command: [./x.sh, {flag: --dry, if: dry}]\nparameters: {dry: {type: boolean}}", "Did you mean `when`?"),
        ('command: [./x.sh, "{{x}}"]\nparameters: [x]', "`parameters` must be a mapping, and this is a list"),
        (f"{USES}parameters: text", "`parameters` must be a mapping, and this is text"),
        ('command: [./x.sh, "{{x}}"]\nparameters: {x: integer}', "the parameter `x` must be a mapping"),
        ("command: [./x.sh, {flag: --dry, when: dry}]\nparameters: {dry: boolean}", "`dry` must be a mapping"),
    ],
)
def test_a_mistake_is_told_without_its_consequences(tmp_path: Path, text: str, says: str) -> None:
    (found,) = wrong_tool(tmp_path, text)
    assert says in found


def test_a_guess_that_cannot_be_meant_is_not_read(tmp_path: Path) -> None:
    """`args` is what other programs call the arguments of a program, too."""
    (found,) = wrong_tool(tmp_path, "command: [./x.sh]\nargs: [--fast]")
    assert found.startswith("a tool entry has no key `args` | ")


def test_a_key_that_is_there_is_not_replaced_by_a_misspelt_one(tmp_path: Path) -> None:
    for first, second in (("parameters", "params"), ("params", "parameters")):
        names = {"parameters": "{x: {type: string}}", "params": "{y: {type: string}}"}
        text = f'command: [./x.sh, "{{{{x}}}}"]\n{first}: {names[first]}\n{second}: {names[second]}'
        assert len(wrong_tool(tmp_path, text)) == 1


def test_rules_are_not_said_to_name_no_tool_where_the_tools_are_misspelt(tmp_path: Path) -> None:
    text = """\
    permissions: {allow: [release]}
    hooks: {preToolCall: [{matcher: release, command: [./check.sh]}]}
    tool:
      - {name: release, description: Publish., command: [./release.sh]}
    """
    assert wrong(tmp_path, text) == ["3:1: the agent file has no key `tool` | Did you mean `tools`?"]
