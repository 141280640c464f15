"""An MCP server at an address: streamable HTTP, with what its answers say about the session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from mm.config.schema import McpServer
from mm.tools.mcp_link import ServerError, leaf, said

CONNECT = 10.0  # seconds
LONGEST_EVENT = 64 * 1024 * 1024  # bytes
_SESSION = "mcp-session-id"


class HttpLink:
    """One session with a server at an address."""

    def __init__(self, server: McpServer) -> None:
        self.broken = False
        self.expired = False
        self.on_end: Callable[[], None] = lambda: None
        self._server = server
        self.problem = ""

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        # How long an answer may take is the caller's business: calls have their own time limit.
        timeout = httpx2.Timeout(CONNECT, read=None)
        hooks = {"response": [self._note]}
        async with (
            httpx2.AsyncClient(headers=dict(self._server.headers), timeout=timeout, event_hooks=hooks) as client,
            streamable_http_client(self._server.url, http_client=client, max_sse_event_size=LONGEST_EVENT) as streams,
        ):
            try:
                yield streams
            finally:
                self.broken = True

    def explain(self, error: BaseException | None) -> str:
        error = leaf(error) if error else None
        if isinstance(error, ServerError):
            return error.reason
        if isinstance(error, httpx2.TransportError | httpx2.InvalidURL):
            return f"its address cannot be reached: {said(error)}"
        if self.problem:
            return f"it answered {self.problem}"
        return f"it failed: {said(error)}" if error else "it closed the connection"

    async def _note(self, response: httpx2.Response) -> None:
        """Remember what a refused request was refused with. A server that offers no GET stream answers 405 to it."""
        if response.request.method != "POST" or response.status_code < 400:
            return
        self.problem = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        if _SESSION not in response.request.headers:
            return
        # 404 is the protocol's word for an unknown session; some servers say 400 and name it in the body.
        if response.status_code == 404:
            self.expired = True
        elif response.status_code == 400:
            self.expired = b"session" in (await response.aread()).lower()
