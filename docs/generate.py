"""Writes the pages of docs/reference/ that come from the code. `--check` only says which are out of date.

python docs/generate.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from mm.app.toolbox import Toolbox
from mm.cli.main import mm
from mm.config import keys, quantities
from mm.config.schema import BUILTIN_NAMES, DEFAULT_BUILTINS, CommandTool, Config, Hook, McpServer, WasmTool
from mm.messages import Outcome
from mm.models.offers import offer
from mm.terminal.commands.guide import KEYS, STARTS
from mm.terminal.commands.table import COMMANDS
from mm.tools.builtin import Builtin
from mm.tools.builtins.skills import skill_tools
from mm.tools.places import Places
from mm.tools.skills import Skill
from mm.tools.spec import Output

REFERENCE = Path(__file__).parent / "reference"
NOTE = "This page is made by `docs/generate.py` from the code; a test fails when the two differ."


def main() -> int:
    made = {
        "agent-file.md": agent_file(),
        "command-line.md": command_line(),
        "builtin-tools.md": builtin_tools(),
        "chat.md": chat(),
    }
    old = [name for name, text in made.items() if _read(REFERENCE / name) != text]
    if "--check" in sys.argv[1:]:
        for name in old:
            print(f"docs/reference/{name} is out of date: run python docs/generate.py")
        return 1 if old else 0
    REFERENCE.mkdir(exist_ok=True)
    for name in old:
        (REFERENCE / name).write_text(made[name], "utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def _page(title: str, opening: str, parts: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", opening, NOTE, *parts]) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join([_row(*head), _row(*("---" for _ in head)), *(_row(*row) for row in rows)])


# The agent file


def _default(kind: type, name: str) -> Any:
    """The default of a field, as the loader uses it."""
    return next(field.default for field in fields(kind) if field.name == name)


DEFAULTS = {
    ("agent", "name"): "`mm`",
    ("agent", "model"): "`local:qwen2.5-coder-1.5b`",
    ("agent", "builtins"): ", ".join(f"`{name}`" for name in DEFAULT_BUILTINS),
    ("agent", "yolo"): "`false`",
    ("agent", "output_limit"): f"`{_default(Config, 'output_limit')}`",
    ("agent", "max_rounds"): f"`{_default(Config, 'max_rounds')}`",
    (
        "tool",
        "timeout",
    ): f"`{_default(CommandTool, 'timeout'):g}s` for `command`, `{_default(WasmTool, 'timeout'):g}s` for `wasm`",
    ("tool", "memory"): f"`{_default(WasmTool, 'memory') // 2**20}MiB`",
    ("tool", "final"): "`false`",
    ("tool", "repeat"): "`false`",
    ("tool", "readonly"): "`false`; `true` for a module without `write`",
    ("hook", "matcher"): "all tools",
    ("hook", "timeout"): f"`{_default(Hook, 'timeout'):g}s`",
    ("hook", "on_error"): "`block`",
    ("mcpServer", "timeout"): f"`{_default(McpServer, 'timeout'):g}s`",
    ("mcpServer", "start_timeout"): f"`{_default(McpServer, 'start_timeout'):g}s`",
    ("parameter", "type"): "`string`; `array` with `items`, `object` with `properties`",
    ("parameter", "required"): "`true`; `false` with a `default`",
    ("parameter", "allow_dash"): "`false`",
}


HOLDS = {
    ("agent", "name"): "text, one line of at most 100 characters",
    ("tool", "name"): "1 to 64 of `A-Z`, `a-z`, `0-9`, `_`, `-`",
}

EXAMPLE = """\
name: ops
model: {name: "ollama:qwen3", temperature: 0}
instructions: |
  You run the tools of the ops team. Do not make up values.
builtins: [read_file, list_files]
permissions: {allow: [status]}
hooks:
  preToolCall:
    - {matcher: release, command: [./check.py]}
mcpServers:
  tickets: {command: python3, args: [tickets.py], cwd: .}
tools:
  - name: release
    description: Publish a release of the project. Use it when the user asks to release a version.
    command: [./release.sh, "{{version}}", "--channel={{channel}}"]
    timeout: 5m
    parameters:
      version: {type: string, description: "Version number, such as 1.4.2"}
      channel: {type: string, enum: [stable, beta], description: Who gets the release}
  - name: status
    description: Report the status of a service, whether it is up and since when.
    command: [./status.sh, --, "{{service}}"]
    final: true
    readonly: true
    parameters:
      service: {type: string, description: "Name of the service, such as search"}
  - name: add_days
    description: Say which date lies a number of days after a date.
    wasm: modules/add_days.wasm
    memory: 16MiB
    final: true
    parameters:
      date: {type: string, description: "Start as year-month-day, such as 2026-11-30"}
      days: {type: integer, minimum: -100000, maximum: 100000, description: Number of days}
"""

PATHS = (
    (
        "`instructions_files`, `skills`, `cwd`, `wasm`, `read`, `write`, the FILE of `model: scripted:FILE` "
        "and of `model: local:FILE.gguf`",
        "the folder of the agent file",
    ),
    ("a program with a slash in its name, of a tool, a hook or an MCP server", "the folder of the agent file"),
    (
        "a program without a slash",
        "the folders of `PATH`: that of the entry's own `env`, else that of mm; never the current folder",
    ),
    (
        "the arguments of a program, `args` included",
        "handed over as they stand: the program looks for them in its working directory",
    ),
    ("the working directory of a tool or an MCP server", "`cwd`, else the folder that mm is started in, or `--cwd`"),
    ("the working directory of a hook", "the folder that mm is started in, or `--cwd`"),
)


def _paths() -> str:
    return "\n\n".join(
        [
            "## Where relative paths start",
            _table(("What", "Where"), PATHS),
            "So the script of `command: [python3, check.py]` is found only where mm is started beside it. Write "
            "`command: [./check.py]`, the script being executable, or add `cwd: .`. `mm tools check` warns of it.",
        ]
    )


def agent_file() -> str:
    parts = [_section(section) for section in (keys.ROOT, *keys.SECTIONS)]
    return _page(
        "The agent file",
        "After reading this page you know every key of an agent file, what it may hold, and what it means.",
        [
            "`mm schema` prints the same table as a JSON Schema for editors. Every key that is not listed here is an "
            "error, with the nearest key named. `~`, `${VAR}` "
            "and `${VAR:-default}` are expanded in paths, `env`, `url`, `headers`, `base_url` and `api_key`; `$${` "
            "writes a literal `${`, and `$VAR` without braces is an error in paths, addresses and keys. Only `true` "
            "and `false` are booleans.",
            f"## An example\n\n```yaml\n{EXAMPLE}```",
            _paths(),
            *parts,
        ],
    )


def _section(section: keys.Section) -> str:
    title = section.title[0].upper() + section.title[1:] if section.title[0] != "`" else section.title
    lines = [f"## {title.replace('`', '')}"]
    if section.one_of:
        lines.append(f"Exactly one of {' and '.join(f'`{name}`' for name in section.one_of)} must be there.")
    rows = []
    for key in section.keys:
        also = f" Also read: {', '.join(f'`{name}`' for name in key.aliases)}." if key.aliases else ""
        default = "required" if key.required else DEFAULTS.get((section.name, key.name), "")
        holds = HOLDS.get((section.name, key.name)) or _shape(key.shape)
        rows.append((f"`{key.name}`", holds, default, key.says + also))
    lines.append(_table(("Key", "Holds", "Default", "Meaning"), rows))
    return "\n\n".join(lines)


def _shape(shape: Mapping[str, Any]) -> str:
    """A key's shape in a few words."""
    if shape == keys.TEXT:
        return "text"
    if shape == keys.SECONDS:
        least, most = quantities.SHORTEST, quantities.LONGEST / 3600
        return f"seconds, or text such as `90s`, `2m`; {least:g} s to {most:g} h"
    if shape == keys.SIZE:
        least, most = quantities.SMALLEST / 2**20, quantities.LARGEST / 2**30
        return f"bytes, or text such as `64MiB`; {least:g} MiB to {most:g} GiB"
    if not shape:
        return "any value"
    if "$ref" in shape:
        return _named(shape["$ref"].rpartition("/")[2])
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    if "anyOf" in shape:
        return ", or ".join(_shape(one) for one in shape["anyOf"])
    return _typed(shape)


def _typed(shape: Mapping[str, Any]) -> str:
    kind = shape["type"]
    if kind == "array":
        return f"list of {_shape(shape['items'])}" if shape.get("items") else "list"
    if kind == "object":
        more = shape.get("additionalProperties")
        return f"mapping of names to {_shape(more)}" if more else "mapping"
    words = {"string": "text", "boolean": "`true` or `false`", "integer": "whole number", "number": "number"}[kind]
    low, high = shape.get("minimum"), shape.get("maximum")
    if low is not None and high is not None:
        return f"{words}, {low:,} to {high:,}"
    if "exclusiveMinimum" in shape:
        return f"{words} above {shape['exclusiveMinimum']}"
    return f"{words}, at least {low:,}" if low else words


def _named(name: str) -> str:
    known = {section.name: section.title.replace("`", "") for section in keys.SECTIONS}
    if name == "parameters":
        return "mapping of names to [a parameter](#a-parameter), or a JSON Schema"
    if name == "entry":
        return "text, or a list of texts (a group), or [a flag](#a-flag)"
    title = known[name]
    return f"[{title}](#{title.lower().replace(' ', '-')})"


# The command line

HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def command_line() -> str:
    context = click.Context(mm, info_name="mm", **HELP)
    return _page(
        "The command line",
        "After reading this page you know every command of mm with all of its options.",
        [f"## {path}\n\n```text\n{text}\n```" for path, text in _help(mm, context)],
    )


def _help(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """A command's path and help text, then those of the commands in it. The width is always the same."""
    context.terminal_width = 100
    context.max_content_width = 100
    yield context.command_path, command.get_help(context).strip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _help(inner, click.Context(inner, info_name=name, parent=context, **HELP))


# Built-in tools

ASKS = {
    "bash": "Asks; an *always* holds for the exact command in this folder.",
    "read_file": "Asks for files outside the working directory.",
    "write_file": "Asks; an *always* covers the working directory, outside it one path.",
    "edit_file": "Asks; an *always* covers the working directory, outside it one path.",
    "list_files": "Asks for folders outside the working directory.",
    "search_files": "Asks for places outside the working directory.",
    "read_skill": "Asks nobody: it reads inside the skill's folder only.",
    "clarify": "Asks nobody for consent: it is itself a question. Where nobody can be asked, the call fails.",
    "todo_list": "Asks nobody.",
    "memory": "Asks nobody.",
    "session_search": "Asks nobody.",
    "delegate_task": "Asks nobody: each call of the sub-agent is asked about on its own. It asks the model in use now.",
    "read_terminal": "Asks nobody: starting the command was asked about. A command that still runs ends with mm, "
    "but not after a `kill -9` of mm: then it runs on.",
}


def builtin_tools() -> str:
    made = {builtin.name: builtin for builtin in _all_builtins()}
    assert set(made) == set(BUILTIN_NAMES) == set(ASKS), set(BUILTIN_NAMES) ^ set(made)
    return _page(
        "Built-in tools",
        "After reading this page you know every tool that mm brings along: what it is given and whether it asks.",
        [
            "`builtins:` of the agent file says which are on; without it, those marked *on*. `read_skill` is on "
            "whenever there are `skills`. An `ask` or `deny` rule of `permissions` holds for each of them. What is "
            "said here about asking holds under `yolo: false`; what mm itself trusts is asked about under yolo too.",
            *(_builtin(made[name]) for name in BUILTIN_NAMES),
        ],
    )


def _all_builtins() -> list[Builtin]:
    """Every built-in tool, made the way a run makes them."""
    with tempfile.TemporaryDirectory() as folder:
        config = Config(file=None, folder=Path(folder), builtins=BUILTIN_NAMES)
        toolbox = Toolbox(
            config,
            Path(folder),
            places=lambda: Places(Path(folder)),
            environment={"PATH": "/usr/bin:/bin"},
            person=None,
            search=lambda words, limit: "",
            warn=print,
        )
        made = toolbox.builtins(lambda task, run: Output.text(Outcome.OK, task))
    if "read_skill" not in {builtin.name for builtin in made}:
        made.append(_read_skill())
    return made


def _read_skill() -> Builtin:
    return skill_tools([Skill("NAME", "", Path(), Path(), "")], 30_000)[0]


def _builtin(builtin: Builtin) -> str:
    state = " *On unless `builtins:` says otherwise.*" if builtin.name in DEFAULT_BUILTINS else ""
    shown = offer(builtin.name, builtin.description, builtin.tool().schema)
    flags = [name for name in ("readonly", "repeat", "interactive") if getattr(builtin, name)]
    rows = [
        (f"`{name}`", _kind(schema), str(schema.get("description", "")))
        for name, schema in shown.parameters.get("properties", {}).items()
    ]
    lines = [f"## {builtin.name}", f"{builtin.description}{state}", ASKS[builtin.name]]
    lines += [f"Flags: {', '.join(f'`{flag}`' for flag in flags)}."] if flags else []
    lines.append(_table(("Argument", "Type", "What the model is told"), rows) if rows else "No arguments.")
    return "\n\n".join(lines)


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if kind == "array" and "type" in schema.get("items", {}):
        return f"list of {schema['items']['type']}"
    return str(kind) if kind else json.dumps(sorted({one.get("type", "any") for one in schema.get("anyOf", [])}))


# The chat


def chat() -> str:
    rows = []
    for command in COMMANDS:
        also = f" Also `/{'`, `/'.join(command.aliases)}`." if command.aliases else ""
        rows.append((f"`/{command.name} {command.takes}".strip() + "`", f"{command.help}.{also}"))
    return _page(
        "The chat",
        "After reading this page you know every command and key of the chat that `mm` opens in a terminal.",
        [
            "## Commands",
            _table(("Command", "What it does"), rows),
            "## What a line can start with",
            _table(("Start", "Meaning"), ((f"`{start}`", says) for start, says in STARTS)),
            "## Keys",
            _table(("Key", "What it does"), KEYS),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
