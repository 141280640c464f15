from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.config.findings import Severity, findings
from mm.config.load import examine
from tests.config.agent_files import read, write

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


def test_the_entry_s_own_path_is_where_its_program_is_looked_for(tmp_path: Path) -> None:
    """As it is when it runs: there the variable takes the place of mm's own."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "x.sh").rename(tmp_path / "bin/own")
    there = f"env: {{PATH: {tmp_path}/bin:/usr/bin:/bin}}"
    assert found(tmp_path, GOOD, "command: [own]", there) == []
    assert "is not on PATH" in found(tmp_path, GOOD, "command: [sh]", f"env: {{PATH: {tmp_path}}}")[0]
    server = f"mcpServers: {{a: {{command: own, {there}}}}}\n"
    assert findings(read(tmp_path, server)) == []


def test_the_commands_that_mend_a_path_with_blanks_are_quoted(tmp_path: Path) -> None:
    (tmp_path / "my tools").mkdir()
    for name, text in (("plain.sh", "#!/bin/sh\n"), ("dos.sh", "#!/bin/sh\r\n")):
        (tmp_path / "my tools" / name).write_bytes(text.encode())
    (tmp_path / "my tools/dos.sh").chmod(0o755)
    word = f"'{tmp_path}/my tools"
    if not os.access(tmp_path / "my tools/plain.sh", os.X_OK):
        assert f"chmod +x {word}/plain.sh'" in found(tmp_path, GOOD, "command: [./my tools/plain.sh]")[0]
    assert f"sed -i 's/\\r$//' {word}/dos.sh'" in found(tmp_path, GOOD, "command: [./my tools/dos.sh]")[0]
    assert f"mkdir -p {word}/gone'" in found(tmp_path, GOOD, "command: [./x.sh]", "cwd: my tools/gone")[0]


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("python3, lint.py", "lint.py"),
        ("/usr/bin/python3.11, -u, tools/lint.py, '{{a}}'", "tools/lint.py"),
        ("python3, -W, ignore, ./lint.py", "./lint.py"),
        ("bash, -eu, lint.py", "lint.py"),
        ("uv, run, python, lint.py", "lint.py"),
        ("node, --, lint.py", "lint.py"),
    ],
)
def test_a_script_that_an_interpreter_looks_for_elsewhere_is_warned_about(
    tmp_path: Path, command: str, script: str
) -> None:
    lay_scripts(tmp_path)
    line = f"command: [{command}]"
    lines = (GOOD, line, "parameters: {a: {description: x}}") if "{{a}}" in command else (GOOD, line)
    (warning,) = [one for one in found(tmp_path, *lines, severity=Severity.WARNING) if "looks for" in one]
    assert f"looks for `{script}` in the folder that mm is started in, not beside the agent file" in warning
    assert f"Write `command: [./{script.removeprefix('./')}, …]`, or `cwd: .` to run it" in warning
    assert not any("looks for" in one for one in found(tmp_path, *lines, "cwd: .", severity=Severity.WARNING))


@pytest.mark.parametrize(
    "command",
    [
        "python3, gone.py",
        "python3, -m, lint.py",
        "python3, -c, 'print(1)', lint.py",
        "sh, -c, 'true', lint.py",
        "perl, -ne, 'print', lint.py",
        "python3, gone.py, lint.py",
        "wc, -l, lint.py",
        "python3, '{{a}}', lint.py",
    ],
)
def test_what_is_no_script_of_an_interpreter_is_not_warned_about(tmp_path: Path, command: str) -> None:
    lay_scripts(tmp_path)
    lines = (GOOD, f"command: [{command}]", "parameters: {a: {description: x}}", "stdin: json")
    assert not any("looks for" in one for one in found(tmp_path, *lines))


def test_a_script_that_a_hook_or_a_server_looks_for_elsewhere_is_warned_about(tmp_path: Path) -> None:
    lay_scripts(tmp_path)
    text = "hooks: {preToolCall: [{command: [sh, lint.py]}]}\nmcpServers: {a: {command: sh, args: [lint.py]}}\n"
    hook, server = findings(read(tmp_path, text))
    assert {hook.severity, server.severity} == {Severity.WARNING}
    assert hook.message.startswith("a hook: `sh` looks for `lint.py` in the folder that mm is started in")
    assert hook.hint == "Write `command: [./lint.py, …]`, or its whole path."
    assert server.message.startswith("the MCP server `a`: `sh` looks for `lint.py` in the folder that mm is started")
    assert server.hint.startswith("Write `cwd: .` beside `args`, to start it beside the agent file.")
    assert findings(read(tmp_path, "mcpServers: {a: {command: sh, args: [lint.py], cwd: .}}\n")) == []
    (elsewhere,) = findings(read(tmp_path, "mcpServers: {a: {command: sh, args: [lint.py], cwd: tools/deep}}\n"))
    assert f"looks for `lint.py` in `{tmp_path}/tools/deep`, not beside the agent file" in elsewhere.message


def test_a_script_that_may_not_be_executed_is_said_to_need_that_first(tmp_path: Path) -> None:
    lay_scripts(tmp_path)
    (tmp_path / "lint.py").chmod(0o644)
    if os.access(tmp_path / "lint.py", os.X_OK):
        pytest.skip("everything is executable here")
    (warning,) = found(tmp_path, GOOD, "command: [python3, lint.py]")
    assert f"Write `command: [./lint.py, …]` (after `chmod +x {tmp_path}/lint.py`), or `cwd: .`" in warning


def lay_scripts(folder: Path) -> None:
    (folder / "tools/deep").mkdir(parents=True)
    for name in ("lint.py", "tools/lint.py"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tools:\n  - name: it\n    command: [./x.sh]\n    description: Does it all.\n    cwd: nope\n", 5),
        ("mcpServers:\n  a:\n    command: ./x.sh\n    cwd: nope\n", 4),
    ],
)
def test_a_folder_to_run_in_that_is_missing_is_told_where_it_is_named(tmp_path: Path, text: str, line: int) -> None:
    (missing,) = findings(read(tmp_path, text))
    assert (missing.place.line, missing.place.column) == (line, 10)
    assert "there is no folder" in missing.message
    assert missing.hint == f"Make it: mkdir -p {tmp_path}/nope"


IN_TOOL = 'tools:\n  - name: it\n    command: [./x.sh, "{{a}}"]\n    parameters: {a: {}}\n    cwd: '
IN_SERVER = "mcpServers:\n  a:\n    command: ./x.sh\n    cwd: "


@pytest.mark.parametrize(
    ("text", "cwd"),
    [
        (IN_TOOL, "$HOME/x"),
        (IN_TOOL, "'$HOME/x'"),
        (IN_TOOL, "~/${NO_SUCH}/x"),
        (IN_TOOL, "'{{a}}'"),
        (IN_SERVER, "$HOME/x"),
        (IN_SERVER, "~/${NO_SUCH}/x"),
    ],
)
def test_a_folder_whose_name_is_not_known_yet_is_not_to_be_made(tmp_path: Path, text: str, cwd: str) -> None:
    examined = examine(write(tmp_path, f"{text}{cwd}\n"), environ={"HOME": str(tmp_path)})
    assert examined.config
    assert len(examined.problems) == 1
    later = findings(examined.config, beside=[one.place for one in examined.problems])
    assert not any("folder" in one.message for one in later)


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
        'timeout, "10", ssh, host, "{{a}}"',
        'timeout, -k, "5", "10", "{{a}}"',
        'sudo, find, ., -exec, "{{a}}", ;',
        'sudo, -u, me, "{{a}}"',
        'nice, -n, "5", xargs, "{{a}}"',
        'nohup, env, "{{a}}"',
        'xargs, -n, "1", "{{a}}"',
        'timeout, "10", bash, -euc, "{{a}}"',
        'fd, -x, "{{a}}"',
        'python3, -Bc, "print({{a}})"',
        'python3, -W, ignore, -c, "print({{a}})"',
        'python3, "-cprint({{a}})"',
        'node, --eval, "{{a}}"',
        'node, "--eval={{a}}"',
        'node, -pe, "{{a}}"',
        'perl, -ne, "{{a}}"',
        'perl, "-eprint {{a}}"',
        'ruby, -ne, "{{a}}"',
        'php, -r, "{{a}}"',
        'deno, eval, "{{a}}"',
        'sh, -c, "ls {{a}}", x',
        'bash, -c, "--", "{{a}}"',
        'bash, -c, "-", "{{a}}"',
        'sh, -c, -e, "{{a}}"',
        'bash, -c, "-x", "echo hi; {{a}}"',
        'bash, -c, -o, pipefail, "{{a}}"',
        'bash, -euco, pipefail, +x, "{{a}}"',
        'bash, +x, -c, "{{a}}"',
        'fish, -c, "{{a}}"',
        'su, -c, "echo {{a}}"',
        'su, me, -c, "{{a}}"',
        'su, -lc, "{{a}}", me',
        'sudo, su, "--command={{a}}"',
        'script, -qec, "{{a}}", /dev/null',
        'watch, "{{a}}"',
        'watch, -n, "5", ls, "{{a}}"',
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


@pytest.mark.parametrize(
    "command",
    [
        'sh, y.sh, "{{a}}"',
        'python3, x.py, "{{a}}"',
        'git, commit, "-m{{a}}"',
        'python3, x.py, -c, "{{a}}"',
        'sh, -c, "echo \\"$1\\"", x, "{{a}}"',
        'timeout, "10", ./x.sh, "{{a}}"',
        'timeout, -k, "5", "10", git, log, -c, "{{a}}"',
        'nice, -n, "5", sort, "{{a}}"',
        'find, "{{a}}", -exec, cat, "{}", ;',
        'python3, -m, json.tool, "{{a}}"',
        'bash, -c, -e, "echo \\"$1\\"", x, "{{a}}"',
        'bash, -c, "--", "echo \\"$1\\"", x, "{{a}}"',
        'bash, -c, -o, pipefail, "ls \\"$1\\"", x, "{{a}}"',
        'su, -c, ./x.sh, "{{a}}"',
        'script, -c, ./x.sh, "{{a}}"',
        'watch, -n, "{{a}}", ls',
        'watch, -x, ls, "{{a}}"',
        'npm, run, watch, "{{a}}"',
        'make, script, "{{a}}"',
    ],
)
def test_a_value_beside_code_is_not_warned_about(tmp_path: Path, command: str) -> None:
    lines = (GOOD, f"command: [{command}]", "parameters: {a: {description: x}}")
    assert found(tmp_path, *lines, severity=Severity.WARNING) == []


@pytest.mark.parametrize(
    "command",
    [
        *("bash", "bash, -s", "bash, -es, x", "sh, -", "bash, -eu, -o, pipefail", "timeout, '10', bash", "python3"),
        *("python3, -", "python3, -I", "env, A=b, node", "perl, -w", "ssh, host", "ssh, -p, '22', host, bash, -s"),
    ],
)
@pytest.mark.parametrize("stdin", ["'ls {{a}}'", "json"])
def test_a_value_on_the_stdin_of_what_runs_it_is_warned_about(tmp_path: Path, command: str, stdin: str) -> None:
    lines = (GOOD, f"command: [{command}]", f"stdin: {stdin}", "parameters: {a: {description: x}}")
    (warning,) = found(tmp_path, *lines, severity=Severity.WARNING)
    assert "runs what it reads, so a value in `stdin` can be code | Move the code into a script" in warning


@pytest.mark.parametrize(
    "command",
    [
        *("bash, ./y.sh", "bash, -x, ./y.sh", "bash, -c, cat", "python3, x.py", "python3, -m, json.tool", "wc, -w"),
        *("python3, -c, pass", "python3, -W, ignore, x.py", "xargs, sh", "ssh, host, cat", "node, -e, x", "env, cat"),
    ],
)
def test_a_value_on_the_stdin_of_a_script_is_not_warned_about(tmp_path: Path, command: str) -> None:
    lines = (GOOD, f"command: [{command}]", "stdin: '{{a}}'", "parameters: {a: {description: x}}")
    assert found(tmp_path, *lines, severity=Severity.WARNING) == []


def test_a_shell_that_is_given_nothing_is_not_warned_about(tmp_path: Path) -> None:
    assert found(tmp_path, GOOD, "command: [bash, -s]", "stdin: json", severity=Severity.WARNING) == []


OPTIONAL = "parameters: {a: {description: x, default: y}, b: {description: x}, c: {description: x, type: array}}"


@pytest.mark.parametrize(
    "command",
    ['"{{a}}", "{{b}}", "{{c}}"', '--, "{{a}}", -v, "{{b}}", "{{c}}", "v{{b}}"', '"{{b}}", "{{a}}", "{{c}}"'],
)
def test_an_optional_value_before_another_one_is_warned_about(tmp_path: Path, command: str) -> None:
    (warning,) = found(tmp_path, GOOD, f"command: [./x.sh, {command}]", OPTIONAL, severity=Severity.WARNING)
    assert "without the optional `a`, `{{" in warning
    assert " moves up into its place | Put " in warning
    assert warning.endswith('"{{a}}" behind the others, or hand it over with an option: ["--a", "{{a}}"]')


@pytest.mark.parametrize(
    "command",
    [
        '"{{b}}", "{{c}}", "{{a}}"',
        '["--a", "{{a}}"], "{{b}}", "{{c}}"',
        '"--a={{a}}", "{{b}}", "{{c}}"',
        '"{{b}}", "{{a}}", --c, "{{c}}"',
        '"{{b}}", "{{a}}", "--c={{c}}"',
        '"{{b}}", "{{a}}", [--c, "{{c}}"]',
    ],
)
def test_an_optional_value_that_nothing_follows_is_not_warned_about(tmp_path: Path, command: str) -> None:
    assert found(tmp_path, GOOD, f"command: [./x.sh, {command}]", OPTIONAL, severity=Severity.WARNING) == []


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
    (empty,) = found(tmp_path, 'description: ""', "command: [./x.sh]")
    assert "the description is empty" in empty
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


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ('"--month {{a}}"', 'Write it as a group: ["--month", "{{a}}"], or `"--month={{a}}"`.'),
        ('"-m {{a}}"', 'Write it as a group: ["-m", "{{a}}"].'),
        ('"-n 5", --, "{{a}}"', 'Write two entries: "-n", "5".'),
        ('"log --oneline", --, "{{a}}"', 'Write two entries: "log", "--oneline".'),
    ],
)
def test_an_option_and_its_value_in_one_entry_are_warned_about(tmp_path: Path, command: str, hint: str) -> None:
    lines = (GOOD, f"command: [./x.sh, {command}]", "parameters: {a: {description: x}}")
    (warning,) = found(tmp_path, *lines, severity=Severity.WARNING)
    assert "arrives as one argument, with the blank in it" in warning
    assert warning.endswith(f"| {hint}")
    mended = hint.partition(": ")[2].partition(", or ")[0].rstrip(".")
    written = command.partition(", --, ")
    lines = (GOOD, f"command: [./x.sh, {mended}{written[1]}{written[2]}]", lines[2])
    assert found(tmp_path, *lines, severity=Severity.WARNING) == []


@pytest.mark.parametrize(
    "command", ['"-m{{a}}"', '"Fix - {{a}}"', '"Accept: {{a}}"', '-c, "{{a}} -x"', '--f, "a b {{a}}"']
)
def test_a_text_with_blanks_is_not_taken_for_an_option(tmp_path: Path, command: str) -> None:
    lines = (GOOD, f"command: [./x.sh, {command}]", "parameters: {a: {description: x}}")
    assert found(tmp_path, *lines, severity=Severity.WARNING) == []


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("y.sh", "Write `./y.sh`: it lies beside the agent file."),
        ("./z.sh", "Did you mean `./y.sh`?"),
        ("git log", "Write each argument as its own entry: git, log"),
        ("pyhton3", "Did you mean `python3`?"),
        ("nosuchprogram", "Install it, or write its path with a slash."),
    ],
)
def test_a_missing_program_is_answered_with_the_one_that_is_meant(tmp_path: Path, command: str, hint: str) -> None:
    for name in ("y.sh", "python3"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    if command == "pyhton3":
        (tmp_path / "bin").mkdir()
        (tmp_path / "python3").rename(tmp_path / "bin/python3")
    config = read(tmp_path, f"tools:\n  - name: it\n    {GOOD}\n    command: [{command}]\n")
    (one,) = findings(config, path=str(tmp_path / "bin"))
    assert one.hint == hint
    assert (one.place.line, one.place.column) == (4, 14)


@pytest.mark.parametrize(
    ("name", "content", "message", "hint"),
    [
        (
            "x.c",
            b"int main;",
            "is C source",
            "zig cc -target wasm32-wasi -o ./x.wasm ./x.c) and write `wasm: ./x.wasm`.",
        ),
        ("x.go", b"package main", "is Go source", "GOOS=wasip1 GOARCH=wasm go build -o ./x.wasm ./x.go)"),
        ("x.py", b"#!/usr/bin/env python3\n", "but a script", "Write `command: [./x.py]` in place of `wasm`."),
    ],
)
def test_what_is_no_module_yet_is_said_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, message: str, hint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (error,) = found(tmp_path, GOOD, f"wasm: {name}", severity=Severity.ERROR)
    assert message in error
    assert hint in error


@pytest.mark.parametrize("source", ["shout/main.c", "shout/src/main.rs"])
def test_a_source_beside_its_build_script_is_built_with_that(tmp_path: Path, source: str) -> None:
    file = tmp_path / source
    file.parent.mkdir(parents=True)
    file.write_text("int main;")
    script = tmp_path / "shout/build.sh"
    script.write_text("#!/bin/sh\n# Builds loud.wasm.\n")
    (error,) = found(tmp_path, GOOD, f"wasm: {source}", severity=Severity.ERROR)
    assert error.endswith("| Run sh ./shout/build.sh and write `wasm: ./shout/loud.wasm`.")
    script.write_text("#!/bin/sh\n")
    (error,) = found(tmp_path, GOOD, f"wasm: {source}", severity=Severity.ERROR)
    assert "| Build it (" in error


@pytest.mark.parametrize("command", ["shout/shout.wasm", "./shout/shout.wasm", "shout.wasm", "./unbuilt.wasm"])
def test_a_module_in_place_of_a_program_is_said_to_belong_under_wasm(tmp_path: Path, command: str) -> None:
    (tmp_path / "shout").mkdir()
    for name in ("shout/shout.wasm", "shout.wasm"):
        (tmp_path / name).write_bytes(b"\0asm\1\0\0\0")
    path = f"./{command.removeprefix('./')}"
    (error,) = found(tmp_path, GOOD, f"command: [{command}]", severity=Severity.ERROR)
    assert f"`{path}` is a wasm module, not a program | Write `wasm: {path}` in place of `command`" in error


def test_a_misspelt_module_is_answered_with_the_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "total.wasm").write_bytes(b"\0asm\1\0\0\0")
    (error,) = found(tmp_path, GOOD, "wasm: totl.wasm", severity=Severity.ERROR)
    assert error.endswith("| Write `wasm: ./total.wasm`, or build it first.")


@pytest.mark.parametrize(
    ("command", "warns"),
    [
        ("ls, '*.csv'", True),
        ("./x.sh, data/*.txt", True),
        ("grep, 'a.*'", False),
        ("./x.sh, --glob, '*.md'", False),
        ("find, ., -name, '*.py'", False),
        ("./x.sh, '2 * 3'", False),
    ],
)
def test_a_pattern_of_file_names_is_warned_about_where_a_shell_would_expand_it(
    tmp_path: Path, command: str, warns: bool
) -> None:
    config = read(tmp_path, f"tools:\n  - name: it\n    {GOOD}\n    command: [{command}]\n")
    messages = [one.message for one in findings(config) if one.severity is Severity.WARNING]
    assert any("nothing is expanded" in one for one in messages) == warns


def test_a_variable_that_is_a_parameter_is_answered_with_its_placeholder(tmp_path: Path) -> None:
    lines = (GOOD, 'command: [./x.sh, "--a=${a}"]', "stdin: json", "parameters: {a: {description: x}}")
    (warning,) = found(tmp_path, *lines)
    assert warning.endswith('| Write "--a={{a}}".')


def test_a_line_for_a_shell_is_one_mistake(tmp_path: Path) -> None:
    (warning,) = found(tmp_path, GOOD, "command: [./x.sh, a, '|', wc, '>', b]")
    assert "`|`, `>` arrive as arguments: there is no shell" in warning


def test_a_stdin_without_a_placeholder_is_warned_about(tmp_path: Path) -> None:
    (warning,) = found(tmp_path, GOOD, "command: [./x.sh]", "stdin: hello")
    assert "`stdin` holds no placeholder: the program reads the same text at each call" in warning
    assert found(tmp_path, GOOD, "command: [./x.sh]", "stdin: json") == []


def test_the_option_guard_is_told_of_once_a_file(tmp_path: Path) -> None:
    parameters = "parameters: {a: {description: x}, b: {description: x}}"
    tool = f'{{{GOOD}, command: [./x.sh, "{{{{a}}}}", "{{{{b}}}}"], {parameters}'
    config = read(tmp_path, f"tools:\n  - {tool}, name: one}}\n  - {tool}, name: two}}\n")
    (one,) = findings(config)
    assert one.message.startswith("`one`: a value of `a` or `b` that starts with `-` is refused")
    assert one.message.endswith("; likewise in `two`")


@pytest.mark.parametrize(
    ("model", "keys", "hints"),
    [
        ("model: local:qwen2.5-coder-0.5b\n", "", 1),
        ("model: local:qwen2.5-coder-0.5b\n", ", final: true", 0),
        ("model: local:qwen2.5-coder-0.5b\n", ", final: false", 0),
        ("model: openai:gpt-5\n", "", 0),
        ("", "", 0),
    ],
)
def test_final_is_hinted_at_once_where_the_file_names_a_model_inside_mm(
    tmp_path: Path, model: str, keys: str, hints: int
) -> None:
    tool = f"{{name: it, {GOOD}, command: [./x.sh]{keys}}}"
    found = findings(read(tmp_path, f"{model}tools:\n  - {tool}\n  - {tool.replace('it', 'other', 1)}\n"))
    assert [one.severity for one in found] == [Severity.HINT] * hints
    assert all("Write `final: true`" in one.hint for one in found)


def test_a_finding_stands_where_the_thing_stands(tmp_path: Path) -> None:
    text = f"""\
    tools:
      - name: it
        {GOOD}
        command:
          - sh
          - -c
          - "echo {{{{a}}}}"
          - "{{{{b}}}}"
        parameters:
          a: {{description: x}}
          b: {{}}
    """
    places = [(one.place.line, one.place.column) for one in findings(read(tmp_path, text))]
    assert places == [(7, 9), (8, 9), (11, 7)]
