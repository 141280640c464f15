"""All MCP servers of a run, and the thread in which the SDK's loop lives: everything outside of it is synchronous."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import queue
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mm.config.schema import McpServer
from mm.messages import Outcome
from mm.tools.mcp_http import HttpLink
from mm.tools.mcp_link import Link, ServerError
from mm.tools.mcp_names import server_prefixes
from mm.tools.mcp_results import as_output
from mm.tools.mcp_server import Server, words
from mm.tools.mcp_stdio import ProcessLink
from mm.tools.mcp_tools import McpTool
from mm.tools.spec import Arguments, Output, Run, Tool

T = TypeVar("T")

_LOOK = 0.1  # seconds between two looks at the stop event
_SPARE = 30.0  # seconds over all limits of the server, after which mm no longer believes its own loop
_SETTLE = 2.0  # seconds that a request to the model waits for a server that lists its tools again
_END = 12.0  # seconds for all servers to end
_TALKATIVE = ("mcp", "client", "httpx2", "httpcore2", "asyncio")


class Servers:
    """The servers that are not disabled. None is started before `start`.

    `revision` grows with every change of any server's tools.
    """

    def __init__(self, configs: Sequence[McpServer], environment: Mapping[str, str], cwd: Path) -> None:
        self.revision = 0
        self._environment = environment
        self._cwd = cwd
        self._warnings: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="MCP", daemon=True)
        self._prefixes = prefixes = server_prefixes(config.name for config in configs)
        self.servers = {
            config.name: Server(
                config, prefixes[config.name], self._linker(config), warn=self._warnings.put, changed=self._count
            )
            for config in configs
            if not config.disabled
        }
        self._started: concurrent.futures.Future[None] | None = None

    def start(self) -> None:
        """Begin to start all servers, side by side. Does not wait."""
        if self._started is None:
            _hush()
            self._thread.start()
            self._started = self._submit(self._start_all())

    def wait(self) -> None:
        """Wait until each server has answered, or its time to start is over.

        Later also for a server that has just said that its tools have changed, but not for long.
        """
        assert self._started is not None, "started before it is waited for"
        self._started.result()
        self._submit(self._settle()).result()

    def warnings(self) -> list[str]:
        """What the user should be told since the last time."""
        found = []
        while not self._warnings.empty():
            found.append(self._warnings.get())
        return found

    def tools(self) -> dict[str, tuple[Tool, ...]]:
        """The tools of each server, as they are now."""
        return {name: server.tools for name, server in self.servers.items()}

    def silent_prefixes(self) -> tuple[str, ...]:
        """What the names of tools begin with whose server did not start."""
        return tuple(self._prefixes[name] for name, server in self.servers.items() if server.reason)

    def call(self, tool: McpTool, arguments: Arguments, run: Run) -> Output:
        """Call a tool and wait for its end, its time limit, or `run.stop`. Never raises for what the server does."""
        server = self.servers[tool.server]
        future = self._submit(server.call(tool, arguments, run.watch))
        limit = server.config.timeout
        try:
            return as_output(tool.server, self._await(future, run.stop, 2 * (limit + server.config.start_timeout)))
        except TimeoutError:
            return Output(Outcome.TIMED_OUT, note=f"stopped: the MCP server did not answer within {limit:g} s")
        except concurrent.futures.CancelledError:
            return Output(Outcome.INTERRUPTED, note="stopped: the user interrupted it")
        except ServerError as error:
            return Output.reply(error.outcome, words(tool.server, error))

    def close(self) -> None:
        """End every server, with all that it started."""
        if self._started is None:
            self._loop.close()
            return
        self._started.cancel()
        ending = self._submit(self._close_all())
        concurrent.futures.wait([ending], _END)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)

    def _await(self, future: concurrent.futures.Future[T], stop: threading.Event, limit: float) -> T:
        waited = 0.0
        while not stop.is_set() and waited < limit + _SPARE:
            done, _ = concurrent.futures.wait([future], _LOOK)
            if done:
                return future.result()
            waited += _LOOK
        future.cancel()
        if not stop.is_set():
            raise TimeoutError
        raise concurrent.futures.CancelledError

    def _linker(self, config: McpServer) -> Callable[[], Link]:
        if config.url:
            return lambda: HttpLink(config)

        told: list[str] = []

        def skipped(line: str) -> None:
            if not told:
                told.append(line)
                self._warnings.put(f"The MCP server `{config.name}` prints to stdout what is no message: {line}")

        return lambda: ProcessLink(config, self._environment, self._cwd, skipped)

    async def _start_all(self) -> None:
        await asyncio.gather(*(server.start() for server in self.servers.values()))

    async def _settle(self) -> None:
        listings = [server.listing for server in self.servers.values() if server.listing is not None]
        if listings:
            await asyncio.wait(listings, timeout=_SETTLE)

    async def _close_all(self) -> None:
        await asyncio.gather(*(server.close() for server in self.servers.values()), return_exceptions=True)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=_END / 2)

    def _count(self) -> None:
        self.revision += 1

    def _submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _live(self) -> None:
        # What is left over when the loop ends was abandoned on purpose.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        self._loop.close()


def _hush() -> None:
    """Keep the libraries from writing to the terminal: mm says itself what goes wrong."""
    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
