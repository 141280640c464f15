"""A real HTTP server on loopback that answers as badly as a test wants."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SSE = {"content-type": "text/event-stream"}


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Loopback:
    """`answers` are used one a request, the last one for all that follow. `released` lets a hanging one end."""

    port: int = 0
    answers: list[Answer] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append(Seen(handler.command, handler.path, headers, handler.rfile.read(length)))
        self.arrived.set()
        self.answers[min(len(self.seen), len(self.answers)) - 1](handler)

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer nothing until the client hangs up (or the test is over)."""
        handler.connection.settimeout(20)
        if handler.connection.recv(1) == b"":
            self.hung_up.set()
        handler.close_connection = True


def reply(status: int = 200, body: bytes | str | Any = b"", **headers: str) -> Answer:
    """A whole answer; `body` may be a value that becomes JSON."""
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def stream(*pieces: bytes, then: Answer | None = None) -> Answer:
    """A chunked stream of these pieces; `then` decides how it goes on, else it ends as it should."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            handler.wfile.flush()
        if then is not None:
            then(handler)
        else:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


def die(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection in the middle of whatever was said."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def say(text: str, **more: Any) -> Answer:
    """A proper streamed answer."""
    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **more}
    return stream(data(delta), data(end), b"data: [DONE]\n\n")


def data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def piece(text: str) -> bytes:
    return data({"choices": [{"index": 0, "delta": {"content": text}}]})


@contextmanager
def serving(port: int = 0) -> Iterator[Loopback]:
    """`port`: one that is free; 0 takes any."""
    loopback = Loopback()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *unused: object) -> None:
            pass

        def do_GET(self) -> None:
            loopback.handle(self)

        do_POST = do_GET  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *unused: object) -> None:
            pass  # clients that hang up are what is tested

    with Server(("127.0.0.1", port), Handler) as server:
        loopback.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield loopback
        finally:
            loopback.released.set()
            server.shutdown()
            thread.join()
