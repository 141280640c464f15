"""Reads `mcpServers`, in the shape that other clients use."""

from __future__ import annotations

from collections.abc import Iterator

from mm.config import meant
from mm.config.flow import flow, flow_of
from mm.config.keys import SERVER
from mm.config.model_section import read_url
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode
from mm.config.reader import Fields, Reader
from mm.config.schema import McpServer
from mm.config.templates import placeholders

_HTTP = ("http", "streamable-http", "streamableHttp")
_SSE = "SSE was replaced in the protocol by streamable HTTP, and mm speaks only that: use the server's `http` address."


def read_servers(reader: Reader, node: Node | None) -> tuple[McpServer, ...]:
    """All servers, disabled ones too."""
    written = _by_name(reader, node)
    return tuple(
        server
        for name, value in reader.mapping(written, "mcpServers").items()
        for server in _server(reader, name, value)
    )


def _by_name(reader: Reader, node: Node | None) -> Node | None:
    """A list of servers that say their own names, or one server without a name, as servers by name."""
    if isinstance(node, MappingNode) and any(isinstance(node.find(key), Scalar) for key in ("command", "url")):
        first = node.entries[0].key
        hint = "Write a name above them, such as `files:`, and indent its keys under that."
        reader.problem(first, "`mcpServers` holds servers by name, and this is one without a name", hint)
        return MappingNode(node.place, (Entry(Scalar(node.place, "files"), node),))
    found = meant.named(node, "name") if isinstance(node, SequenceNode) else None
    if node is None or found is None:
        return node
    name = found.entries[0].key.text
    hint = f"Write each under its name: `{flow(name)}:` in place of `- name: {flow(name)}`, its other keys beneath it."
    reader.problem(node, "`mcpServers` must be a mapping, and this is a list", hint)
    return found


def _server(reader: Reader, name: str, node: Node) -> Iterator[McpServer]:
    if not name.strip() or len(name) > 64 or not name.isprintable():
        reader.problem(node, f"{name!r} cannot be the name of a server", "Use up to 64 letters, digits, `-` and `_`.")
    node = _in_words(reader, name, node)
    fields = reader.fields(node, SERVER)
    if not isinstance(node, MappingNode):
        return
    _check_kind(reader, name, node, fields)
    env, _ = reader.expanded_map(fields.get("env"), "env")
    headers, _ = reader.expanded_map(fields.get("headers"), "headers")
    enabled = reader.boolean(fields.get("enabled"), "enabled", True)
    only = reader.texts(fields.get("enabled_tools"), "enabled_tools")
    yield McpServer(
        name=name,
        place=node.place,
        command=_command(reader, fields),
        env=env,
        cwd=reader.path(fields.get("cwd"), "cwd"),
        cwd_place=fields["cwd"].place if "cwd" in fields else None,
        url=read_url(reader, fields.get("url"), "url") or "",
        headers=headers,
        disabled=reader.boolean(fields.get("disabled"), "disabled") or not enabled,
        enabled_tools=frozenset(item.text for item in only) if "enabled_tools" in fields else None,
        disabled_tools=frozenset(item.text for item in reader.texts(fields.get("disabled_tools"), "disabled_tools")),
        start_timeout=reader.seconds(fields.get("start_timeout"), "start_timeout", 20.0),
        timeout=reader.seconds(fields.get("timeout"), "timeout", 120.0),
    )


def _in_words(reader: Reader, name: str, node: Node) -> Node:
    """The server that is meant by its address or its command alone."""
    if not isinstance(node, Scalar) or not node.text.strip() or node.is_null:
        return node
    first, *rest = node.text.split()
    values: list[tuple[str, Node]] = [("url" if "://" in first else "command", Scalar(node.place, first))]
    if rest:
        values.append(("args", SequenceNode(node.place, tuple(Scalar(node.place, word) for word in rest))))
    found = MappingNode(node.place, tuple(Entry(Scalar(node.place, key), value) for key, value in values))
    reader.problem(node, "an MCP server is text, not a mapping", f"Write `{flow(name)}: {flow_of(found)}`.")
    return found


def _check_kind(reader: Reader, name: str, node: Node, fields: Fields) -> None:
    """Exactly one of `command` and `url`, each with its own keys, and a `type` that agrees."""
    stdio, http = "command" in fields, "url" in fields
    if stdio == http:
        which = "both `command` and `url`" if stdio else "neither `command` nor `url`"
        reader.problem(node, f"the MCP server `{name}` has {which}", "Give it one: a program, or an address.")
    if http and isinstance(fields["url"], Scalar) and not fields["url"].text:
        reader.problem(fields["url"], "`url` is empty", "Write it as `url: https://host/path`.")
    for key in ("args", "env", "cwd") if http and not stdio else ("headers",) if stdio and not http else ():
        if key in fields:
            owner = "command" if http else "url"
            reader.problem(fields[key], f"`{key}` belongs to a server with `{owner}`", f"Remove `{key}`.")
    if "type" not in fields:
        return
    kind = reader.text(fields["type"], "type")
    if kind == "sse":
        reader.problem(fields["type"], "`type: sse` is not supported", _SSE)
    elif kind not in ("stdio", *_HTTP):
        reader.problem(fields["type"], f"`type: {kind}` is not known", f"Write `type: {'http' if http else 'stdio'}`.")
    elif (kind == "stdio") != stdio and stdio != http:
        right = "stdio" if stdio else "http"
        reader.problem(fields["type"], f"`type: {kind}` does not fit", f"Write `type: {right}`, or remove it.")


def _command(reader: Reader, fields: Fields) -> tuple[str, ...]:
    node = fields.get("command")
    if node is None:
        if "args" in fields and "url" not in fields:
            reader.texts(fields["args"], "args")
        return ()
    if isinstance(node, SequenceNode):
        words = [item.text for item in node.items if isinstance(item, Scalar)]
        hint = f"Write `command: {words[0] if words else 'program'}` and `args: [{', '.join(map(flow, words[1:]))}]`."
        reader.problem(node, "`command` of an MCP server is one program; its arguments stand in `args`", hint)
        return ()
    reader.text(node, "command")
    if not isinstance(node, Scalar) or node.is_null:
        return ()
    arguments = reader.texts(fields.get("args"), "args")
    if " " in node.text and "/" not in node.text.split(" ")[0]:
        first, *words = node.text.split()
        given = ", ".join([*map(flow, words), *map(flow_of, arguments)])
        hint = f"Write `command: {flow(first)}` and `args: [{given}]`."
        reader.problem(node, "`command` of an MCP server is one program, and is not split", hint)
        node = Scalar(node.place, first)
    for item in arguments:
        if "${" in item.text:
            reader.warn(item, "variables are not expanded in `args`; hand them over in `env`")
        if placeholders(item.text):
            reader.problem(item, f"`{item.text}`: `args` has no placeholders", "Placeholders are for `tools:`.")
    return (reader.program(node, "command"), *(item.text for item in arguments))
