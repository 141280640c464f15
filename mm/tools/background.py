"""Commands that go on in the background: numbered, their output kept until it is read, all ended with mm."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Sequence

from mm.errors import ToolError
from mm.tools.process import GRACE, Ended, Finished, Program, feed_program

_MOST_RUNNING = 16
_MOST_KEPT = 32  # ended commands whose output may still be read
_UNREAD = 256 * 1024  # bytes kept until they are read; beyond, the oldest are dropped
_SLICE = 0.1  # seconds between looks at a stop event while waiting


class BackgroundCommand:
    """One command and its output so far, both streams joined as on a terminal."""

    def __init__(self, number: int, text: str, program: Program) -> None:
        self.number = number
        self.text = text
        self._program = program
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._unread = bytearray()
        self._dropped = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._started = time.monotonic()
        self._finished: Finished | None = None
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name=f"background {number}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive() and self._finished is None and not self._failure

    @property
    def failed(self) -> bool:
        """Whether it ended, by itself and not well."""
        return bool(self._failure) or (self._finished is not None and self._finished.exit_code != 0)

    @property
    def state(self) -> str:
        """How it stands, in words: `running for 12 s`, `exit code: 0`, `stopped`."""
        finished = self._finished
        if self._failure:
            return self._failure
        if finished is None:
            return f"running for {time.monotonic() - self._started:.0f} s"
        if finished.ended is not Ended.EXITED:
            return "stopped"
        if finished.exit_code is not None and finished.exit_code < 0:
            return f"ended by signal {-finished.exit_code}"
        return f"ended with exit code {finished.exit_code}"

    def write(self, data: bytes) -> None:
        """Take the next bytes of output."""
        with self._changed:
            self._unread += data
            excess = len(self._unread) - _UNREAD
            if excess > 0:
                del self._unread[:excess]
                self._dropped += excess
            self._changed.notify_all()

    def read_new(self) -> str:
        """The output since the last read; what had to be dropped is said."""
        with self._changed:
            data, dropped = bytes(self._unread), self._dropped
            self._unread.clear()
            self._dropped = 0
            text = self._decoder.decode(data, final=not self.running)
        return f"[... {dropped:,} bytes dropped, unread ...]\n{text}" if dropped else text

    def wait(self, seconds: float, stop: threading.Event, *, for_output: bool) -> None:
        """Wait until it has ended (or there is new output), at most `seconds`, less if `stop` is set."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self.running and not (for_output and self._unread) and not stop.is_set():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return
                self._changed.wait(min(_SLICE, remaining))

    def ask_to_end(self) -> None:
        """Begin to end it, with all that it started."""
        self._stop.set()

    def end(self) -> None:
        """End it, and wait until it has."""
        self.ask_to_end()
        self._thread.join(2 * GRACE + 1)

    def _run(self) -> None:
        finished, failure = None, ""
        try:
            finished = feed_program(self._program, stop=self._stop, stdout=self, stderr=None)
        except ToolError as error:
            failure = error.message
        with self._changed:
            self._finished, self._failure = finished, failure
            self._changed.notify_all()


class Background:
    """The background commands of one run of mm."""

    def __init__(self) -> None:
        self._commands: dict[int, BackgroundCommand] = {}
        self._last = 0
        self._closed = False
        self._lock = threading.Lock()

    def start(self, text: str, program: Program) -> BackgroundCommand:
        """Start a command. Raises ToolError if too many run already."""
        with self._lock:
            running = [command for command in self._commands.values() if command.running]
            if self._closed or len(running) >= _MOST_RUNNING:
                raise ToolError(
                    f"{len(running)} commands already run in the background, which is the most. "
                    "Stop one with read_terminal (id, stop: true) first."
                )
            self._forget_oldest()
            self._last += 1
            command = self._commands[self._last] = BackgroundCommand(self._last, text, program)
            return command

    def all(self) -> Sequence[BackgroundCommand]:
        """Every command that is still known, oldest first."""
        return tuple(self._commands.values())

    def find(self, number: int) -> BackgroundCommand:
        """Raises ToolError, which names those that there are."""
        if number not in self._commands:
            known = ", ".join(map(str, self._commands))
            there = f"There are: {known}." if known else "None was started; use bash with background: true."
            raise ToolError(f"There is no background command {number}. {there}")
        return self._commands[number]

    def close(self) -> None:
        """End all of them, side by side. Nothing can be started after that."""
        with self._lock:
            self._closed = True
        for command in self.all():
            command.ask_to_end()
        for command in self.all():
            command.end()

    def _forget_oldest(self) -> None:
        ended = [number for number, command in self._commands.items() if not command.running]
        for number in ended[:-_MOST_KEPT]:
            del self._commands[number]
