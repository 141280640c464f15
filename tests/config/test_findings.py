from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.config.findings import Severity, findings
from tests.config.agent_files import read

GOOD = "description: Report the status of a service."


@pytest.fixture(autouse=True)
def program(tmp_path: Path) -> None:
    script = tmp_path / "x.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)


def found(folder: Path, *lines: str, severity: Severity | None = None) -> list[str]:
    text = "\n    ".join(["tools:\n  - name: it", *lines]) + "\n"
    config = read(folder, text)
    return [f"{one.message} | {one.hint}" for one in findings(config) if severity in (None, one.severity)]


def test_a_sound_tool_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD, 'command: [./x.sh, --, "{{a}}"]', "parameters: {a: {description: A service}}") == []


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (None, 0, "there is no program"),
        ("#!/bin/sh\n", 0o644, "is not executable | Run: chmod +x"),
        ("echo hi\n", 0o755, "is a text without a first line that names its interpreter | Start it with: #!/bin/sh"),
        ("#!/bin/sh\r\necho hi\r\n", 0o755, "has Windows line ends"),
        ("#!/no/such/python\n", 0o755, "the interpreter of"),
        ("#!/usr/bin/env nosuchprogram\n", 0o755, "is not on PATH: `nosuchprogram`"),
    ],
)
def test_a_program_that_cannot_start_is_an_error(tmp_path: Path, content: str | None, mode: int, message: str) -> None:
    if content is not None:
        path = tmp_path / "y.sh"
        path.write_bytes(content.encode())
        path.chmod(mode)
    if mode == 0o644 and os.access(tmp_path / "y.sh", os.X_OK):
        pytest.skip("everything is executable here")
    errors = found(tmp_path, GOOD, "command: [./y.sh]", severity=Severity.ERROR)
    assert len(errors) == 1
    assert message in errors[0]


def test_a_program_that_is_not_on_the_path_is_an_error(tmp_path: Path) -> None:
    errors = found(tmp_path, GOOD, "command: [nosuchprogram]", severity=Severity.ERROR)
    assert "the program `nosuchprogram` is not on PATH" in errors[0]


def test_a_folder_to_run_in_that_is_missing_is_an_error(tmp_path: Path) -> None:
    assert "there is no folder" in found(tmp_path, GOOD, "command: [./x.sh]", "cwd: nope", severity=Severity.ERROR)[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory | Build it first"),
        (b"#!/bin/sh", "is not a wasm module"),
        (b"\0asm\x0d\0\1\0", "is a component, not a module"),
    ],
)
def test_a_module_that_is_none_is_an_error(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "x.wasm").write_bytes(content)
    errors = found(tmp_path, GOOD, "wasm: x.wasm", severity=Severity.ERROR)
    assert len(errors) == 1
    assert message in errors[0]


def test_a_module_is_looked_into_where_that_is_possible(tmp_path: Path) -> None:
    (tmp_path / "x.wasm").write_bytes(b"\0asm\1\0\0\0")
    config = read(tmp_path, f"tools:\n  - {{name: it, wasm: x.wasm, memory: 2MiB, {GOOD}}}\n")
    (one,) = findings(config, inspect_module=lambda path, memory: f"{path.name} {memory}")
    assert one.message == "`it`: x.wasm 2097152"
    assert findings(config, inspect_module=lambda path, memory: None) == []


@pytest.mark.parametrize(
    "command",
    [
        'sh, -c, "echo {{a}}"',
        'bash, -lc, "echo {{a}}"',
        '/bin/bash, -c, "{{a}}"',
        'python3, -c, "print({{a}})"',
        'env, X=1, "{{a}}"',
        'xargs, "{{a}}"',
        'ssh, host, "{{a}}"',
        'find, ., -exec, grep, "{{a}}", "{}", ;',
        'env, bash, -c, "echo {{a}}"',
    ],
)
def test_a_value_that_is_read_as_code_is_warned_about(tmp_path: Path, command: str) -> None:
    warnings = found(
        tmp_path,
        GOOD,
        f"command: [{command}]",
        "parameters: {a: {description: x}}",
        severity=Severity.WARNING,
    )
    assert any("can be code" in one or "choose the program" in one or "can be a program" in one for one in warnings)


@pytest.mark.parametrize("command", ['sh, ./x.sh, "{{a}}"', 'python3, x.py, "{{a}}"', 'git, commit, "-m{{a}}"'])
def test_a_value_beside_code_is_not_warned_about(tmp_path: Path, command: str) -> None:
    lines = (GOOD, f"command: [{command}]", "parameters: {a: {description: x}}")
    assert found(tmp_path, *lines, severity=Severity.WARNING) == []


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ('"{{a}}"', 'Put a `"--"` before it if the program takes that'),
        ('--name, "{{a}}"', 'Write `"--name={{a}}"` if the program takes that'),
        ('"{{a}}", --, "{{a}}"', 'Put a `"--"` before it'),
    ],
)
def test_the_option_guard_is_told_of_where_it_will_refuse(tmp_path: Path, command: str, hint: str) -> None:
    hints = found(
        tmp_path, GOOD, f"command: [./x.sh, {command}]", "parameters: {a: {description: x}}", severity=Severity.HINT
    )
    assert len(hints) == 1
    assert hint in hints[0]


@pytest.mark.parametrize(
    ("command", "parameter"),
    [
        ('--, "{{a}}"', "{description: x}"),
        ('"--name={{a}}"', "{description: x}"),
        ('"{{a}}"', "{description: x, allow_dash: true}"),
        ('"{{a}}"', "{description: x, type: integer}"),
        ('"{{a}}"', "{description: x, enum: [-a, b]}"),
        ('"{{a}}"', "{description: x, pattern: '^[0-9]+$'}"),
        ('"{{a}}"', "{description: x, type: array, items: {type: number}}"),
    ],
)
def test_the_option_guard_is_not_mentioned_where_it_passes(tmp_path: Path, command: str, parameter: str) -> None:
    assert found(tmp_path, GOOD, f"command: [./x.sh, {command}]", f"parameters: {{a: {parameter}}}") == []


def test_an_option_that_would_stay_behind_alone_is_warned_about(tmp_path: Path) -> None:
    warnings = found(
        tmp_path,
        GOOD,
        'command: [./x.sh, --limit, "{{n}}"]',
        "parameters: {n: {type: integer, required: false, description: x}}",
    )
    assert len(warnings) == 1
    assert 'Write them as a group: ["--limit", "{{n}}"]' in warnings[0]


@pytest.mark.parametrize("text", ["$HOME/x", "${HOME}/x", "~/x", "|", "'>'", "'&&'"])
def test_what_a_shell_would_have_done_is_warned_about(tmp_path: Path, text: str) -> None:
    assert "arrives as" in found(tmp_path, GOOD, f'command: [./x.sh, "{text.strip(chr(39))}"]')[0]


def test_a_tool_that_says_too_little_is_warned_about(tmp_path: Path) -> None:
    warnings = found(tmp_path, 'command: [./x.sh, --, "{{a}}"]', "parameters: {a: {}}", severity=Severity.WARNING)
    assert "there is no description" in warnings[0]
    assert "the parameter `a` has no description" in warnings[1]
    assert "says little more than the name" in found(tmp_path, "description: Status", "command: [./x.sh]")[0]


def test_names_that_a_model_could_mix_up_are_warned_about(tmp_path: Path) -> None:
    """(C36)"""
    text = (
        f"tools:\n  - {{name: my-tool, command: [./x.sh], {GOOD}}}\n  - {{name: My_tool, command: [./x.sh], {GOOD}}}\n"
    )
    assert (
        "`My_tool` differs from `my-tool`, the tool in line 2, only in case"
        in findings(read(tmp_path, text))[0].message
    )
    text = f"tools:\n  - {{name: read-file, command: [./x.sh], {GOOD}}}\n"
    assert "`read-file` differs from `read_file`, the built-in tool" in findings(read(tmp_path, text))[0].message


def test_a_hook_or_server_whose_program_is_missing_is_found(tmp_path: Path) -> None:
    text = "hooks: {preToolCall: [{command: [./nope.py]}]}\nmcpServers: {a: {command: nosuchprogram}}\n"
    hook, server = findings(read(tmp_path, text))
    assert (hook.severity, server.severity) == (Severity.ERROR, Severity.WARNING)
    assert "a hook: there is no program" in hook.message
    assert "the MCP server `a`: the program `nosuchprogram` is not on PATH" in server.message
