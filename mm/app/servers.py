"""The MCP servers of a run: started when an agent begins, waited for when their tools are first needed."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from mm.config.schema import Config
from mm.interrupt import Interrupt
from mm.tools.catalog import Catalog
from mm.tools.spec import Executor

if TYPE_CHECKING:
    from mm.tools.mcp_servers import Servers

_PREFIX = "mcp__"
_NO_PACKAGE = "The MCP servers are left out: the package `mcp` is missing. Install it with: pip install 'mm-agent[mcp]'"


@dataclass(frozen=True, slots=True)
class ServerLine:
    """One server as a person is shown it. `ok` is False for one that should run and does not."""

    name: str
    where: str
    state: str
    ok: bool
    tools: tuple[tuple[str, str], ...] = ()  # name and description


class McpServers:
    """Without servers in the agent file nothing of this is loaded."""

    def __init__(
        self,
        config: Config,
        cwd: Path,
        *,
        environment: Callable[[], Mapping[str, str]],
        interrupt: Interrupt,
        warn: Callable[[str], None],
        rules: Collection[str],
    ) -> None:
        self.wanted = any(not server.disabled for server in config.mcp_servers)
        self._config = config
        self._cwd = cwd
        self._environment = environment
        self._interrupt = interrupt
        self._warn = warn
        self._rules = [rule for rule in rules if rule.startswith(_PREFIX)]
        self._beginning: threading.Thread | None = None
        self._made: Servers | None = None
        self._missing = False
        self._answered = False
        self._seen: WeakKeyDictionary[Catalog, int] = WeakKeyDictionary()
        self._told: set[str] = set()

    def start(self) -> None:
        """Begin to start them. Does not wait, not even for the SDK to be loaded, which takes about a second."""
        if self.wanted and self._beginning is None:
            self._beginning = threading.Thread(target=self._begin, name="MCP start", daemon=True)
            self._beginning.start()

    def refresh(self, catalog: Catalog) -> None:
        """Bring a catalog up to date with what the servers offer now. Waits for servers that are just starting."""
        if self._beginning is None:
            return
        with self._interrupt.waiting():
            servers = self._begun()
            if servers is None:
                self._tell([_NO_PACKAGE] if self._missing else [])
                return
            servers.wait()
        self._tell(servers.warnings())
        if self._seen.get(catalog) != servers.revision:
            self._seen[catalog] = servers.revision
            for name, tools in servers.tools().items():
                self._tell(catalog.serve(name, tools))
        if not self._answered:
            self._answered = True
            self._check_rules(servers, {tool.name for tool in catalog.tools()})

    def executor(self) -> Executor:
        from mm.tools.mcp import McpExecutor

        servers = self._begun()
        assert servers is not None, "without servers there is no tool to run"
        return McpExecutor(servers)

    def lines(self) -> list[ServerLine]:
        """All servers of the agent file, as they are now."""
        return [self._line(server.name) for server in self._config.mcp_servers]

    def close(self) -> None:
        """End every server, with all that it started."""
        servers = self._begun()
        if servers is not None:
            servers.close()
            self._tell(servers.warnings())

    def _begin(self) -> None:
        try:
            from mm.tools.mcp_servers import Servers
        except ModuleNotFoundError as error:
            self._missing = error.name == "mcp"
            if not self._missing:
                raise
            return
        self._made = Servers(self._config.mcp_servers, self._environment(), self._cwd)
        self._made.start()

    def _begun(self) -> Servers | None:
        """The servers, once they are on their way; None before `start`, and where there is no SDK."""
        if self._beginning is not None:
            self._beginning.join()
        return self._made

    def _tell(self, warnings: Iterable[str]) -> None:
        for warning in warnings:
            if warning not in self._told:
                self._told.add(warning)
                self._warn(warning)

    def _check_rules(self, servers: Servers, names: Collection[str]) -> None:
        """Rules and hooks for MCP tools can be judged only now. Those of a server that is not there are left alone."""
        absent = servers.silent_prefixes()
        for rule in self._rules:
            if rule not in names and not rule.startswith(absent):
                self._tell([f"The rule for `{rule}` has no effect: no MCP server has a tool of that name."])
        if absent:
            return
        for hook in self._config.hooks:
            if _PREFIX in hook.matcher and not any(re.fullmatch(hook.matcher, name) for name in names):
                self._tell([f"{hook.place}: `matcher: {hook.matcher}` fits no tool, so this hook guards nothing."])

    def _line(self, name: str) -> ServerLine:
        from mm.tools.mcp_tools import where

        config = next(server for server in self._config.mcp_servers if server.name == name)
        if config.disabled:
            return ServerLine(name, where(config), "disabled", ok=True)
        servers = self._begun()
        if servers is None:
            return ServerLine(name, where(config), "not started", ok=False)
        server = servers.servers[name]
        state = f"{server.status}: {server.reason}" if server.reason else str(server.status)
        tools = tuple((tool.name, tool.description) for tool in server.tools)
        return ServerLine(name, where(config), state, ok=not server.reason, tools=tools)
