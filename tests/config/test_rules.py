"""Names of tools, and the rules, hooks and servers that refer to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.schema import BUILTIN_NAMES, PLANNED_NAMES
from tests.config.agent_files import read, wrong

TOOL = "tools: [{name: release, command: [x]}]\n"


@pytest.mark.parametrize("name", ["a b", "a.b", "é", "x" * 65, "", "a/b", "a\\n"])
def test_a_tool_name_is_made_of_letters_digits_and_dashes(tmp_path: Path, name: str) -> None:
    """(C36)"""
    found = wrong(tmp_path, f'tools: [{{name: "{name}", command: [x]}}]\n')
    assert len(found) == 1
    assert "cannot be a tool's name: 1 to 64 of letters, digits, `_` and `-`" in found[0]


def test_the_longest_name_is_allowed(tmp_path: Path) -> None:
    assert read(tmp_path, f"tools: [{{name: {'x' * 64}, command: [x]}}]\n").tools[0].name == "x" * 64


@pytest.mark.parametrize("name", [*BUILTIN_NAMES, *PLANNED_NAMES])
def test_the_name_of_a_built_in_tool_is_taken_even_if_that_is_off(tmp_path: Path, name: str) -> None:
    found = wrong(tmp_path, f"builtins: []\ntools: [{{name: {name}, command: [x]}}]\n")
    assert f"`{name}` is the name of a built-in tool" in found[0]


def test_two_tools_of_one_name_are_an_error_that_names_both_lines(tmp_path: Path) -> None:
    """(C36)"""
    found = wrong(tmp_path, "tools:\n  - {name: a, command: [x]}\n  - {name: a, wasm: x.wasm}\n")
    assert found == ["3:12: `a` is declared twice; the first is in line 2 | Give one of them another name."]


@pytest.mark.parametrize("rule", ["allow", "ask", "deny"])
@pytest.mark.parametrize("name", ["fs.delete", "Release", "releas", "bash(ls *)", "*", "relea.*"])
def test_a_rule_that_names_no_tool_is_a_load_error_listing_the_names(tmp_path: Path, rule: str, name: str) -> None:
    """(C107)"""
    found = wrong(tmp_path, f"permissions: {{{rule}: ['{name}']}}\n{TOOL}")
    assert len(found) == 1
    assert f"`{rule}`: there is no tool `{name}`" in found[0]
    assert "Known tools: bash, read_file" in found[0]
    assert "release" in found[0].partition("Known tools")[2]


def test_a_near_name_in_a_rule_is_suggested(tmp_path: Path) -> None:
    """(C107)"""
    assert "Did you mean `release`?" in wrong(tmp_path, f"permissions: {{deny: [Release]}}\n{TOOL}")[0]


def test_a_built_in_tool_that_is_off_may_stand_in_a_rule(tmp_path: Path) -> None:
    assert read(tmp_path, "builtins: []\npermissions: {deny: [bash]}\n").permissions.deny == {"bash"}


def test_mcp_names_are_checked_later_and_warned_about_without_their_server(tmp_path: Path) -> None:
    text = "permissions: {deny: [mcp__files__delete]}\n"
    config = read(tmp_path, text)
    assert config.permissions.deny == {"mcp__files__delete"}
    assert "names no server of `mcpServers`" in config.warnings[0]
    assert read(tmp_path, text + "mcpServers: {files: {command: x}}\n").warnings == ()


def test_a_name_under_two_rules_is_an_error(tmp_path: Path) -> None:
    found = wrong(tmp_path, "permissions: {allow: [bash], ask: [memory], deny: [bash, memory]}\n")
    assert [one.partition(" | ")[0] for one in found] == [
        "1:23: `bash` is in `deny` and in `allow`; `deny` wins",
        "1:36: `memory` is in `deny` and in `ask`; `deny` wins",
    ]


@pytest.mark.parametrize(
    "matcher", ["'*'", "''", "release", "release|bash", "'re.*'", "read_(file|skill)", "'.*_file'"]
)
def test_a_matcher_fits_whole_names(tmp_path: Path, matcher: str) -> None:
    assert len(read(tmp_path, f"hooks: {{preToolCall: [{{matcher: {matcher}, command: [x]}}]}}\n{TOOL}").hooks) == 1


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        (
            "relaese",
            "`matcher: relaese` fits no tool: the whole name must match, in its case | Did",
        ),
        ("Release", "`matcher: Release` fits no tool"),
        ("rel", "`matcher: rel` fits no tool"),
        ("relaese|bash", "`matcher: relaese` fits no tool"),
        ("Bash|Edit", "`matcher: Bash` fits no tool"),
        ("'('", "is no regular expression"),
        ("[bash]", "`matcher` must be text, and this is a list"),
    ],
)
def test_a_matcher_that_fits_no_tool_is_a_load_error(tmp_path: Path, matcher: str, message: str) -> None:
    """(C107)"""
    found = wrong(tmp_path, f"hooks: {{preToolCall: [{{matcher: {matcher}, command: [x]}}]}}\n{TOOL}")
    assert message in found[0]


def test_a_matcher_for_mcp_tools_without_servers_is_a_warning(tmp_path: Path) -> None:
    config = read(tmp_path, "hooks: {PreToolUse: [{matcher: mcp__x__.*, command: [x]}]}\n")
    assert "there are no `mcpServers`" in config.warnings[0]


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("{matcher: bash}", "a hook lacks `command`"),
        ("{command: ./check.py --fast}", "Write each argument as its own entry: command: [./check.py, --fast]"),
        ("{command: []}", "`command` of a hook is empty"),
        ("{command: [x, '{{tool}}']}", "a hook's command has no placeholders"),
        ("{command: [x], on_error: ignore}", "`on_error` must be one of block, allow"),
        ("{command: [x], timeout: 0}", "must be between"),
        ("x", "a hook is text, not a mapping"),
    ],
)
def test_a_hook_that_cannot_run_is_a_load_error(tmp_path: Path, hook: str, message: str) -> None:
    found = wrong(tmp_path, f"hooks: {{postToolCall: [{hook}]}}\n")
    assert len(found) == 1
    assert message in found[0]


def test_an_event_written_in_both_spellings_is_not_half_forgotten(tmp_path: Path) -> None:
    found = wrong(tmp_path, "hooks: {preToolCall: [], PreToolUse: [{command: [x]}]}\n")
    assert "`PreToolUse` is `preToolCall` a second time" in found[0]


def test_servers_are_read_in_the_shape_of_other_clients(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        """\
        mcpServers:
          files: {command: ./server, args: [-y, 1.10], env: {TOKEN: "${T}"}, cwd: sub, type: stdio, timeout: 30}
          web: {transport: streamable-http, url: "https://${H:-x}.example/mcp", headers: {A: "Bearer ${T}"}}
          off: {command: x, disabled: true, enabledTools: [a], disabled_tools: [b]}
          also_off: {command: x, enabled: false, start_timeout: 5s}
        """,
        {"T": "sesame"},
    )
    files, web, off, also_off = config.mcp_servers
    assert files.command == (str(tmp_path / "server"), "-y", "1.10")
    assert (files.env, files.cwd, files.timeout) == ({"TOKEN": "sesame"}, tmp_path / "sub", 30)
    assert (web.url, web.headers) == ("https://x.example/mcp", {"A": "Bearer sesame"})
    assert (off.disabled, off.enabled_tools, off.disabled_tools) == (True, {"a"}, {"b"})
    assert (also_off.disabled, also_off.enabled_tools, also_off.start_timeout) == (True, None, 5)
    assert "sesame" not in repr(config)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("{}", "has neither `command` nor `url`"),
        ("{command: x, url: 'http://x'}", "has both `command` and `url`"),
        ("{url: 'http://x', type: sse}", "`type: sse` is not supported | SSE was replaced"),
        ("{url: 'http://x', type: stdio}", "`type: stdio` does not fit | Write `type: http`"),
        ("{url: 'http://x', type: ws}", "`type: ws` is not known"),
        ("{url: 'http://x', args: [a]}", "`args` belongs to a server with `command`"),
        ("{command: x, headers: {}}", "`headers` belongs to a server with `url`"),
        ("{command: [npx, -y, x]}", "Write `command: npx` and `args: [-y, x]`."),
        ("{url: ''}", "`url` is empty"),
        ("{command: ''}", "`command` has no program"),
        ("{command: npx -y x}", "Write `command: npx` and `args: [-y, x]`."),
        ("{url: x.example}", "`url` is no address"),
        ("{command: x, env: {A: '${NOPE}'}}", "the variable `NOPE` is not set"),
        ("{command: x, args: ['{{a}}']}", "`args` has no placeholders"),
        ("x", "an MCP server is text, not a mapping"),
    ],
)
def test_a_server_that_cannot_be_reached_is_a_load_error(tmp_path: Path, server: str, message: str) -> None:
    found = wrong(tmp_path, f"mcpServers: {{a: {server}}}\n")
    assert any(message in one for one in found), found


def test_a_variable_in_args_is_warned_about_since_it_stays_as_written(tmp_path: Path) -> None:
    config = read(tmp_path, "mcpServers: {a: {command: x, args: ['--key=${KEY}']}}\n")
    assert config.mcp_servers[0].command == ("x", "--key=${KEY}")
    assert "variables are not expanded in `args`" in config.warnings[0]
