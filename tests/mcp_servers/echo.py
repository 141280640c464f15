"""A server written with the official SDK, over stdio, or over HTTP with `http` (or `json`) in argv: prints its port.

`echo` gives back its arguments; the other tools do what a test needs: fail, take long, change the list of tools.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[Any]
TOOLS = ["echo", "fail", "slow", "grow", "structured", "picture", "nothing"]


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """One tool a page."""
    number = int(params.cursor) if params is not None and params.cursor else 0
    name = TOOLS[number]
    tool = types.Tool(
        name=name,
        description=f"The tool {name} of a test.",
        input_schema={"type": "object"},
        annotations=types.ToolAnnotations(read_only_hint=True) if name == "echo" else None,
    )
    more = str(number + 1) if number + 1 < len(TOOLS) else None
    return types.ListToolsResult(tools=[tool], next_cursor=more)


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    if params.name == "echo":
        return _text(json.dumps(given))
    if params.name == "fail":
        return types.CallToolResult(content=[types.TextContent(type="text", text="no luck")], is_error=True)
    if params.name == "slow":
        await context.session.report_progress(1, 2, "half way")
        await anyio.sleep(60)
    if params.name == "grow":
        TOOLS.append(str(given["called"]))
        await context.session.send_tool_list_changed()
        return _text("grown")
    if params.name == "structured":
        return types.CallToolResult(content=[], structured_content={"answer": 42})
    if params.name == "picture":
        return types.CallToolResult(content=[types.ImageContent(type="image", data="AAAA", mime_type="image/png")])
    return types.CallToolResult(content=[])


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


SERVER = Server("echo", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    options = SERVER.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (incoming, outgoing):
        await SERVER.run(incoming, outgoing, options)


def over_http() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = SERVER.streamable_http_app(json_response="json" in sys.argv)
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        over_http()
    else:
        anyio.run(over_stdio)
