"""What is likely to go wrong with the tools of a file that loads: for `mm tools check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mm.config.argv_findings import look_at_blanks, look_at_dashes, look_at_literals, look_at_options, look_at_order
from mm.config.code_findings import look_at_code
from mm.config.program_findings import (
    InspectModule,
    Words,
    at,
    look_at_command,
    look_at_cwd,
    look_at_module,
    look_at_program,
)
from mm.config.schema import BUILTIN_NAMES, CommandTool, Config, Place, ToolEntry, WasmTool
from mm.config.script_findings import look_at_hook_script, look_at_script, look_at_server_script
from mm.visible import make_visible_line


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"  # fine as it is, and worth knowing


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend, or to think about."""

    place: Place
    severity: Severity
    message: str
    hint: str = ""

    def __str__(self) -> str:
        first = f"{self.place}: {self.severity}: {make_visible_line(self.message)}"
        return f"{first}\n  {make_visible_line(self.hint)}" if self.hint else first


def findings(
    config: Config,
    *,
    inspect_module: InspectModule | None = None,
    path: str | None = None,
    beside: Sequence[Place] = (),
) -> list[Finding]:
    """Everything found, in the order of the file. `path` is where programs are looked for, else PATH; an entry's own
    PATH comes before both.

    Without `inspect_module`, a module is only looked at from outside. `beside` are the places of problems: what is
    found at the same place would say the same thing twice, and hints can wait.
    """
    found = [finding for entry in config.tools for finding in _of_tool(entry, inspect_module, path, config.folder)]
    found += _of_hooks(config, path)
    found += _of_servers(config, path)
    found += _near_names(config.tools)
    found += [*_dashes(config.tools), *_unfinished(config)]
    if beside:
        wrong = set(beside)
        found = [one for one in found if one.severity is not Severity.HINT and one.place not in wrong]
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.column))


def _of_tool(entry: ToolEntry, inspect: InspectModule | None, path: str | None, folder: Path) -> Iterator[Finding]:
    for severity, words in _words(entry, inspect, path, folder):
        yield Finding(words.place or entry.place, severity, f"`{entry.name}`: {words.message}", words.hint)


def _words(
    entry: ToolEntry, inspect: InspectModule | None, path: str | None, folder: Path
) -> Iterator[tuple[Severity, Words]]:
    run, places = entry.run, entry.places
    looks: list[tuple[Severity, Iterator[Words]]] = [
        (Severity.WARNING, at(places.get("description"), _description(entry))),
        (Severity.WARNING, _parameters(entry)),
    ]
    if isinstance(run, WasmTool):
        looks.append((Severity.ERROR, at(places.get("wasm"), look_at_module(run, inspect, folder))))
    else:
        looks += [
            (Severity.ERROR, at(places.get("cwd"), look_at_cwd(run.cwd))),
            (Severity.ERROR, at(places.get("command"), look_at_command(run, run.env.get("PATH", path), folder))),
            (Severity.WARNING, look_at_script(run, folder)),
            (Severity.WARNING, at(places.get("command"), look_at_code(entry))),
            (Severity.WARNING, look_at_options(entry)),
            (Severity.WARNING, look_at_order(entry)),
            (Severity.WARNING, at(places.get("command"), look_at_blanks(run))),
            (Severity.WARNING, at(places.get("command"), look_at_literals(entry))),
            (Severity.WARNING, _stdin(entry, run)),
        ]
    for severity, look in looks:
        yield from ((severity, words) for words in look)


def _description(entry: ToolEntry) -> Iterator[Words]:
    if not entry.description and "description" in entry.places:
        message = "the description is empty; the model has only the name to go by"
        yield Words(message, 'Write `description: "…"`: one sentence, what it does and when to use it.')
    elif not entry.description:
        message = "there is no description; the model has only the name to go by"
        yield Words(message, "Add `description:`, one sentence.", entry.place)
    elif len(entry.description.split()) < 3:
        hint = "Say what it does to what, and when to use it."
        yield Words(f"the description `{entry.description}` says little more than the name", hint)


def _parameters(entry: ToolEntry) -> Iterator[Words]:
    document = entry.schema.document
    properties = document.get("properties", {}) if isinstance(document, dict) else {}
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict) and not schema.get("description") and "$ref" not in schema:
            hint = f'Add `description:` to `{name}`, with an example: "Version number, such as 1.4.2".'
            yield Words(f"the parameter `{name}` has no description", hint, entry.places.get(f"parameters.{name}"))


def _stdin(entry: ToolEntry, run: CommandTool) -> Iterator[Words]:
    """A template that hands over no value: the program reads the same text at each call."""
    if run.stdin is not None and not run.stdin.slots:
        hint = 'Write `stdin: json` for all arguments, or a template such as "{{text}}"; else move it into a script.'
        yield Words("`stdin` holds no placeholder: the program reads the same text at each call", hint, run.stdin.place)


def _of_hooks(config: Config, path: str | None) -> Iterator[Finding]:
    for hook in config.hooks:
        for words in look_at_program(CommandTool(hook.command[0], ()), path, config.folder):
            yield Finding(hook.place, Severity.ERROR, f"a hook: {words.message}", words.hint)
        for words in look_at_hook_script(hook, config.folder):
            yield Finding(hook.place, Severity.WARNING, f"a hook: {words.message}", words.hint)


def _of_servers(config: Config, path: str | None) -> Iterator[Finding]:
    for server in config.mcp_servers:
        if server.command and not server.disabled:
            missing = at(server.cwd_place, look_at_cwd(server.cwd))
            tool = CommandTool(server.command[0], (), cwd=server.cwd)
            found = look_at_program(tool, server.env.get("PATH", path), config.folder)
            for words in (*missing, *found, *look_at_server_script(server, config.folder)):
                message = f"the MCP server `{server.name}`: {words.message}"
                yield Finding(words.place or server.place, Severity.WARNING, message, words.hint)


def _dashes(entries: Iterable[ToolEntry]) -> Iterator[Finding]:
    """One hint a file: where it says something, it says it of all tools."""
    found = [(entry, words) for entry in entries for words in look_at_dashes(entry)]
    for entry, words in found[:1]:
        others = ", ".join(f"`{other.name}`" for other, _ in found[1:])
        message = f"`{entry.name}`: {words.message}" + (f"; likewise in {others}" if others else "")
        yield Finding(words.place or entry.place, Severity.HINT, message, words.hint)


def _unfinished(config: Config) -> Iterator[Finding]:
    """One hint a file that names a model inside mm: `final` saves it a round. Nothing where the author knows of it.

    A file without a model is any new one, and for any model: there it would be noise.
    """
    is_known = any("final" in entry.places for entry in config.tools)
    if config.model is None or config.model.provider != "local" or is_known:
        return
    for entry in config.tools[:1]:
        hint = "Write `final: true` where the output is the answer: the turn ends with it, which saves a round."
        message = f"`{entry.name}`: a small model is asked once more after the call"
        yield Finding(entry.place, Severity.HINT, message, hint)


def _near_names(entries: Iterable[ToolEntry]) -> Iterator[Finding]:
    """Names that a model which writes `Read-File` for `read_file` could mix up."""
    seen: dict[str, Sequence[str]] = {_folded(name): (name, "the built-in tool") for name in BUILTIN_NAMES}
    for entry in entries:
        other = seen.setdefault(_folded(entry.name), (entry.name, f"the tool in line {entry.place.line}"))
        if other[0] != entry.name:
            message = f"`{entry.name}` differs from `{other[0]}`, {other[1]}, only in case, `-` or `_`"
            yield Finding(entry.place, Severity.WARNING, message, "Give it a name that cannot be mixed up.")


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
