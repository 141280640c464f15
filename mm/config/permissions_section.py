"""Reads `permissions`: a rule that names no tool would guard nothing, so it is an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mm.config import meant
from mm.config.flow import flow_of
from mm.config.keys import PERMISSIONS
from mm.config.near import did_you_mean
from mm.config.nodes import Node, Scalar, SequenceNode, kind_of
from mm.config.reader import Reader
from mm.config.schema import McpServer, Permissions

_MCP = "mcp__"
_ALL = ("*", "all", "any", "true", "yes")


def read_permissions(
    reader: Reader, node: Node | None, known: Iterable[str], servers: Sequence[McpServer]
) -> Permissions:
    """`known` are the names of all tools that may be called; those of MCP servers are checked once they answer."""
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return Permissions()
    if isinstance(node, (SequenceNode, Scalar)):
        names_meant = [flow_of(item) for item in meant.items(node)]
        message = f"`permissions` is {kind_of(node)}, not a mapping: it does not say what is allowed"
        reader.problem(node, message, f"Write `permissions: {{allow: [{', '.join(names_meant)}]}}`.")
        return Permissions()
    fields = reader.fields(node, PERMISSIONS)
    names = tuple(known)
    first: dict[str, str] = {}
    rules: dict[str, list[str]] = {"deny": [], "ask": [], "allow": []}
    for rule in rules:
        written = fields.get(rule)
        if rule == "allow" and isinstance(written, Scalar) and written.text in _ALL:
            message = f"`allow: {written.text}`: a rule names tools, one by one"
            reader.problem(written, message, "Remove it, and write `yolo: true` at the top of the file.")
            continue
        for item in reader.texts(fields.get(rule), rule):
            if item.text.startswith(_MCP):
                _check_server(reader, item, rule, servers)
            elif not check_tool_name(reader, item, rule, names):
                continue
            other = first.setdefault(item.text, rule)
            if other != rule:
                hint = f"Remove it from `{rule}`."
                reader.problem(item, f"`{item.text}` is in `{other}` and in `{rule}`; `{other}` wins", hint)
            rules[rule].append(item.text)
    return Permissions(frozenset(rules["allow"]), frozenset(rules["ask"]), frozenset(rules["deny"]))


def check_tool_name(reader: Reader, item: Scalar, rule: str, known: Sequence[str]) -> bool:
    """Report a name that no tool has."""
    if item.text in known:
        return True
    hint = did_you_mean(item.text, known)
    if not hint and re.search(r"[*()\[\]?.]", item.text):
        hint = "Names stand in full: no patterns, no arguments."
    if rule == "allow" and item.text in _ALL:
        hint = "Remove it, and write `yolo: true` at the top of the file: all tools may run."
    listed = f"Known tools: {', '.join(known)}."
    reader.problem(item, f"`{rule}`: there is no tool `{item.text}`", f"{hint} {listed}".strip())
    return False


def _check_server(reader: Reader, item: Scalar, rule: str, servers: Sequence[McpServer]) -> None:
    name = item.text.removeprefix(_MCP)
    made_legal = [re.sub(r"[^A-Za-z0-9_-]", "_", server.name) for server in servers]
    if not any(name.startswith(f"{server[:20]}") for server in made_legal):
        reader.warn(item, f"`{rule}`: `{item.text}` names no server of `mcpServers`")
