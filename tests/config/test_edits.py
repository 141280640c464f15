"""Every finding names the edit that mends it: applied as it stands, the finding is gone and the file loads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.config.agent_files import read, wrong

Edit = tuple[str, str]
"""A part of the finding's line, and the part of the file that its edit takes the place of."""


def edit_of(finding: str) -> str:
    """What the hint of a finding says to write."""
    hint = finding.partition(" | ")[2]
    for pattern in (
        r"(?:quotes|entry): (.+)",
        r"group: (\[.+?\])(?=$|,)",
        r"[Ww]rite(?: it as)? `(.*?)`",
        r"Write (\S.*?)\.?$",
    ):
        found = re.search(pattern, hint)
        if found:
            return found.group(1)
    raise AssertionError(hint)


def mended(folder: Path, text: str, edits: Sequence[Edit]) -> str:
    """The file with the edit of each finding in it. There are as many findings as mistakes."""
    found = wrong(folder, text)
    assert len(found) == len(edits), found
    for (says, old), finding in zip(edits, found, strict=True):
        assert says in finding
        assert old in text
        text = text.replace(old, edit_of(finding), 1)
    return text


def tool(lines: str) -> str:
    return "tools:\n  - name: it\n" + "".join(f"    {line}\n" for line in lines.splitlines())


def parameter(keys: str) -> str:
    return tool(f'command: [x, "{{{{a}}}}"]\nparameters:\n  a: {{{keys}}}')


@pytest.mark.parametrize(
    ("before", "written", "edit"),
    [
        ("", "enum: food travel rent", "enum: [food, travel, rent]"),
        ("", "enum: 'food, travel, rent'", "enum: [food, travel, rent]"),
        ("", "enum: stable|beta", "enum: [stable, beta]"),
        ("", "enum: 'New York, Paris'", 'enum: ["New York", Paris]'),
        ("", "enum: '[a, b]'", "enum: [a, b]"),
        ("", "enum: {a: first, b: second}", "enum: [a, b]"),
        ("type: integer, ", "enum: 1 2 3", "enum: [1, 2, 3]"),
        ("", "type: date", "type: string, format: date"),
        ("", "type: datetime", "type: string, format: date-time"),
        ("", "type: int", "type: integer"),
        ("", "type: Boolean", "type: boolean"),
        ("", "type: strin", "type: string"),
        ("", "type: integer?", "type: integer, required: false"),
        ("", 'type: [string, "null"]', "type: string, required: false"),
        ("", "type: list[str]", "type: array, items: {type: string}"),
        ("", "optional: true", "required: false"),
        ("", "nullable: yes", "required: false"),
        ("", "required: no", "required: false"),
        ("type: string, ", "min: 2", "minLength: 2"),
        ("type: array, ", "max: 3", "maxItems: 3"),
        ("type: integer, ", "default: '60'", "default: 60"),
        ("type: boolean, ", "default: yes", "default: true"),
        ("type: array, ", "default: a b", "default: [a, b]"),
        ("type: string, ", "default: [a, b]", 'default: "a b"'),
        ("type: integer, ", "minimum: '3'", "minimum: 3"),
        ("type: string, ", "minLength: three", "minLength: 1"),
        ("", "description: Month, 1 to 12", 'description: "Month, 1 to 12"'),
        ("", "description: Kind, such as: food", 'description: "Kind, such as: food"'),
        ("", "description: Kind, e.g. a, or b", 'description: "Kind, e.g. a, or b"'),
    ],
)
def test_a_wrong_value_of_a_parameter_is_mended_by_its_edit(
    tmp_path: Path, before: str, written: str, edit: str
) -> None:
    says = "ends the text" if written.startswith("description") else f"`{written.partition(':')[0]}"
    after = mended(tmp_path, parameter(before + written), [(says, written)])
    assert edit in after
    read(tmp_path, after)


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("builtins: none\n", [("`builtins` must be a list of names", "builtins: none")]),
        ("builtins: false\n", [("this is `false`", "builtins: false")]),
        ("builtins: [none]\n", [("this is `none`", "builtins: [none]")]),
        ("builtins: all\n", [("this is `all`", "builtins: all")]),
        ("builtins: bash read_file\n", [("must be a list, and this is text", "builtins: bash read_file")]),
        (
            "builtins: {bash: true, read_file: false}\n",
            [("and this is a mapping", "builtins: {bash: true, read_file: false}")],
        ),
        ("permissions: {allow: 'bash, memory'}\n", [("`allow` must be a list", "allow: 'bash, memory'")]),
        ("permissions: [bash]\n", [("does not say what is allowed", "permissions: [bash]")]),
        ("allow: [bash]\n", [("has no key `allow`", "allow: [bash]")]),
        ("env_pass: A_TOKEN, B_TOKEN\n", [("`env_pass` must be a list", "env_pass: A_TOKEN, B_TOKEN")]),
        ("yolo: yes\n", [("must be `true` or `false`", "yolo: yes")]),
        ("yolo: 'off'\n", [("must be `true` or `false`", "yolo: 'off'")]),
        ("max_rounds: '50'\n", [("must be a number, and this is text", "max_rounds: '50'")]),
        ("max_rounds: 1_0\n", [("must be a number", "max_rounds: 1_0")]),
        ("max_rounds: 5000\n", [("between 1 and 1,000", "max_rounds: 5000")]),
        ("max_rounds: 7.5\n", [("must be a whole number", "max_rounds: 7.5")]),
        ("output_limit: 30k\n", [("must be a number", "output_limit: 30k")]),
        ("name: [my, agent]\n", [("must be text, and this is a list", "name: [my, agent]")]),
        ("name: |\n  two\n  lines\n", [("one short line", "name: |\n  two\n  lines\n")]),
        ("model: olama:qwen3\n", [("does not say who serves it", "model: olama:qwen3")]),
        ("model: ollama/qwen3\n", [("does not say who serves it", "model: ollama/qwen3")]),
        ("model: gpt-5-mini\n", [("does not say who serves it", "model: gpt-5-mini")]),
        ("model: qwen3:4b\n", [("does not say who serves it", "model: qwen3:4b")]),
        ("model: {name: ollama:x, temperature: '0,7'}\n", [("must be a number", "temperature: '0,7'")]),
        ("hooks: {preToolCall: [./check.sh]}\n", [("a hook is text, not a mapping", "preToolCall: [./check.sh]")]),
        ("hooks: {preToolCall: ./check.sh -v}\n", [("a hook is text", "preToolCall: ./check.sh -v")]),
        ("hooks: {preToolCall: {command: [x]}}\n", [("`preToolCall` must be a list", "preToolCall: {command: [x]}")]),
        ("hooks: [{command: [x]}]\n", [("does not say when they run", "hooks: [{command: [x]}]")]),
        ("hooks: {preToolCall: [{command: ./x.sh -v}]}\n", [("`command` of a hook must be", "command: ./x.sh -v")]),
        ("hooks: {preToolCall: [{command: [x], on_error: ignore}]}\n", [("must be one of", "on_error: ignore")]),
        (
            "hooks: {preToolCall: [{command: [x], matcher: [bash, memory]}]}\n",
            [("`matcher`", "matcher: [bash, memory]")],
        ),
        ("hooks: {preToolCall: [{command: [x], matcher: 'bash, memory'}]}\n", [("fits no", "matcher: 'bash, memory'")]),
        ("hooks: {preToolCall: [{command: [x], matcher: read_*}]}\n", [("fits no tool", "matcher: read_*")]),
        ("mcpServers: {a: {url: x.example/mcp}}\n", [("`url` is no address", "url: x.example/mcp")]),
        ("mcpServers: {a: {command: x, type: ws}}\n", [("`type: ws` is not known", "type: ws")]),
        ("mcpServers: {a: {command: x, env: [A=1]}}\n", [("`env` must be a mapping", "env: [A=1]")]),
        ("mcpServers: {a: {command: x, args: -y z}}\n", [("`args` must be a list", "args: -y z")]),
    ],
)
def test_a_wrong_value_is_mended_by_its_edit(tmp_path: Path, text: str, edits: Sequence[Edit]) -> None:
    read(tmp_path, mended(tmp_path, text, edits))


@pytest.mark.parametrize(
    ("written", "edit"),
    [
        ("timeout: 5 minutes", "timeout: 5m"),
        ("timeout: a minute", "timeout: 1m"),
        ("timeout: 1h30m", "timeout: 90m"),
        ("timeout: 90 sec", "timeout: 90s"),
        ("timeout: never", "timeout: 24h"),
        ("timeout: 0", "timeout: 24h"),
        ("timeout: 2 days", "timeout: 24h"),
        ("timeout: 600000", "timeout: 600s"),
        ("timeout: soon", "timeout: 60s"),
        ("final: yes", "final: true"),
        ("final: 'false'", "final: false"),
        ("repeat: 1", "repeat: true"),
        ("stdin: true", "stdin: json"),
        ("stdin: JSON", "stdin: json"),
        ("stdin: {a: b}", "stdin: json"),
        ("env: [A=1, B=x]", 'env: {A: "1", B: x}'),
        ("timeout_ms: 5000", "timeout: 5s"),
    ],
)
def test_a_wrong_value_of_a_command_is_mended_by_its_edit(tmp_path: Path, written: str, edit: str) -> None:
    after = mended(tmp_path, tool(f"command: [x]\n{written}"), [(written.partition(":")[0], written)])
    assert edit in after
    read(tmp_path, after)


@pytest.mark.parametrize(
    ("written", "edit"),
    [
        ("memory: 64", "memory: 64MiB"),
        ("memory: 64 megabytes", "memory: 64MiB"),
        ("memory: 0.5 gigabytes", "memory: 512MiB"),
        ("memory: 10 GB", "memory: 4GiB"),
        ("memory: lots", "memory: 256MiB"),
        ("wasm: [x.wasm]", 'wasm: "x.wasm"'),
    ],
)
def test_a_wrong_value_of_a_module_is_mended_by_its_edit(tmp_path: Path, written: str, edit: str) -> None:
    module = "" if written.startswith("wasm") else "wasm: x.wasm\n"
    after = mended(tmp_path, tool(f"{module}{written}"), [(written.partition(":")[0], written)])
    assert edit in after
    read(tmp_path, after)


@pytest.mark.parametrize(
    ("lines", "edits"),
    [
        (
            'command: [./x, --month={{m}}, {{c}}, "{{ m }}"]\nparameters: {m: {}, c: {}}',
            [("quote it", "--month={{m}}"), ("quote it", "{{c}}")],
        ),
        ("command: [./x, [-n, {{m}}]]\nparameters: {m: {}}", [("quote it", "{{m}}")]),
        ("command:\n  - ./x\n  - {{m}}/y\nparameters: {m: {}}", [("quote it", "{{m}}/y")]),
        ("command: [./x, {m}]\nparameters: {m: {}}", [("`{m}` is no placeholder", "{m}")]),
        ('command: [./x, "{m}"]\nparameters: {m: {}}', [("`{m}` is no placeholder", '"{m}"')]),
        ('command: [./x, "--m=${m}"]\nparameters: {m: {}}', [("`${m}` is no placeholder", '"--m=${m}"')]),
        ("command: [./x, $m]\nparameters: {m: {}}", [("`$m` is no placeholder", "$m")]),
        ("command: [./x, <m>]\nparameters: {m: {}}", [("`<m>` is no placeholder", "<m>")]),
        ("command: [./x]\nstdin: month\nparameters: {month: {}}", [("`month` is no placeholder", "month")]),
        ('command: [./x "{{m}}"]\nparameters: {m: {}}', [("a comma is missing", './x "{{m}}"')]),
        ('command: ./x --m={{m}} "a b"\nparameters: {m: {}}', [("must be a list", 'command: ./x --m={{m}} "a b"')]),
        (
            'command: {program: ./x, args: [-v, "{{m}}"]}\nparameters: {m: {}}',
            [("this is a mapping", 'command: {program: ./x, args: [-v, "{{m}}"]}')],
        ),
        ('command: [[./x], "{{m}}"]\nparameters: {m: {}}', [("the program must be text", "[./x]")]),
        ('command: [./x, --m: "{{m}}"]\nparameters: {m: {}}', [("must be text", '--m: "{{m}}"')]),
        ("command: [curl, -H, Accept: text/plain]", [("must be text", "Accept: text/plain")]),
        ("command: [ls, *.csv]", [("cannot start with `*`", "*.csv")]),
        ('command: [x, "{{m}}"]\nparameters: [m]', [("must be a mapping", "parameters: [m]")]),
        (
            'command: [x, "{{m}}"]\nparameters: [{name: m, type: integer}]',
            [("must be a mapping", "parameters: [{name: m, type: integer}]")],
        ),
        ('command: [x, "{{m}}"]\nparameters: {m: int}', [("must be a mapping", "m: int")]),
        ('command: [x, "{{m}}"]\nparameters: {m: Month of the year}', [("must be a map", "m: Month of the year")]),
        ('command: [x, "{{m}}"]\nparameters: {m: [a, b]}', [("must be a mapping", "m: [a, b]")]),
        ('command: [x, "{{m}}"]\nparameters: {m: }', [("must be a mapping", "m: ")]),
        (
            'command: [x, "{{m}}"]\nparameters: {type: Object, properties: {m: {type: string}}, required: [m]}',
            [("no type of JSON Schema", "type: Object")],
        ),
        (
            'command: [x, "{{m}}"]\nparameters: {type: object, properties: {m: {}}, required: [m1]}',
            [("`required` names `m1`", "m1")],
        ),
        ('command: [x, "{{m}}"]\nparameters: {m: {pattern: ^[a-z]{2,3}$}}', [("stands inside", "^[a-z]{2,3}$")]),
        ('command: [x, "{{m}}"]\nparameters: {m: {description: Name [x]}}', [("stands inside", "Name [x]")]),
        ("command: [x]\ndescription: e.g.: this", [("a `: ` stands inside", "e.g.: this")]),
        ('command: [x]\ndescription: Say "a": b', [("a `: ` stands inside", 'Say "a": b')]),
        ('command: [x]\ndescription: "Say" it', [("behind the closing quote", '"Say" it')]),
        ("command: [x]\ndescription: @team", [("cannot start with `@`", "@team")]),
        ("command: [x]\nenv: {A: ${A:-b}}", [("the brace of `${A:-b}`", "${A:-b}")]),
        ("command: [x\nfinal: true", [("not closed", "[x")]),
        ("command: [x]\nargs: [-v]", [("has no key `args`", "command: [x]\n    args: [-v]")]),
    ],
)
def test_a_wrong_entry_is_mended_by_its_edits(tmp_path: Path, lines: str, edits: Sequence[Edit]) -> None:
    read(tmp_path, mended(tmp_path, tool(lines), edits))


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("tools: ./x.sh --fast\n", [("`tools` must be a list", "tools: ./x.sh --fast")]),
        ("tools: [./x.sh]\n", [("a tool entry is text", "./x.sh")]),
        ("mcpServers: {web: 'https://x.example'}\n", [("an MCP server is text", "web: 'https://x.example'")]),
        ("mcpServers: {files: npx -y z}\n", [("an MCP server is text", "files: npx -y z")]),
        ("permissions: {deny: bash memory}\n", [("`deny` must be a list", "deny: bash memory")]),
        (
            "hooks: {PreToolUse: [{matcher: bash, hooks: [{type: command, command: ./x.sh -v}]}]}\n",
            [("has no key `hooks`", "{matcher: bash, hooks: [{type: command, command: ./x.sh -v}]}")],
        ),
        (tool('command: ["./x.sh {{a}}"]\nparameters: {a: {}}'), [("the program may not hold", '"./x.sh {{a}}"')]),
        (tool('command: [x, "{{a|upper}}"]\nparameters: {a: {}}'), [("no fields, filters", "{{a|upper}}")]),
        (tool('command: [x, "{{a}}}"]\nparameters: {a: {}}'), [("one closing brace too many", "{{a}}}")]),
        (
            tool('command: [x, "{{a}}"]\nparameters: {a: {type: array, items: int}}'),
            [("`items` must be a mapping", "items: int")],
        ),
        (
            tool('command: [x, "{{a}}"]\nparameters: {a: {type: object, properties: [b, c]}}'),
            [("`properties` must be a mapping", "properties: [b, c]")],
        ),
        (
            tool('command: [x, "{{a}}"]\nparameters: {type: object, properties: {a: {}}, required: a}'),
            [("`required`", "required: a")],
        ),
        (tool("command [x]\nfinal: true"), [("`command` lacks a `:`", "command [x]")]),
        (tool("command: [x, 'a b]"), [("the quote that opens here is never closed", "'a b")]),
    ],
)
def test_what_is_written_another_way_is_mended_by_its_edit(tmp_path: Path, text: str, edits: Sequence[Edit]) -> None:
    read(tmp_path, mended(tmp_path, text, edits))
