"""What an MCP server says about its tools, made into tools of mm: one that cannot be used costs only itself."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mm.config.addresses import plain_address
from mm.config.schema import McpServer
from mm.messages import JSON
from mm.schemas.repair import BrokenSchemaError, repaired
from mm.schemas.schema import Schema
from mm.tools.masking import mask_secrets
from mm.tools.mcp_names import tool_names
from mm.tools.spec import Kind, Tool


@dataclass(frozen=True, slots=True)
class McpTool:
    """What the executor needs: whose tool it is, what the server calls it, and a digest of all that was said of it."""

    server: str
    name: str
    definition: str


def where(server: McpServer) -> str:
    """How a server is reached, in one line and without the secrets in it."""
    return plain_address(server.url) if server.url else mask_secrets(shlex.join(server.command))


def read_tools(server: McpServer, prefix: str, listed: Sequence[JSON]) -> tuple[list[Tool], list[str]]:
    """The tools of one listing that can be used and are turned on, and a warning for everything else."""
    warnings: list[str] = []
    records: dict[str, Mapping[str, JSON]] = {}
    for record in listed:
        name = record.get("name") if isinstance(record, dict) else None
        if not isinstance(name, str) or not name:
            warnings.append(f"The MCP server `{server.name}` lists a tool without a name; it is left out.")
        elif name in records:
            warnings.append(f"The MCP server `{server.name}` lists `{name}` twice; the first one is used.")
        else:
            records[name] = record
    warnings += _misnamed(server, records)
    names = tool_names(prefix, records)
    tools: list[Tool] = []
    for name, record in records.items():
        if _is_on(server, name):
            tools += _tool(server, names[name], record, warnings)
    return tools, warnings


def _is_on(server: McpServer, name: str) -> bool:
    return name not in server.disabled_tools and (server.enabled_tools is None or name in server.enabled_tools)


def _misnamed(server: McpServer, records: Mapping[str, JSON]) -> Iterator[str]:
    for key, names in (("enabled_tools", server.enabled_tools), ("disabled_tools", server.disabled_tools)):
        for name in sorted((names or frozenset()) - records.keys()):
            offered = ", ".join(records) or "none"
            yield f"`{key}` of the MCP server `{server.name}` names `{name}`, which is not there. It has: {offered}."


def _tool(server: McpServer, name: str, record: Mapping[str, JSON], warnings: list[str]) -> Iterator[Tool]:
    document = record.get("inputSchema")
    try:
        mended, problems = repaired({"type": "object"} if document is None else document)
    except BrokenSchemaError as error:
        warnings.append(f"`{name}` is left out: its schema cannot be used: {error.reason}.")
        return
    warnings += [f"`{name}`: in its schema, {problem}. Any value is accepted there." for problem in problems]
    annotations = record.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    yield Tool(
        name=name,
        kind=Kind.MCP,
        description=_description(record, hints),
        schema=Schema(mended),
        spec=McpTool(server.name, record["name"], _define(server, record)),
        # A hint, believed as far as `readonly` goes: the tool may run beside others and again. It never skips consent.
        readonly=hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True,
        place=server.name,
    )


def _description(record: Mapping[str, JSON], hints: Mapping[str, JSON]) -> str:
    texts = (record.get("description"), record.get("title"), hints.get("title"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _define(server: McpServer, record: Mapping[str, JSON]) -> str:
    """The digest that an "always" is bound to: how the server is reached, and all that it says about the tool."""
    definition = {
        "command": server.command,
        "env": dict(server.env),
        "cwd": str(server.cwd) if server.cwd else "",
        "url": server.url,
        "headers": dict(server.headers),
        "tool": {key: record.get(key) for key in ("name", "title", "description", "inputSchema", "annotations")},
    }
    return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()
