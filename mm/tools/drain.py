"""Feeds a running program and takes what it writes, until it has exited and its pipes are closed."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Protocol

HOLD = 0.5  # seconds that a pipe may stay open after the program exited
_SLICE = 0.1  # seconds between looks at the stop event and calls of `watch`; exits and output wake at once
_CHUNK = 256 * 1024


class Sink(Protocol):
    """Where the bytes of a stream go."""

    def write(self, data: bytes) -> None: ...


class Drain:
    """The pipes of one process. Leaving the context closes them; the process itself is the caller's to reap."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdout: Sink,
        stderr: Sink | None,
        stdin: bytes | None,
        watch: Callable[[str], None] | None,
    ) -> None:
        self._process = process
        self._selector = selectors.DefaultSelector()
        self._open: set[IO[bytes]] = set()
        self._unsent = memoryview(stdin or b"")
        self._last_line = _LastLine(watch) if watch else None
        self._exited_at: float | None = None
        self._pidfd = _open_pidfd(process)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._note_exit)
        self._listen(process.stdout, stdout)
        self._listen(process.stderr, stderr)
        self._speak(process.stdin)

    def __enter__(self) -> Drain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last_line:
            self._last_line.tell()
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    @property
    def exited(self) -> bool:
        return self._exited_at is not None

    @property
    def all_read(self) -> bool:
        """Whether every writer has closed its end."""
        return not self._open

    def until(self, deadline: float | None, stop: threading.Event | None = None) -> bool:
        """Go on until the process exited and all is read (or `HOLD` has passed since): True.

        False if `deadline` (monotonic) came or `stop` was set before.
        """
        while True:
            if self._pidfd is None and self._process.poll() is not None:
                self._note_exit(None)
            now = time.monotonic()
            if self._exited_at is not None and (self.all_read or now >= self._exited_at + HOLD):
                return True
            if (deadline is not None and now >= deadline) or (stop is not None and stop.is_set()):
                return False
            self._wait(now, deadline)

    def _wait(self, now: float, deadline: float | None) -> None:
        wait = _SLICE if deadline is None else min(_SLICE, deadline - now)
        if self._pidfd is None and self.all_read and not self._unsent:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(wait)
            return
        for key, _ in self._selector.select(wait):
            key.data(key.fileobj)
        if self._last_line:
            self._last_line.tell_if_due(now)

    def _listen(self, stream: IO[bytes] | None, sink: Sink | None) -> None:
        if stream is None or sink is None:
            return
        self._open.add(stream)
        self._selector.register(stream, selectors.EVENT_READ, lambda _: self._read(stream, sink))

    def _read(self, stream: IO[bytes], sink: Sink) -> None:
        data = os.read(stream.fileno(), _CHUNK)
        if not data:
            self._selector.unregister(stream)
            self._open.discard(stream)
            return
        sink.write(data)
        if self._last_line:
            self._last_line.take(data)

    def _speak(self, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        if not self._unsent:
            stream.close()
            return
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_WRITE, lambda _: self._write(stream))

    def _write(self, stream: IO[bytes]) -> None:
        try:
            self._unsent = self._unsent[os.write(stream.fileno(), self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program does not want the rest, which is its good right
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(stream)
            stream.close()

    def _note_exit(self, _: object) -> None:
        if self._exited_at is None:
            self._exited_at = time.monotonic()
            if self._pidfd is not None:
                self._selector.unregister(self._pidfd)


class _LastLine:
    """Tells a watcher the last line of output, at most ten times a second."""

    def __init__(self, watch: Callable[[str], None]) -> None:
        self._watch = watch
        self._told_at = 0.0
        self._recent = b""

    def take(self, data: bytes) -> None:
        self._recent = (self._recent + data[-2000:])[-2000:]

    def tell_if_due(self, now: float) -> None:
        if now - self._told_at >= _SLICE:
            self._told_at = now
            self.tell()

    def tell(self) -> None:
        lines = self._recent.decode("utf-8", "replace").replace("\r", "\n").split("\n")
        self._recent = lines[-1].encode()
        told = [line for line in lines if line.strip()]
        if told:
            self._watch(told[-1].strip()[:200])


def _open_pidfd(process: subprocess.Popen[bytes]) -> int | None:
    """A descriptor that becomes readable when the process exits, without reaping it; None where there is none."""
    try:
        return os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return None
