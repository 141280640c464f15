"""Programs in a real pseudo-terminal, and what they wrote there."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import tests.terminal.stand_in as stand_in
from mm.cli.streams import StdoutError, prepare_streams

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
TIMEOUT = 30  # seconds for one thing to come, whatever else comes meanwhile; only a failing test waits that long
_LOOK = 0.02  # seconds between two looks at what is outside of the terminal
_UNSET = ("NO_COLOR", "VISUAL", "EDITOR", "RESUMED")


class Terminal:
    """A program in a terminal, and the keyboard and screen of that terminal."""

    def __init__(self, process: int, descriptor: int) -> None:
        self.process = process
        self.descriptor = descriptor
        self.seen = ""  # all of it, as it was written
        self._bytes = b""  # the beginning of a character
        self._raw = ""  # the beginning of an escape sequence
        self._rest = ""  # what came after the last awaited text
        self._status: int | None = None
        self._closed = False

    def wait_for(self, text: str) -> str:
        """Wait until `text` is on the terminal; returns what came before it, without styles and cursor movement."""
        collected, self._rest = self._rest, ""
        deadline = time.monotonic() + TIMEOUT
        while text not in collected:
            piece = self._read(deadline)
            assert piece is not None, f"{text!r} never came; the end was: {collected[-800:]!r}"
            collected += piece
        before, _, self._rest = collected.partition(text)
        return before

    def comes(self, text: str) -> bool:
        """Whether `text` comes before the program ends."""
        deadline = time.monotonic() + TIMEOUT
        while text not in self._rest:
            piece = self._read(deadline)
            if piece is None:
                return False
            self._rest += piece
        self._rest = self._rest.partition(text)[2]
        return True

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until something outside of the terminal is so. What comes meanwhile can be waited for afterwards."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"that did not happen in {TIMEOUT} s; so far: {self.seen[-800:]!r}"
            if select.select([self.descriptor], [], [], _LOOK)[0]:
                self._rest += self._read(deadline) or ""

    def type(self, keys: str) -> None:
        left = keys.encode()
        while left:
            left = left[os.write(self.descriptor, left) :]

    def say(self, line: str) -> None:
        self.type(line + "\r")

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self) -> int:
        """Wait for the program's end; returns its exit code."""
        deadline = time.monotonic() + TIMEOUT
        while self._read(deadline) is not None:
            pass
        return self._reaped(deadline)

    def close(self) -> int:
        """Hang up, as a closed window does; returns the exit code. The program has to end by itself then."""
        if not self._closed:
            self._closed = True
            os.close(self.descriptor)
        return self._reaped(time.monotonic() + TIMEOUT)

    def kill(self) -> None:
        """End it for sure, after a test that failed."""
        if self._status is None:
            os.kill(self.process, signal.SIGKILL)
        self.close()

    def _reaped(self, deadline: float) -> int:
        while self._status is None:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self._status = status
            elif time.monotonic() > deadline:
                os.kill(self.process, signal.SIGKILL)
                self._status = os.waitpid(self.process, 0)[1]
                raise AssertionError(f"it did not end in {TIMEOUT} s; the end was: {self.seen[-800:]!r}")
            else:
                time.sleep(0.005)
        return os.waitstatus_to_exitcode(self._status)

    def _read(self, deadline: float) -> str | None:
        """What the program wrote next, None at its end."""
        readable, _, _ = select.select([self.descriptor], [], [], max(deadline - time.monotonic(), 0))
        assert readable, f"it did not come in {TIMEOUT} s; so far: {self.seen[-800:]!r}"
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # how Linux tells the end of a terminal
            return None
        self._raw += self._decoded(data)
        whole, mark, tail = self._raw.rpartition("\x1b")
        complete = self._raw if not mark or ESCAPES.match(mark + tail) else whole
        self._raw = self._raw[len(complete) :]
        self.seen += complete
        for _ in range(complete.count("\x1b[6n")):
            self.type("\x1b[1;1R")  # where the cursor is: any terminal answers this
        return ESCAPES.sub("", complete).replace("\r", "")

    def _decoded(self, data: bytes) -> str:
        self._bytes += data
        for cut in range(4):
            end = len(self._bytes) - cut
            try:
                text = self._bytes[:end].decode()
            except UnicodeDecodeError:
                continue
            self._bytes = self._bytes[end:]
            return text
        raise AssertionError(f"not UTF-8: {self._bytes!r}")


@contextmanager
def terminal(
    program: Callable[[], int], home: Path, *, columns: int = 100, rows: int = 40, **variables: str
) -> Iterator[Terminal]:
    """Run a function as the program of a new pseudo-terminal, in a process of its own."""
    process, descriptor = pty.fork()
    if process == 0:
        _run(program, home, columns, rows, variables)
    it = Terminal(process, descriptor)
    try:
        yield it
    except BaseException:
        it.kill()
        raise
    it.close()


@contextmanager
def chat(home: Path, *, columns: int = 100, rows: int = 40, **variables: str) -> Iterator[Terminal]:
    """The chat with the stand-in agent, at its first prompt."""
    with terminal(stand_in.main, home, columns=columns, rows=rows, **variables) as it:
        it.wait_for("/help")
        it.wait_for("> " if variables.get("TERM") == "dumb" else "local:stand-in")
        yield it


def _run(program: Callable[[], int], home: Path, columns: int, rows: int, variables: dict[str, str]) -> None:
    """In the child: a fresh world around the program, and never a way back into the test."""
    code = 1
    try:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        for name in _UNSET:
            os.environ.pop(name, None)
        os.environ.update({"MM_HOME": str(home), "TERM": "xterm-256color", **variables})
        os.chdir(home)
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        prepare_streams()
        sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
        code = program()
    except BaseException:  # noqa: BLE001 - a crash is shown as Python shows it
        traceback.print_exc()
    finally:
        with suppress(StdoutError):
            sys.stdout.flush()
        os._exit(code)
