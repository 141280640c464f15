"""Offers the command tools of an agent file over MCP (streamable HTTP on loopback), as a server written by hand would.

python benchmarks/mcp_stand_in.py FILE      prints its port, and serves until it is killed
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from mm.config.load import load
from mm.tools.catalog import declared
from mm.tools.command import CommandExecutor
from mm.tools.spec import ApprovedCall, Run

Context = ServerRequestContext[Any]
TOOLS = {entry.name: declared(entry) for entry in load(Path(sys.argv[1]).absolute(), environ=os.environ).tools}
EXECUTOR = CommandExecutor(os.environ, Path.cwd())
RUN = Run(threading.Event(), Path(tempfile.gettempdir()))


async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """The same names, descriptions and schemas as the agent file has."""
    tools = [
        types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.schema.document))
        for tool in TOOLS.values()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    tool, given = TOOLS[params.name], params.arguments or {}
    output = EXECUTOR.run(ApprovedCall("1", tool, given, EXECUTOR.plan(tool, given)), RUN)
    text = (output.stdout.head + output.stderr.head).decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=output.exit_code != 0)


if __name__ == "__main__":
    server = Server("actions", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="critical")).run(sockets=[listening])
