"""An MCP server at an address: streamable HTTP, with what its answers say about the session."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from mm.config.schema import McpServer
from mm.tools.mcp_link import Refusal, ServerError, leaf, said

CONNECT = 10.0  # seconds
LONGEST_EVENT = 64 * 1024 * 1024  # bytes
_SESSION = "mcp-session-id"
_NAMES_SESSION = re.compile(rb"\bsession(?:[ -]?id)?\b", re.IGNORECASE)  # not a parameter such as `session_id`
_INVALID_PARAMETERS = re.compile(rb'"code"\s*:\s*-32602\b')


class HttpLink:
    """One session with a server at an address."""

    def __init__(self, server: McpServer) -> None:
        self.broken = False
        self.on_end: Callable[[], None] = lambda: None
        self._server = server
        self._problem = ""  # of the latest request that was refused
        self._refusals: dict[int, Refusal] = {}

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

    def refusal(self, request: int) -> Refusal | None:
        return self._refusals.pop(request, None)

    def explain(self, error: BaseException | None) -> str:
        error = leaf(error) if error else None
        if isinstance(error, ServerError):
            return error.reason
        if isinstance(error, httpx2.TransportError | httpx2.InvalidURL):
            return f"its address cannot be reached: {said(error)}"
        if self._problem:
            return f"it answered {self._problem}"
        return f"it failed: {said(error)}" if error else "it closed the connection"

    async def _note(self, response: httpx2.Response) -> None:
        """Remember what a refused request was refused with. A server that offers no GET stream answers 405 to it."""
        request = response.request
        if request.method != "POST" or response.status_code < 400:
            return
        self._problem = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        number = json.loads(request.content).get("id")
        if isinstance(number, int):
            forgotten = _SESSION in request.headers and await _forgets(response)
            self._refusals[number] = Refusal(self._problem, forgotten)


async def _forgets(response: httpx2.Response) -> bool:
    """404 is the protocol's word for an unknown session; some servers say 400 and name it in the body."""
    if response.status_code == 400:
        body = await response.aread()
        return _NAMES_SESSION.search(body) is not None and _INVALID_PARAMETERS.search(body) is None
    return response.status_code == 404
