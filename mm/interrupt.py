"""Ctrl-C and other signals, in one place.

A signal sets the stop event. KeyboardInterrupt is raised only inside `waiting()`: while mm reads from the model or
from a person, never while a result is being committed.
"""

from __future__ import annotations

import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
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


def wait_for_input(descriptor: int) -> None:
    """Wait until something can be read there, the end of it too.

    A read of its own would hear nothing of a signal that comes just before it: this wait looks again now and then.
    """
    while not select.select([descriptor], [], [], _LOOK)[0]:
        pass


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """The stop event of a run, and the signals that set it.

    `_waiting` says whether a signal raises. It is taken back by whatever raises, and not given back on the way out:
    one interrupt is raised once, so that the next Ctrl-C cannot cut short what puts the terminal in order. Others may
    set `stop` as well (Ctrl-C that was read as a key, a reader of stdout that is gone): the next wait then raises.
    """

    def __init__(self) -> None:
        self.stop: threading.Event = StopEvent()
        self.exit_code = ExitCode.INTERRUPTED
        self._waiting = False
        self._tell: Callable[[], None] | None = None

    def install(self) -> None:
        """Handle SIGINT, SIGTERM and SIGHUP. Main thread only.

        What mm was started to ignore it goes on ignoring: by `nohup`, or as a script's command with `&`.
        """
        for number in _STOPPING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._received)

    def clear(self) -> None:
        """Forget an earlier Ctrl-C: a new turn begins. What the system said (SIGTERM, SIGHUP) is not forgotten."""
        self.stop.clear()
        if self.exit_code is not ExitCode.INTERRUPTED:
            self.stop.set()

    def check(self) -> None:
        """Raise KeyboardInterrupt, with the exit code that it stands for, if the run is to stop."""
        if self.stop.is_set():
            raise KeyboardInterrupt(self.exit_code)

    @contextmanager
    def waiting(self, tell: Callable[[], None] | None = None) -> Iterator[None]:
        """A signal in here raises KeyboardInterrupt at once: mm only waits for a model or a person.

        With `tell` it calls that, which is to end the wait, and raises behind it: an event loop that is left just
        anywhere may never end.
        """
        outer = self._waiting, self._tell
        self._waiting, self._tell = True, tell
        try:
            self.check()
            yield
            if tell is not None:
                self.check()
        finally:
            self._waiting, self._tell = outer[0] and not self.stop.is_set(), outer[1]

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Inside `waiting()`: something is written down meanwhile. A signal in here is raised only at the end of it."""
        was_waiting, self._waiting = self._waiting, False
        yield
        self._waiting = was_waiting
        if was_waiting and self.stop.is_set():
            self._waiting = False
            self.check()

    def _received(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self.exit_code = ExitCode.TERMINATED
        elif number == signal.SIGHUP:
            self.exit_code = ExitCode.HANGUP
        self.stop.set()
        if self._waiting and self._tell is not None:
            self._tell()
        elif self._waiting:
            self._waiting = False
            self.check()
