"""What is likely to go wrong with the tools of a file that loads: for `mm tools check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mm.config.argv_findings import look_at_code, look_at_dashes, look_at_literals, look_at_options
from mm.config.program_findings import InspectModule, Words, look_at_module, look_at_program
from mm.config.schema import BUILTIN_NAMES, CommandTool, Config, Place, ToolEntry, WasmTool
from mm.messages import JSON
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


def findings(config: Config, *, inspect_module: InspectModule | None = None, path: str | None = None) -> list[Finding]:
    """Everything found, in the order of the file. `path` is where programs are looked for, else PATH.

    Without `inspect_module`, a module is only looked at from outside.
    """
    found = [finding for entry in config.tools for finding in _of_tool(entry, inspect_module, path)]
    found += _of_hooks(config, path)
    found += _of_servers(config, path)
    found += _near_names(config.tools)
    return sorted(found, key=lambda finding: (finding.place.line, finding.place.column))


def _of_tool(entry: ToolEntry, inspect: InspectModule | None, path: str | None) -> Iterator[Finding]:
    for severity, (message, hint) in _words(entry, inspect, path):
        yield Finding(entry.place, severity, f"`{entry.name}`: {message}", hint)


def _words(entry: ToolEntry, inspect: InspectModule | None, path: str | None) -> Iterator[tuple[Severity, Words]]:
    run = entry.run
    looks: list[tuple[Severity, Iterator[Words]]] = [
        (Severity.WARNING, _description(entry)),
        (Severity.WARNING, _parameters(entry.schema.document)),
    ]
    if isinstance(run, WasmTool):
        looks.append((Severity.ERROR, look_at_module(run, inspect)))
    else:
        looks += [
            (Severity.ERROR, look_at_program(run, path)),
            (Severity.WARNING, look_at_code(run)),
            (Severity.HINT, look_at_dashes(entry)),
            (Severity.WARNING, look_at_options(entry)),
            (Severity.WARNING, look_at_literals(run)),
        ]
    for severity, look in looks:
        yield from ((severity, words) for words in look)


def _description(entry: ToolEntry) -> Iterator[Words]:
    if not entry.description:
        yield "there is no description; the model has only the name to go by", "Add `description:`, one sentence."
    elif len(entry.description.split()) < 3:
        hint = "Say what it does to what, and when to use it."
        yield f"the description `{entry.description}` says little more than the name", hint


def _parameters(document: JSON) -> Iterator[Words]:
    properties = document.get("properties", {}) if isinstance(document, dict) else {}
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict) and not schema.get("description") and "$ref" not in schema:
            hint = f'Add `description:` to `{name}`, with an example: "Version number, such as 1.4.2".'
            yield f"the parameter `{name}` has no description", hint


def _of_hooks(config: Config, path: str | None) -> Iterator[Finding]:
    for hook in config.hooks:
        for message, hint in look_at_program(CommandTool(hook.command[0], ()), path):
            yield Finding(hook.place, Severity.ERROR, f"a hook: {message}", hint)


def _of_servers(config: Config, path: str | None) -> Iterator[Finding]:
    for server in config.mcp_servers:
        if server.command and not server.disabled:
            for message, hint in look_at_program(CommandTool(server.command[0], (), cwd=server.cwd), path):
                yield Finding(server.place, Severity.WARNING, f"the MCP server `{server.name}`: {message}", hint)


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
