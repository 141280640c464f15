"""Ctrl-C and other signals, in one place.

A signal sets the stop event. KeyboardInterrupt is raised only inside `waiting()`: while mm reads from the model or
from a person, never while a result is being committed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mm.errors import ExitCode


class Interrupted(Exception):  # noqa: N818 - a state, not an error
    """The person (or the system) asked mm to stop what it is doing."""


class Interrupt:
    """The stop event of a run, and the signals that set it."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.exit_code = ExitCode.INTERRUPTED
        self._waiting = False

    def install(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP. Main thread only."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._received)

    def clear(self) -> None:
        """Forget an earlier interrupt: a new turn begins."""
        self.stop.clear()
        self.exit_code = ExitCode.INTERRUPTED

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A signal in here raises KeyboardInterrupt at once: mm only waits for a model or a person."""
        if self.stop.is_set():
            raise KeyboardInterrupt
        outer, self._waiting = self._waiting, True
        try:
            yield
        finally:
            self._waiting = outer

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Inside `waiting()`: something is written down meanwhile. A signal in here is raised only at the end of it."""
        was_waiting, self._waiting = self._waiting, False
        yield
        self._waiting = was_waiting
        if was_waiting and self.stop.is_set():
            self._waiting = False
            raise KeyboardInterrupt

    def _received(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self.exit_code = ExitCode.TERMINATED
        elif number == signal.SIGHUP:
            self.exit_code = ExitCode.HANGUP
        self.stop.set()
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt
