"""Ctrl-Z: the shell gets its terminal back as it was, and mm takes it again as it had it when `fg` brings mm back."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType

from mm.terminal.modes import bring_to_front, is_quiet, modes_of, set_modes, take_typed


class Suspension:
    """Suspends mm wherever in the chat the person asks for it. Make one while the terminal is still the shell's.

    `hand_over` is entered while mm is away: nobody writes meanwhile. `keep` is given what was typed for mm: left in
    the terminal it would be read by the shell.
    """

    def __init__(
        self,
        descriptor: int,
        hand_over: Callable[[], AbstractContextManager[None]],
        keep: Callable[[str], None],
    ) -> None:
        self._descriptor = descriptor
        self._hand_over = hand_over
        self._keep = keep
        self._of_the_shell = modes_of(descriptor)

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Ctrl-Z suspends mm in here. Where there is no shell to go back to, it does nothing."""
        before = signal.getsignal(signal.SIGTSTP)
        if before is signal.SIG_IGN:
            yield
            return
        signal.signal(signal.SIGTSTP, self._received)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, before)

    def suspend(self) -> None:
        """Stop here until mm is in front again. The kernel itself holds whoever sets modes from behind (`bg`)."""
        here = modes_of(self._descriptor)
        bring_to_front(os.getpgrp(), self._descriptor)
        set_modes(self._descriptor, self._of_the_shell)
        with _by_default(signal.SIGTSTP), _by_default(signal.SIGTTOU):
            signal.raise_signal(signal.SIGTSTP)
            set_modes(self._descriptor, here)

    def _received(self, number: int, frame: FrameType | None) -> None:
        with self._hand_over():
            if is_quiet(self._descriptor):
                self._keep(take_typed(self._descriptor))
            self.suspend()


@contextlib.contextmanager
def _by_default(number: int) -> Iterator[None]:
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)
