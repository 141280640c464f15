"""One session with an MCP server, from the handshake to its end, through the official SDK."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

import mcp_types
from mcp.client.session import ClientSession, IncomingMessage
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from mm import __version__
from mm.messages import JSON, Outcome
from mm.tools.mcp_link import Link, ServerError, SessionExpiredError, said
from mm.tools.spec import Arguments

MOST_PAGES = 1000
_END = 8.0  # seconds for a session to end, its program included
_FIRST_NUMBER = 1001  # of mm's own requests; the SDK numbers its own from 1
# Words of the SDK for an answer that broke off, and for a status that it does not name.
_LOST_STREAM = "SSE stream"
_NAMELESS = "Server returned an error response"


class Session:
    """Lives in the loop's thread. Every method raises ServerError for what the server did or left undone."""

    def __init__(self, link: Link, tools_changed: Callable[[], None]) -> None:
        self.ended = False
        self._link = link
        self._tools_changed = tools_changed
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._dispatcher: JSONRPCDispatcher[TransportContext] | None = None
        self._error: BaseException | None = None
        self._watchers: list[Callable[[str], None]] = []
        self._numbers = itertools.count(_FIRST_NUMBER)
        link.on_end = self._end

    async def open(self) -> None:
        """Start the server, or connect to it, and agree on the protocol."""
        self._task = asyncio.create_task(self._live())
        await asyncio.shield(self._opened)  # else a time limit would end the future, and not what it stands for

    async def list_tools(self) -> list[JSON]:
        """Every page of the tools, as the server says it: one bad entry must not cost the others."""
        found: list[JSON] = []
        cursor: JSON = None
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            page = await self._ask("tools/list", {} if cursor is None else {"cursor": cursor}, {})
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise ServerError("it lists its tools as something that is no list")
            found += tools
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen:
                break
            seen.add(cursor)
        return found

    async def call_tool(self, name: str, arguments: Arguments, watch: Callable[[str], None]) -> JSON:
        """The result as the server gave it. `watch` is told its last line of progress."""

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            if message:
                watch(message)

        self._watchers.append(watch)
        try:
            # An empty object is sent too: a server that gets none at all may fail on it.
            return await self._ask(
                "tools/call", {"name": name, "arguments": dict(arguments)}, {"on_progress": progressed}
            )
        finally:
            self._watchers.remove(watch)

    async def close(self) -> None:
        """End the session and all that was started for it."""
        self.ended = True
        if self._task is None:
            return
        self._closing.set()
        if not self._opened.done():
            self._task.cancel()
        await asyncio.wait([self._task], timeout=_END)
        self._task.cancel()

    def explain(self) -> str:
        """Why it ended, or never began. Whole once it is closed."""
        return self._link.explain(self._error)

    async def _live(self) -> None:
        try:
            async with self._link.streams() as (incoming, outgoing):
                self._dispatcher = JSONRPCDispatcher(incoming, outgoing)
                session = ClientSession(
                    dispatcher=self._dispatcher,
                    client_info=mcp_types.Implementation(name="mm", version=__version__),
                    logging_callback=self._logged,
                    message_handler=self._heard,
                )
                async with session:
                    try:
                        await session.initialize()
                        self._opened.set_result(None)
                        await self._closing.wait()
                    finally:
                        self.ended = True
        except Exception as error:  # noqa: BLE001 - whatever a server makes the SDK raise is the end of its session
            self._error = error
        finally:
            self.ended = True
            if not self._opened.done():
                self._opened.set_exception(ServerError("it did not begin"))
                self._opened.exception()  # nobody may be waiting any more

    def _end(self) -> None:
        self.ended = True
        self._closing.set()

    async def _ask(self, method: str, parameters: dict[str, JSON], options: CallOptions) -> dict[str, JSON]:
        assert self._dispatcher is not None, "opened before it is asked"
        number = next(self._numbers)
        try:
            return await self._dispatcher.send_raw_request(method, parameters, {**options, "request_id": number})
        except MCPError as error:
            refusal = self._link.refusal(number)
            if refusal is not None and refusal.forgotten:
                raise SessionExpiredError from error
            if self.ended:
                await self.close()
                raise ServerError(self.explain(), Outcome.KILLED) from error
            if refusal is not None and error.message == _NAMELESS:
                raise ServerError(f"it answered {refusal.problem}") from error
            raise self._failure(error) from error

    def _failure(self, error: MCPError) -> ServerError:
        """An error that leaves the session as it is."""
        lost = error.code == mcp_types.CONNECTION_CLOSED and error.message.startswith(_LOST_STREAM)
        outcome = Outcome.KILLED if lost else Outcome.FAILED
        return ServerError(f"it answered with an error: {said(error)}", outcome)

    async def _logged(self, params: mcp_types.LoggingMessageNotificationParams) -> None:
        line = params.data if isinstance(params.data, str) else str(params.data)
        for watch in self._watchers:
            watch(" ".join(line.split())[:200])

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._tools_changed()
