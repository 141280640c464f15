"""One HTTP request whose answer can be waited for, timed and dropped at any moment.

The blocking calls run in a daemon thread; the asking thread only waits on a queue, so that Ctrl-C, the stop event
and the time limits end a request that hangs in a name lookup, a connect or a read.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx

from mm.interrupt import Interrupted

_LOOK = 0.05  # seconds between two looks at the stop event
_ERROR_BODY = 64 * 1024  # bytes of an error's body that are read


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, from the request to the first token, and of silence after that."""

    connect: float = 10.0
    first: float = 600.0
    silence: float = 120.0


@dataclass(frozen=True, slots=True)
class Sent:
    """The request is on its way."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The status and headers of the answer are here."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arrived:
    """Bytes of the answer."""

    data: bytes


@dataclass(frozen=True, slots=True)
class _Ended:
    error: Exception | None = None


Step: TypeAlias = Sent | Answered | Arrived


class SilenceError(Exception):
    """Nothing came for too long. `seconds` is the limit, `first` whether it was the one to the first token."""

    def __init__(self, seconds: float, *, first: bool) -> None:
        super().__init__(f"no answer for {seconds:g} s")
        self.seconds = seconds
        self.first = first


class Connections:
    """The httpx client of one model, and the sockets that it opened."""

    def __init__(self, make: Callable[[], httpx.Client]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self.latest: socket.socket | None = None

    def client(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


class Exchange:
    """One request and its answer, step by step. Leave the `with` block to drop it.

    `begun` is for the reader of the answer to set, once a token of it came: comments, a role or a count of tokens say
    only that the server lives, while a long prompt may still take it minutes.
    """

    def __init__(self, connections: Connections, request: httpx.Request, timeouts: Timeouts) -> None:
        self._connections = connections
        self._timeouts = timeouts
        self._request = request
        self._steps: queue.SimpleQueue[Step | _Ended] = queue.SimpleQueue()
        self._socket = connections.latest
        self._dropped = False
        self._ended = False
        self.fresh = False  # a connection was made for this request
        self.answered = False
        self.begun = False
        self._request.extensions = {**request.extensions, "trace": self._trace}

    def __enter__(self) -> Exchange:
        threading.Thread(target=self._work, name="mm-request", daemon=True).start()
        return self

    def __exit__(self, *unused: object) -> None:
        self._dropped = True
        if not self._ended and self._socket is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def steps(self, stop: threading.Event) -> Iterator[Step]:
        """Raises httpx errors as they came, SilenceError, and Interrupted when `stop` is set."""
        limits = self._timeouts
        deadline = time.monotonic() + limits.connect + limits.first
        while True:
            step = self._next(stop, deadline)
            if step is None:
                raise SilenceError(limits.silence if self.begun else limits.first, first=not self.begun)
            if isinstance(step, _Ended):
                self._ended = True
                if step.error is not None:
                    raise step.error
                return
            self.answered = self.answered or isinstance(step, Answered)
            if isinstance(step, Sent):
                deadline = time.monotonic() + limits.first
            yield step
            if self.begun:
                deadline = time.monotonic() + limits.silence

    def finish(self, seconds: float) -> None:
        """The answer is whole: let the server end it, so that the connection can be used again."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(queue.Empty):
            while not self._ended and (left := deadline - time.monotonic()) > 0:
                self._ended = isinstance(self._steps.get(timeout=left), _Ended)

    def _next(self, stop: threading.Event, deadline: float) -> Step | _Ended | None:
        while True:
            if stop.is_set():
                raise Interrupted
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            with contextlib.suppress(queue.Empty):
                return self._steps.get(timeout=min(left, _LOOK))

    def _work(self) -> None:
        """In the thread: nothing raised here may get lost, and nobody else would see it."""
        try:
            self._run()
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            self._steps.put(_Ended(error))
        else:
            self._steps.put(_Ended())

    def _run(self) -> None:
        response = self._connections.client().send(self._request, stream=True)
        try:
            self._steps.put(Answered(response.status_code, response.headers))
            size = 0
            for data in response.iter_bytes():
                self._steps.put(Arrived(data))
                size += len(data)
                if self._dropped or (response.is_error and size > _ERROR_BODY):
                    return
        finally:
            response.close()

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by httpcore at each step of the connection."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            self._connections.latest = self._socket
            self.fresh = True
            if self._dropped:
                raise httpx.WriteError("dropped before it was sent")
        elif event.endswith("send_request_body.complete"):
            self._steps.put(Sent())
