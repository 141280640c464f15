"""The modes of the terminal: quiet while a turn runs, and put back whatever happens."""

from __future__ import annotations

import contextlib
import os
import select
import termios
from collections.abc import Iterator
from typing import Any

_INPUT_FLAGS, _LOCAL_FLAGS, _CHARACTERS = 0, 3, 6
_IDLE = 0.25  # seconds without a key after which nobody is still typing what they began before


@contextlib.contextmanager
def quiet(descriptor: int) -> Iterator[None]:
    """Keys are kept for the next prompt and not echoed; Ctrl-C still is a signal, and keeps what was typed before it.

    Carriage returns stay what they are, so that the next prompt can tell Enter from Ctrl-J.
    """
    before = _modes(descriptor)
    if before is not None:
        changed = [*before[:_CHARACTERS], list(before[_CHARACTERS])]
        changed[_INPUT_FLAGS] &= ~termios.ICRNL
        changed[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
        changed[_LOCAL_FLAGS] |= termios.NOFLSH
        changed[_CHARACTERS][termios.VMIN] = 1
        changed[_CHARACTERS][termios.VTIME] = 0
        _set(descriptor, changed)
    try:
        yield
    finally:
        _set(descriptor, before)


@contextlib.contextmanager
def cooked(descriptor: int) -> Iterator[None]:
    """Lines with echo, as a shell's child expects them."""
    before = _modes(descriptor)
    if before is not None:
        changed = list(before)
        changed[_INPUT_FLAGS] |= termios.ICRNL
        changed[_LOCAL_FLAGS] |= termios.ECHO | termios.ICANON | termios.ISIG
        changed[_LOCAL_FLAGS] &= ~termios.NOFLSH
        _set(descriptor, changed)
    try:
        yield
    finally:
        _set(descriptor, before)


def take_typed(descriptor: int, idle: float = 0.0) -> str:
    """The keys that wait to be read, until none has come for `idle` seconds."""
    data = b""
    with contextlib.suppress(OSError, ValueError):
        while select.select([descriptor], [], [], idle)[0]:
            piece = os.read(descriptor, 4096)
            if not piece:
                break
            data += piece
    return data.decode("utf-8", "replace")


def take_typed_ahead(descriptor: int) -> str:
    """The keys that were typed before a question was there to answer, and those that follow them at once.

    Of a `y` and its Enter none may be left over: the Enter alone would be an answer too.
    """
    with quiet(descriptor):
        return take_typed(descriptor, _IDLE)


def read_line(descriptor: int) -> str | None:
    """Read one line; None at end of input. A signal may raise KeyboardInterrupt.

    Reads the descriptor itself: nothing is kept in a buffer that a later `take_typed` could not empty.
    """
    data = b""
    while not data.endswith((b"\n", b"\r")):
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # the terminal is gone
            piece = b""
        if not piece:
            return data.decode("utf-8", "replace") if data else None
        data += piece
    return data.decode("utf-8", "replace").rstrip("\r\n")


def _modes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except (termios.error, OSError, ValueError):
        return None


def _set(descriptor: int, modes: list[Any] | None) -> None:
    if modes is not None:
        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
