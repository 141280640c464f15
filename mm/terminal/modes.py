"""The modes of the terminal, each put back whatever happens.

the shell's   before mm, after it, and while it is suspended
quiet         in the whole chat, wherever nothing below holds: keys wait unseen, Ctrl-C and Ctrl-Z are signals
raw           at the message line and at its questions; prompt_toolkit sets it, and there these two are keys
cooked        for `!command`, an editor, and whatever is asked on a dumb terminal: lines with echo
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import termios
from collections.abc import Iterator
from typing import Any

from mm.interrupt import wait_for_input

_INPUT_FLAGS, _LOCAL_FLAGS, _CHARACTERS = 0, 3, 6
_IDLE = 0.25  # seconds without a key after which nobody is still typing what they began before
_NEXT_LINE = 0.01  # seconds in which a paste brings its next line and a person does not
_LONGEST_LINE = 4096  # bytes, its newline included, that a terminal keeps of a line it edits itself (n_tty of Linux)


class CutLineError(Exception):
    """The line was longer than the terminal takes, so its end is lost."""


@contextlib.contextmanager
def quiet(descriptor: int) -> Iterator[None]:
    """Keys are kept for the next prompt and not echoed; Ctrl-C still is a signal, and keeps what was typed before it.

    Carriage returns stay what they are, so that the next prompt can tell Enter from Ctrl-J.
    """
    before = modes_of(descriptor)
    if before is not None:
        changed = [*before[:_CHARACTERS], list(before[_CHARACTERS])]
        changed[_INPUT_FLAGS] &= ~termios.ICRNL
        changed[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
        changed[_LOCAL_FLAGS] |= termios.NOFLSH
        changed[_CHARACTERS][termios.VMIN] = 1
        changed[_CHARACTERS][termios.VTIME] = 0
        set_modes(descriptor, changed)
    try:
        yield
    finally:
        set_modes(descriptor, before)


def is_quiet(descriptor: int) -> bool:
    """Whether keys wait unseen now."""
    modes = modes_of(descriptor)
    return modes is not None and modes[_LOCAL_FLAGS] & (termios.ICANON | termios.ISIG) == termios.ISIG


@contextlib.contextmanager
def cooked(descriptor: int) -> Iterator[None]:
    """Lines with echo, as a shell's child expects them."""
    before = modes_of(descriptor)
    if before is not None:
        changed = list(before)
        changed[_INPUT_FLAGS] |= termios.ICRNL
        changed[_LOCAL_FLAGS] |= termios.ECHO | termios.ICANON | termios.ISIG
        changed[_LOCAL_FLAGS] &= ~termios.NOFLSH
        set_modes(descriptor, changed)
    try:
        yield
    finally:
        set_modes(descriptor, before)


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

    Reads the descriptor itself: nothing is kept in a buffer that a later `take_typed` could not empty. Raises
    CutLineError for a line that fills all the room which a terminal has for one.
    """
    data = b""
    while not data.endswith((b"\n", b"\r")):
        try:
            wait_for_input(descriptor)
            piece = os.read(descriptor, 2 * _LONGEST_LINE)
        except OSError:  # the terminal is gone
            piece = b""
        if not piece:
            return data.decode("utf-8", "replace") if data else None
        if len(piece) == _LONGEST_LINE and piece.endswith(b"\n"):
            raise CutLineError
        data += piece
    return data.decode("utf-8", "replace").rstrip("\r\n")


def read_lines(descriptor: int) -> str | None:
    """Read one line, and those that stand right behind it: nobody types that fast, so they are one paste."""
    line = read_line(descriptor)
    if line is None:
        return None
    lines = [line]
    while select.select([descriptor], [], [], _NEXT_LINE)[0] and (line := read_line(descriptor)) is not None:
        lines.append(line)
    return "\n".join(lines)


def bring_to_front(group: int, descriptor: int) -> bool:
    """Give the terminal to a process group, from behind too. False where that cannot be done: there is no terminal."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # the kernel would stop mm for it
    try:
        os.tcsetpgrp(descriptor, group)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGTTOU, before)
    return True


def modes_of(descriptor: int) -> list[Any] | None:
    """The modes as they are, None where there is no terminal."""
    try:
        return termios.tcgetattr(descriptor)
    except (termios.error, OSError, ValueError):
        return None


def set_modes(descriptor: int, modes: list[Any] | None) -> None:
    """Set what `modes_of` gave, as far as the terminal is still there."""
    while modes is not None:
        try:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
        except termios.error as error:
            if error.args[0] == errno.EINTR:
                continue
        return
