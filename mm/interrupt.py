"""Ctrl-C and other signals, in one place.

A signal sets the stop event. KeyboardInterrupt is raised only inside `waiting()`: while mm reads from the model or
from a person, never while a result is being committed.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mm.errors import ExitCode


class Interrupted(Exception):  # noqa: N818 - a state, not an error
    """The person (or the system) asked mm to stop what it is doing."""


class StopEvent(threading.Event):
    """An event that a signal handler may set, whatever the main thread is doing with it at that moment.

    The lock of a plain Event is held by the very thread that the handler interrupts: with Ctrl-C pressed twice the
    second would wait for the first for ever. This one can be taken again by its own thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()  # on an RLock
        self._on = False

    def is_set(self) -> bool:
        return self._on

    def set(self) -> None:
        self._on = True
        with self._changed:
            self._changed.notify_all()

    def clear(self) -> None:
        self._on = False

    def wait(self, timeout: float | None = None) -> bool:
        """As of any Event. Looks again now and then: a signal between the look and the sleep wakes nobody."""
        ends = None if timeout is None else time.monotonic() + timeout
        while not self._on and (ends is None or time.monotonic() < ends):
            left = _LOOK if ends is None else min(_LOOK, ends - time.monotonic())
            with self._changed:
                if not self._on:
                    self._changed.wait(max(left, 0))
        return self._on


_LOOK = 0.2  # seconds between two looks


class Interrupt:
    """The stop event of a run, and the signals that set it."""

    def __init__(self) -> None:
        self.stop: threading.Event = StopEvent()
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
