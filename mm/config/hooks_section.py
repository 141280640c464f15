"""Reads `hooks`, and checks that each of them fits a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mm.config.flow import flow, flow_of, quoted
from mm.config.keys import HOOK, HOOKS
from mm.config.near import did_you_mean
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode
from mm.config.reader import Fields, Reader
from mm.config.schema import Hook, HookEvent, OnError
from mm.config.templates import placeholders

_ALL = ".*"
_ON_ERROR = {
    **dict.fromkeys(("ignore", "continue", "pass", "warn", "skip", "open", "ok", "true", "yes"), "allow"),
    **dict.fromkeys(("fail", "deny", "stop", "abort", "refuse", "error", "closed", "false", "no"), "block"),
}
_PLAIN_NAMES = re.compile(r"[A-Za-z0-9_|-]+")


def read_hooks(reader: Reader, node: Node | None, known: Iterable[str], has_servers: bool) -> tuple[Hook, ...]:
    """The hooks of both events, in their order. `known` are the names of all tools that may be called."""
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return ()
    names = tuple(known)
    fields = _events(reader, node)
    return tuple(
        hook
        for event in HookEvent
        for item in _entries(reader, fields.get(event), event)
        for hook in _hook(reader, item, event, names, has_servers)
    )


def _events(reader: Reader, node: Node) -> Fields:
    """The lists of both events. A list that names no event is read as one of hooks before a call."""
    if not isinstance(node, SequenceNode):
        return reader.fields(node, HOOKS)
    event = HookEvent.BEFORE
    message = "`hooks` is a list, not a mapping: it does not say when they run"
    reader.problem(node, message, f"Write `hooks: {{{event}: {flow_of(node)}}}`.")
    return {event: node}


def _entries(reader: Reader, node: Node | None, event: HookEvent) -> tuple[Node, ...]:
    """The hooks of an event; a command alone, as a text or as a list of texts, is read as one hook."""
    words = node.items if isinstance(node, SequenceNode) else () if node is None else (node,)
    texts = [word for word in words if isinstance(word, Scalar) and not word.is_null]
    if node is None or not texts or len(texts) < len(words):
        return reader.entries(node, event, HOOK)
    is_one = isinstance(node, Scalar) or any(word.text.startswith("-") for word in texts)
    commands = [tuple(texts)] if is_one else [(word,) for word in texts]
    shown = ", ".join(f"{{command: [{', '.join(_split(command))}]}}" for command in commands)
    reader.problem(node, "a hook is text, not a mapping", f"Write `{event}: [{shown}]`.")
    return tuple(
        MappingNode(node.place, (Entry(Scalar(node.place, "command"), SequenceNode(node.place, command)),))
        for command in (
            [tuple(Scalar(word.place, piece) for word in each for piece in word.text.split()) for each in commands]
        )
    )


def _split(command: Iterable[Scalar]) -> list[str]:
    return [flow(piece) for word in command for piece in word.text.split()]


def _hook(reader: Reader, node: Node, event: HookEvent, known: tuple[str, ...], has_servers: bool) -> Iterator[Hook]:
    fields = reader.fields(_unwrapped(reader, node), HOOK)
    matcher = _matcher(reader, fields.get("matcher"), known, has_servers)
    command = _command(reader, fields.get("command"))
    timeout = reader.seconds(fields.get("timeout"), "timeout", 10.0)
    on_error = reader.choice(
        fields.get("on_error"),
        "on_error",
        OnError,
        OnError.BLOCK,
        choices_meant=_ON_ERROR,
        otherwise="Write `on_error: block`.",
    )
    if command:
        yield Hook(event, matcher, command, node.place, timeout, OnError(on_error))


def _unwrapped(reader: Reader, node: Node) -> Node:
    """The hook that is meant by `{matcher: …, hooks: [{type: command, command: …}]}`, as other programs write it."""
    inner = node.find("hooks") if isinstance(node, MappingNode) else None
    first = inner.items[0] if isinstance(inner, SequenceNode) and inner.items else None
    if not isinstance(node, MappingNode) or not isinstance(first, MappingNode):
        return node
    kept = [entry for entry in node.entries if entry.key.text != "hooks"]
    for entry in first.entries:
        if isinstance(entry.value, Scalar) and entry.key.text == "command":
            words = tuple(Scalar(entry.value.place, word) for word in entry.value.text.split())
            kept.append(Entry(entry.key, SequenceNode(entry.value.place, words)))
        elif entry.key.text != "type":
            kept.append(entry)
    found = MappingNode(node.place, tuple(kept))
    key = next(entry.key for entry in node.entries if entry.key.text == "hooks")
    reader.problem(key, "a hook has no key `hooks`: it stands in the list itself", f"Write `{flow_of(found)}`.")
    return found


def _command(reader: Reader, node: Node | None) -> tuple[str, ...]:
    if isinstance(node, Scalar) and not node.is_null:
        words = tuple(Scalar(node.place, word) for word in node.text.split())
        hint = f"Write each argument as its own entry: command: [{', '.join(map(flow_of, words))}]"
        reader.problem(node, "`command` of a hook must be a list: it is run without a shell", hint)
        node = SequenceNode(node.place, words) if words else None
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
    if isinstance(node, SequenceNode) and all(isinstance(item, Scalar) for item in node.items):
        names = "|".join(item.text for item in node.items if isinstance(item, Scalar)) or "*"
        reader.problem(node, "`matcher` must be text, and this is a list", f"Write `matcher: {quoted(names)}`.")
        return _ALL
    text = reader.text(node, "matcher", _ALL)
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        hint = "Write `*` for all tools, or their names with `|` between them."
        reader.problem(node, f"`matcher: {text}` is no regular expression: {error}", hint)
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
    pieces = re.split(r"[\s,;]+", part.strip())
    if len(pieces) > 1 and all(piece in known for piece in pieces):
        hint = f"Write `matcher: {quoted('|'.join(pieces))}`."
    elif "*" in part and any(_fits(part.replace("*", ".*"), name) for name in known):
        hint = f"Write `matcher: {quoted(part.replace('*', '.*'))}`."
    reader.problem(node, f"`matcher: {part}` fits no tool: the whole name must match, in its case", hint)


def _fits(pattern: str, name: str) -> bool:
    try:
        return re.fullmatch(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False
