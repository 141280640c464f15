"""Reads `hooks`, and checks that each of them fits a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mm.config.keys import HOOK, HOOKS
from mm.config.nodes import Node, Scalar
from mm.config.reader import Reader, did_you_mean
from mm.config.schema import Hook, HookEvent, OnError
from mm.config.templates import placeholders

_ALL = ".*"
_PLAIN_NAMES = re.compile(r"[A-Za-z0-9_|-]+")


def read_hooks(reader: Reader, node: Node | None, known: Iterable[str], has_servers: bool) -> tuple[Hook, ...]:
    """The hooks of both events, in their order. `known` are the names of all tools that may be called."""
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return ()
    names = tuple(known)
    fields = reader.fields(node, HOOKS)
    return tuple(
        hook
        for event in HookEvent
        for item in reader.items(fields.get(event), event)
        for hook in _hook(reader, item, event, names, has_servers)
    )


def _hook(reader: Reader, node: Node, event: HookEvent, known: tuple[str, ...], has_servers: bool) -> Iterator[Hook]:
    fields = reader.fields(node, HOOK)
    matcher = _matcher(reader, fields.get("matcher"), known, has_servers)
    command = _command(reader, fields.get("command"))
    timeout = reader.seconds(fields.get("timeout"), "timeout", 10.0)
    on_error = reader.choice(fields.get("on_error"), "on_error", OnError, OnError.BLOCK)
    if command:
        yield Hook(event, matcher, command, node.place, timeout, OnError(on_error))


def _command(reader: Reader, node: Node | None) -> tuple[str, ...]:
    if isinstance(node, Scalar) and not node.is_null:
        hint = f"Write each argument as its own entry: command: [{', '.join(node.text.split())}]"
        reader.problem(node, "`command` of a hook must be a list: it is run without a shell", hint)
        return ()
    items = reader.texts(node, "command")
    if node is not None and not items:
        reader.problem(node, "`command` of a hook is empty", "Write the program first: command: [./check.py]")
    for item in items:
        if placeholders(item.text):
            hint = "A hook reads the call as JSON on stdin."
            reader.problem(item, f"`{item.text}`: a hook's command has no placeholders", hint)
    return (reader.program(items[0], "command"), *(item.text for item in items[1:])) if items else ()


def _matcher(reader: Reader, node: Node | None, known: tuple[str, ...], has_servers: bool) -> str:
    if node is None or (isinstance(node, Scalar) and (node.is_null or node.text in ("", "*"))):
        return _ALL
    text = reader.text(node, "matcher", _ALL)
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        reader.problem(node, f"`matcher: {text}` is no regular expression: {error}", "Write `*` for all tools.")
        return _ALL
    # A list of plain names is checked name by name: one that is misspelt would guard nothing.
    parts = text.split("|") if _PLAIN_NAMES.fullmatch(text) else [text]
    for part in parts:
        fits = part in known if len(parts) > 1 else any(pattern.fullmatch(name) for name in known)
        if not fits:
            _fits_nothing(reader, node, part, known, has_servers)
    return text


def _fits_nothing(reader: Reader, node: Node, part: str, known: tuple[str, ...], has_servers: bool) -> None:
    if "mcp__" in part:
        if not has_servers:
            reader.warn(node, f"`matcher: {part}` is for MCP tools, and there are no `mcpServers`")
        return
    hint = did_you_mean(part, known) or f"Known tools: {', '.join(known)}."
    reader.problem(node, f"`matcher: {part}` fits no tool: the whole name must match, in its case", hint)
