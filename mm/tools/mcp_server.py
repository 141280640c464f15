"""One MCP server of the agent file: started, listed, called, started again once. Whatever it does costs only itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import StrEnum

from mm.config.schema import McpServer
from mm.messages import JSON, Outcome
from mm.tools.mcp_link import Link, ServerError, SessionExpiredError, said, stopped
from mm.tools.mcp_session import Session
from mm.tools.mcp_tools import McpTool, read_tools
from mm.tools.spec import Arguments, Tool


class Status(StrEnum):
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    ENDED = "ended"


class Server:
    """Lives in the loop's thread; what other threads read of it is replaced as a whole, never changed."""

    def __init__(
        self,
        config: McpServer,
        prefix: str,
        make_link: Callable[[], Link],
        *,
        warn: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self.config = config
        self.tools: tuple[Tool, ...] = ()
        self.status = Status.STARTING
        self.reason = ""
        self._prefix = prefix
        self._make_link = make_link
        self._warn = warn
        self._changed = changed
        self._session: Session | None = None
        self._lock = asyncio.Lock()
        self._may_restart = True
        self.listing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it for the first time. What goes wrong is a warning: mm goes on without its tools."""
        async with self._lock:
            try:
                self._session = await self._connect()
            except ServerError as error:
                self.status, self.reason = Status.FAILED, error.reason
                self._warn(f"The MCP server `{self.config.name}` is left out: {stopped(error.reason)}")

    async def call(self, tool: McpTool, arguments: Arguments, watch: Callable[[str], None]) -> JSON:
        """The result of one call. Raises ServerError, and TimeoutError at the time limit of a call."""
        for last in (False, True):
            session = await self._running()
            self._check_unchanged(tool)
            try:
                async with asyncio.timeout(self.config.timeout):
                    result = await session.call_tool(tool.name, arguments, watch)
            except SessionExpiredError as error:
                await session.close()
                if last:
                    raise ServerError("it forgets each session at once") from error
                self._may_restart = True
                continue
            except ServerError as error:
                self._note_end(session, error.reason)
                raise
            self._may_restart = True
            return result
        raise AssertionError("the second time ends in a return or an error")

    async def close(self) -> None:
        """End it, with all that it started."""
        if self.listing is not None:
            self.listing.cancel()
        if self._session is not None:
            await self._session.close()

    async def _running(self) -> Session:
        """The session, begun anew if the last one has ended: once, until a call has succeeded again."""
        async with self._lock:
            if self._session is not None and not self._session.ended:
                return self._session
            if not self._may_restart:
                raise ServerError(f"it is down, and starting it again did not help: {self.reason}")
            self._may_restart = False
            if self._session is not None:
                await self._session.close()
                self._note_end(self._session, self._session.explain())
            try:
                self._session = await self._connect()
            except ServerError as error:
                self.status, self.reason = Status.FAILED, error.reason
                raise ServerError(f"it had ended and could not be started again: {error.reason}") from error
            return self._session

    async def _connect(self) -> Session:
        session = Session(self._make_link(), self._list_again)
        try:
            async with asyncio.timeout(self.config.start_timeout):
                await session.open()
                listed = await session.list_tools()
            self._take(listed)
        except asyncio.CancelledError:
            await session.close()
            self._may_restart = True
            raise
        except TimeoutError as error:
            await session.close()
            raise ServerError(self._silence(session)) from error
        except (ServerError, SessionExpiredError) as error:
            over = session.ended
            await session.close()
            reason = error.reason if isinstance(error, ServerError) and not over else session.explain()
            raise ServerError(reason) from error
        except Exception as error:
            await session.close()
            raise ServerError(f"it failed: {said(error)}") from error
        self.status, self.reason = Status.READY, ""
        return session

    def _silence(self, session: Session) -> str:
        _, *stderr = session.explain().partition("; its stderr:")
        return f"it did not answer within {self.config.start_timeout:g} s{''.join(stderr)}"

    def _note_end(self, session: Session, reason: str) -> None:
        if session.ended:
            self.status, self.reason = Status.ENDED, reason

    def _check_unchanged(self, tool: McpTool) -> None:
        """What was approved is a tool as it was then: a server may have changed its mind since."""
        now = next((each.spec for each in self.tools if _name(each) == tool.name), None)
        if now is None:
            raise ServerError(f"it no longer has the tool `{tool.name}`; nothing ran")
        if now != tool:
            raise ServerError(
                f"it changed the tool `{tool.name}` after the call was approved; nothing ran, call it again"
            )

    def _take(self, listed: list[JSON]) -> None:
        """Use a listing. Tools that are the same as before stay the same objects, in the same order."""
        tools, warnings = read_tools(self.config, self._prefix, listed)
        before = {each.spec: each for each in self.tools}
        if {each.spec for each in tools} != before.keys():
            self.tools = tuple(before.get(each.spec, each) for each in tools)
            for warning in warnings:
                self._warn(warning)
            self._changed()

    def _list_again(self) -> None:
        """The server says that its tools have changed."""
        if self.listing is None or self.listing.done():
            self.listing = asyncio.get_running_loop().create_task(self._update())

    async def _update(self) -> None:
        session = self._session
        if session is None or session.ended:
            return
        try:
            async with asyncio.timeout(self.config.start_timeout):
                self._take(await session.list_tools())
        except (ServerError, SessionExpiredError, TimeoutError):
            self._warn(f"The MCP server `{self.config.name}` changed its tools and did not say what they are now.")


def _name(tool: Tool) -> str:
    assert isinstance(tool.spec, McpTool)
    return tool.spec.name


def words(server: str, error: ServerError) -> str:
    """What the model is told about a call that a server failed."""
    if error.outcome is Outcome.KILLED:
        return (
            f"The MCP server `{server}` did not finish this call: {stopped(error.reason)}\n"
            "What the call did by then is unknown. Look before you try again; the next call starts the server again."
        )
    return f"The MCP server `{server}` could not do this: {stopped(error.reason)}"
