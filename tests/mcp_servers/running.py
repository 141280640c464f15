"""Starts MCP servers for a test, and ends them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mm.config.schema import McpServer, Place
from mm.tools.mcp_servers import Servers
from mm.tools.mcp_tools import McpTool
from mm.tools.spec import Output, Run, Tool

HERE = Path(__file__).parent
PLACE = Place(Path("agent.yaml"), 1, 1)


def raw(**plan: Any) -> tuple[str, ...]:
    """The command line of the server that speaks by hand."""
    return (sys.executable, "-S", str(HERE / "raw.py"), json.dumps(plan))


def stdio(name: str, command: tuple[str, ...], **rest: Any) -> McpServer:
    return McpServer(name, PLACE, command=command, **{"start_timeout": 30.0, **rest})


def http(name: str, url: str, **rest: Any) -> McpServer:
    return McpServer(name, PLACE, url=url, **{"start_timeout": 30.0, **rest})


@contextmanager
def started(*configs: McpServer, **environment: str) -> Iterator[Servers]:
    """Servers that have answered, or were given up."""
    servers = Servers(configs, {"PATH": os.environ["PATH"], **environment}, Path.cwd())
    servers.start()
    try:
        servers.wait()
        yield servers
    finally:
        servers.close()


def tools(servers: Servers) -> dict[str, Tool]:
    """The tools of all servers by the name that the model sees."""
    return {tool.name: tool for offered in servers.tools().values() for tool in offered}


def call(servers: Servers, name: str, arguments: Any = None, stop: threading.Event | None = None) -> Output:
    """Call a tool past the journey, with arguments as they are."""
    spec = tools(servers)[name].spec
    assert isinstance(spec, McpTool)
    return servers.call(spec, arguments or {}, Run(stop or threading.Event(), Path.cwd()))


def text(output: Output) -> str:
    return output.stdout.head.decode()


def until_changed(servers: Servers, revision: int, name: str) -> None:
    """Make calls until the servers' tools are others than at `revision`."""
    for _ in range(1000):
        call(servers, name)
        if servers.revision > revision:
            return
    raise AssertionError("the tools did not change")


def is_alive(pid: int) -> bool:
    """Whether a process still runs; what only waits to be reaped does not count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
