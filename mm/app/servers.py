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
from mm.errors import MMError
from mm.interrupt import Interrupt
from mm.tools.catalog import Catalog
from mm.tools.spec import Executor

if TYPE_CHECKING:
    from mm.tools.mcp_servers import Servers

_PREFIX = "mcp__"
_SDK = "mcp>=2,<3"  # as in the extra `mcp`
_INSTALL = "pip install 'mm-agent[mcp]'"


@dataclass(frozen=True, slots=True)
class ServerLine:
    """One server as a person is shown it. `ok` is False for one that should run and does not."""

    name: str
    where: str
    state: str
    ok: bool
    tools: tuple[tuple[str, str], ...] = ()  # name and description


class LazyServers:
    """The `Servers` of a run, loaded and started on a thread of their own; not at all if the agent file names none."""

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
        self.problem: MMError | None = None  # why none of them could be started
        self._config = config
        self._cwd = cwd
        self._environment = environment
        self._interrupt = interrupt
        self._warn = warn
        self._rules = [rule for rule in rules if rule.startswith(_PREFIX)]
        self._starter: threading.Thread | None = None
        self._servers: Servers | None = None
        self._answered = False
        self._seen: WeakKeyDictionary[Catalog, int] = WeakKeyDictionary()
        self._told: set[str] = set()

    def start(self) -> None:
        """Begin to start them. Does not wait, not even for the SDK to be loaded, which takes about a second."""
        if self.wanted and self._starter is None:
            self._starter = threading.Thread(target=self._load_and_start, name="MCP start", daemon=True)
            self._starter.start()

    def refresh(self, catalog: Catalog) -> None:
        """Bring a catalog up to date with what the servers offer now. Waits for servers that are just starting."""
        if self._starter is None:
            return
        with self._interrupt.waiting():
            servers = self._once_loaded()
            if servers is None:
                self._tell([_left_out(self.problem)] if self.problem else [])
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

        servers = self._once_loaded()
        assert servers is not None, "without servers there is no tool to run"
        return McpExecutor(servers)

    def lines(self) -> list[ServerLine]:
        """All servers of the agent file, as they are now."""
        return [self._line(server.name) for server in self._config.mcp_servers]

    def close(self) -> None:
        """End every server, with all that it started."""
        servers = self._once_loaded()
        if servers is not None:
            servers.close()
            self._tell(servers.warnings())

    def _load_and_start(self) -> None:
        """On a thread of its own: what fails here is kept for whoever asks for the tools, and costs only them."""
        try:
            from mm.tools.mcp_servers import Servers
        except Exception as error:  # noqa: BLE001 - another SDK may raise anything while it is loaded
            self.problem = _unusable(error)
            return
        try:
            made = Servers(self._config.mcp_servers, self._environment(), self._cwd)
            made.start()
            self._servers = made
        except Exception as error:  # noqa: BLE001 - as for each server: the run goes on without their tools
            self.problem = MMError(f"They could not be started ({_in_short(error)}).")

    def _once_loaded(self) -> Servers | None:
        """The servers, once they are on their way; None before `start`, and where they could not be."""
        if self._starter is not None:
            self._starter.join()
        return self._servers

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
        servers = self._once_loaded()
        if servers is None:
            return ServerLine(name, where(config), "not started", ok=False)
        server = servers.servers[name]
        state = f"{server.status}: {server.reason}" if server.reason else str(server.status)
        tools = tuple((tool.name, tool.description) for tool in server.tools)
        return ServerLine(name, where(config), state, ok=not server.reason, tools=tools)


def _unusable(error: Exception) -> MMError:
    """Why the SDK could not be loaded; the hint is what installs the right one."""
    if isinstance(error, ModuleNotFoundError) and error.name == "mcp":
        return MMError("The package `mcp` is missing.", _INSTALL)
    version = _installed_version()
    if version and version.partition(".")[0] != "2":
        return MMError(f"mm needs version 2 of the package `mcp`, and {version} is installed.", _INSTALL)
    again = f"pip install --force-reinstall '{_SDK}'"
    return MMError(f"The package `mcp` cannot be loaded ({_in_short(error)}).", again)


def _installed_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to load, and needed for a mistake alone

    try:
        return version("mcp")
    except PackageNotFoundError:
        return ""


def _in_short(error: Exception) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    return text if len(text) <= 200 else text[:199] + "…"


def _left_out(problem: MMError) -> str:
    install = f" Install it with: {problem.hint}" if problem.hint else ""
    return f"The MCP servers are left out. {problem.message}{install}"
