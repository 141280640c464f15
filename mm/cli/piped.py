"""Text that is piped into `mm -p`: read without ever hanging on a pipe that stays silent."""

from __future__ import annotations

import os
import select
import stat
import sys

from mm.errors import UsageError
from mm.interrupt import wait_for_input

FIRST_BYTE = 3.0  # seconds that a silent pipe is waited for
LIMIT = 20 * 1024 * 1024  # bytes
_STDIN = 0


def prompt_from(prompt: str, notice: list[str]) -> str:
    """The whole prompt: piped text first, then what was given with -p. `-p -` is the piped text alone.

    Adds a line to `notice` when a silent pipe was given up. Raises UsageError when there is nothing to ask.
    """
    if prompt == "-":
        text = piped_text()
        if not text.strip():
            raise UsageError("`-p -` reads the prompt from stdin, and nothing came.", 'Example: echo "hello" | mm -p -')
        return text
    if not prompt.strip():
        raise UsageError("The prompt after -p is empty.", 'Example: mm -p "What does this folder hold?"')
    if not _is_there() or os.isatty(_STDIN):
        return prompt
    piped = _read(wait=FIRST_BYTE)
    if piped is None:
        notice.append(
            f"nothing came on stdin within {FIRST_BYTE:.0f} s: going on without it (close it with </dev/null)"
        )
        return prompt
    return f"{piped.rstrip()}\n\n{prompt}" if piped.strip() else prompt


def piped_text() -> str:
    """All that is piped in, or typed until Ctrl-D; "" where stdin is closed. Raises UsageError if it is no text."""
    return (_read(wait=None) or "") if _is_there() else ""


def _is_there() -> bool:
    """Whether stdin is open: `<&-` closes it, and its number may then belong to another file."""
    try:
        os.fstat(_STDIN)
    except OSError:
        return False
    return sys.stdin is not None


def _piece() -> bytes:
    try:
        wait_for_input(_STDIN)
        return os.read(_STDIN, 1 << 20)
    except OSError as error:
        raise UsageError(f"stdin cannot be read: {error.strerror}.", "Without it: </dev/null") from error


def _read(wait: float | None) -> str | None:
    """All of stdin as text, or None if no first byte came within `wait` seconds."""
    if wait is not None and not stat.S_ISREG(os.fstat(_STDIN).st_mode):
        ready, _, _ = select.select([_STDIN], [], [], wait)
        if not ready:
            return None
    pieces: list[bytes] = []
    size = 0
    while piece := _piece():
        pieces.append(piece)
        size += len(piece)
        if size > LIMIT:
            raise UsageError(
                f"More than {LIMIT // (1024 * 1024)} MiB came on stdin: no model can read that.",
                "Send a part of it: head -c 100000 FILE | mm -p …, or let a tool read the file.",
            )
    return b"".join(pieces).decode("utf-8-sig", "replace").replace("\0", "\ufffd")
