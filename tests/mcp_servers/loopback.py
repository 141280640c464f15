"""A streamable HTTP server written by hand, so that it can answer in every way that servers do."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Loopback:
    """What the server is to do, and what it was sent.

    `sessions` are the ids that it knows: clearing it is what a restart of the server looks like.
    """

    url: str = ""
    form: str = "json"  # or "sse", or "sse-open": the stream stays open after the answer
    unknown_status: int = 404
    refuse: int = 0  # a status that every request is refused with
    break_call: str = ""  # "accepted", "no-json", "html", "cut", "parameter", "held": how calls are answered
    held: threading.Event = field(default_factory=threading.Event)  # a call is held
    released: threading.Event = field(default_factory=threading.Event)  # and may be answered
    sessions: set[str] = field(default_factory=set)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0
    stop: Callable[[], None] = lambda: None
    connections: list[socket.socket] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def methods(self) -> list[str]:
        return [request["method"] for request in self.requests]


@contextmanager
def serving(**plan: Any) -> Iterator[Loopback]:
    state = Loopback(**plan)
    server = ThreadingHTTPServer(("127.0.0.1", state.port), lambda *given: _Handler(state, *given))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.port = server.server_port
    state.url = f"http://127.0.0.1:{state.port}/mcp"

    def stop() -> None:
        state.closing.set()
        server.shutdown()
        server.server_close()
        for connection in state.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    state.stop = stop
    try:
        yield state
    finally:
        stop()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, state: Loopback, *given: Any) -> None:
        self.state = state
        state.connections.append(given[0])
        super().__init__(*given)

    def log_message(self, *given: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self.state.sessions.discard(self.headers.get("mcp-session-id", ""))
        self._send(200, b"")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.state.requests.append(request)
        self.state.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.state.refuse:
            self._send(self.state.refuse, b"go away", "text/plain")
        elif request["method"] == "initialize":
            name = f"session-{len(self.state.requests)}"
            self.state.sessions.add(name)
            self._answer(request, _HELLO, name)
        elif self.headers.get("mcp-session-id") not in self.state.sessions:
            self._send(self.state.unknown_status, b'{"error": "Bad Request: No valid session ID provided"}')
        elif "id" not in request:
            self._send(202, b"")
        elif request["method"] == "tools/list":
            self._answer(request, {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]})
        else:
            self._call(request)

    def _call(self, request: dict[str, Any]) -> None:
        kind = self.state.break_call
        if kind == "accepted":
            self._send(202, b"")
        elif kind == "no-json":
            self._send(200, b"{oops")
        elif kind == "html":
            self._send(200, b"<h1>Sign in</h1>", "text/html")
        elif kind == "error":
            error = {"code": -32000, "message": "no such city"}
            self._send(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode())
        elif kind == "cut":
            self._begin_stream()
            self.close_connection = True
        elif kind == "parameter":
            self._send(400, b'{"error": "Invalid value of the parameter session_id"}')
        else:
            if kind == "held":
                self.state.held.set()
                self.state.released.wait(30)
            text = json.dumps(request["params"]["arguments"])
            self._answer(request, {"content": [{"type": "text", "text": text}]})

    def _answer(self, request: dict[str, Any], result: Any, session: str = "") -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode()
        more = {"mcp-session-id": session} if session else {}
        if self.state.form == "json":
            self._send(200, body, **more)
            return
        self._begin_stream(**more)
        self._chunk(b": a comment\r\n\r\nevent: message\r\ndata: " + body[:20])
        self._chunk(body[20:] + b"\r\n\r\n")
        if self.state.form == "sse-open":
            self.state.closing.wait(30)
        self._chunk(b"")

    def _begin_stream(self, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except OSError:
            self.close_connection = True

    def _send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # nobody may be waiting any more
            self.end_headers()
            self.wfile.write(body)


_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "loop", "version": "1"},
}
