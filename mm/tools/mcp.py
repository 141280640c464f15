"""Runs tools of MCP servers. Their calls went the whole journey before: a server only ever sees checked arguments."""

from __future__ import annotations

import json

from mm.tools.mcp_servers import Servers
from mm.tools.mcp_tools import McpTool, where
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown, Tool


class McpExecutor:
    """`servers` are started by whoever offers their tools."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def plan(self, tool: Tool, arguments: Arguments) -> Plan:
        spec = _spec(tool)
        server = f"{spec.server}: {where(self._servers.servers[spec.server].config)}"
        shown = (
            Shown("server", Look.TEXT, (server,)),
            Shown("tool", Look.TEXT, (spec.name,)),
            Shown("arguments", Look.TEXT, tuple(_lines(arguments))),
        )
        return Plan(what=spec, shown=shown, definition=spec.definition, covers=f"{server}; {spec.name}")

    def run(self, call: ApprovedCall, run: Run) -> Output:
        spec = call.plan.what
        assert isinstance(spec, McpTool)
        return self._servers.call(spec, call.arguments, run)


def _lines(arguments: Arguments) -> list[str]:
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()] or ["(none)"]


def _spec(tool: Tool) -> McpTool:
    assert isinstance(tool.spec, McpTool)
    return tool.spec
