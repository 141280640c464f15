"""Reads `tools`: each entry a command or a wasm module, under a name of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mm.config.command_entry import CommandReader
from mm.config.flow import flow_of
from mm.config.key_reading import with_name
from mm.config.keys import TOOL
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode
from mm.config.parameters import Parameters, read_parameters
from mm.config.reader import Fields, Reader
from mm.config.schema import BUILTIN_NAMES, PLANNED_NAMES, CommandTool, Place, ToolEntry, WasmTool
from mm.config.wasm_entry import WrittenGrant, check_between, read_wasm
from mm.schemas.schema import Schema

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_COMMAND_ONLY = ("stdin", "env", "cwd")
_WASM_ONLY = ("read", "write", "memory")


@dataclass(frozen=True, slots=True)
class Tools:
    """The entries, and every name that an entry (even a broken one) declares."""

    entries: tuple[ToolEntry, ...]
    names: tuple[str, ...]
    grants: tuple[WrittenGrant, ...]


def read_tools(reader: Reader, node: Node | None) -> Tools:
    entries: list[ToolEntry] = []
    grants: list[WrittenGrant] = []
    names: dict[str, Place] = {}
    if isinstance(node, Scalar) and node.text.strip() and not node.is_null:
        found = _of_command(node)
        reader.problem(node, "`tools` must be a list, and this is text", f"Write `tools: [{flow_of(found)}]`.")
        node = SequenceNode(node.place, (found,))
    for written in reader.entries(node, "tools", TOOL):
        item = _unwrapped(reader, written)
        fields = reader.fields(item, TOOL)
        name = _name(reader, fields, names)
        run, parameters, granted = _run(reader, item, fields, name)
        check_between(reader, granted, grants)
        grants += granted
        if run is not None:
            entries.append(_entry(reader, item, fields, name, run, parameters))
    return Tools(tuple(entries), tuple(names), tuple(grants))


def _unwrapped(reader: Reader, item: Node) -> Node:
    """The entry that is meant by `- spend:`, with its keys beneath that or beside it, or by a command alone."""
    if isinstance(item, Scalar) and item.text.strip() and not item.is_null:
        found = _of_command(item)
        reader.problem(item, "a tool entry is text, not a mapping", f"Write `{flow_of(found)}`.")
        return found
    if not isinstance(item, MappingNode) or not item.entries or item.find("name") is not None:
        return item
    first = item.entries[0]
    if TOOL.find(first.key.text) is not None or not is_name(first.key.text):
        return item
    inner, rest = first.value, item.entries[1:]
    is_beside = isinstance(inner, Scalar) and inner.is_null and any(TOOL.find(one.key.text) for one in rest)
    is_beneath = isinstance(inner, MappingNode) and any(TOOL.find(one.key.text) for one in inner.entries)
    if not is_beside and not (is_beneath and not rest):
        return item
    name = first.key.text
    hint = f"Write `- name: {name}`" + (", with its other keys beneath `name`." if is_beneath else ".")
    reader.problem(first.key, f"a tool entry has no key `{name}`", hint)
    return MappingNode(item.place, (*with_name(first).entries, *(rest if is_beside else ())))


def _of_command(text: Scalar) -> MappingNode:
    """The entry whose command is written in one text."""
    words = tuple(Scalar(text.place, word) for word in text.text.split())
    called = suggest_name(words[0].text.rsplit("/", 1)[-1].partition(".")[0])
    values = (("name", Scalar(text.place, called)), ("command", SequenceNode(text.place, words)))
    return MappingNode(text.place, tuple(Entry(Scalar(text.place, key), value) for key, value in values))


def _name(reader: Reader, fields: Fields, names: dict[str, Place]) -> str:
    """The checked name; `names` learns it, so that the next entry of that name is told where this one is."""
    node = fields.get("name")
    name = reader.text(node, "name")
    if not isinstance(node, Scalar) or node.is_null:
        return name
    wrong = name_problem(name)
    if wrong:
        reader.problem(node, *wrong)
    elif name in names:
        hint = "Give one of them another name."
        reader.problem(node, f"`{name}` is declared twice; the first is in line {names[name].line}", hint)
    names.setdefault(name, node.place)
    return name


def is_name(text: str) -> bool:
    """Whether a text has the form of a tool's name."""
    return _NAME.fullmatch(text) is not None


def name_problem(name: str) -> tuple[str, str] | None:
    """Why no tool can be called so, and the edit that mends it; None if one can."""
    if not _NAME.fullmatch(name):
        message = f"`{name[:80]}` cannot be a tool's name: 1 to 64 of letters, digits, `_` and `-`"
        return message, f"Write `{suggest_name(name)}`."
    if name in BUILTIN_NAMES or name in PLANNED_NAMES:
        kind = "a built-in tool" if name in BUILTIN_NAMES else "a built-in tool that is planned"
        return f"`{name}` is the name of {kind}, whether it is on or not", f"Write `my_{name}`."
    return None


def suggest_name(text: str) -> str:
    """A legal tool name that reads like `text`."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[:64] or "my_tool"


def _run(
    reader: Reader, item: Node, fields: Fields, name: str
) -> tuple[CommandTool | WasmTool | None, Parameters, list[WrittenGrant]]:
    parameters = read_parameters(reader, fields.get("parameters"))
    command, wasm = "command" in fields, "wasm" in fields
    called = f"the tool `{name}`" if name else "this tool"
    if command == wasm:
        if fields:
            which = "both `command` and `wasm`" if command else "neither `command` nor `wasm`"
            hint = (
                f"Remove `{_less_likely(fields)}`."
                if command
                else "Add `command: [./script.sh]`, or `wasm: tool.wasm`."
            )
            reader.problem(item, f"{called} has {which}", hint)
        return None, parameters, []
    for key in _WASM_ONLY if command else _COMMAND_ONLY:
        if key in fields:
            owner = "wasm" if command else "command"
            reader.problem(fields[key], f"`{key}` belongs to a tool with `{owner}`", f"Remove `{key}`.")
    if command:
        reading = CommandReader(reader, parameters.types, parameters.places, any_name=parameters.unreadable)
        return reading.read(fields, parameters.allow_dash), parameters, []
    tool, grants = read_wasm(reader, fields)
    return tool, parameters, grants


def _less_likely(fields: Fields) -> str:
    """Which of `command` and `wasm` to remove: `wasm`, unless it names a module."""
    node = fields["wasm"]
    return "command" if isinstance(node, Scalar) and node.text.endswith(".wasm") else "wasm"


def _entry(
    reader: Reader, item: Node, fields: Fields, name: str, run: CommandTool | WasmTool, parameters: Parameters
) -> ToolEntry:
    readonly = reader.boolean(fields.get("readonly"), "readonly")
    writes = isinstance(run, WasmTool) and any(grant.writable for grant in run.grants)
    if readonly and writes:
        hint = "Remove `readonly: true`, or grant the folder under `read`."
        reader.problem(fields["readonly"], f"`{name}` may write, so it is not `readonly`", hint)
    return ToolEntry(
        name=name,
        description=reader.text(fields.get("description"), "description").strip(),
        schema=Schema(parameters.document),
        run=run,
        place=item.place,
        places={**{key: node.place for key, node in fields.items()}, **parameters.dotted_places},
        no_parameters=parameters.absent,
        final=reader.boolean(fields.get("final"), "final"),
        repeat=reader.boolean(fields.get("repeat"), "repeat"),
        # A module without a folder to write in can have no effect on the world.
        readonly=readonly or (isinstance(run, WasmTool) and not writes and "readonly" not in fields),
    )
