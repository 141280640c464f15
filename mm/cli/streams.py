"""The three streams of a command: made ready once at its start, and the only ways in which a command writes."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TYPE_CHECKING, Any, TextIO

from mm.errors import MMError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class StdoutError(MMError):
    """What was to be printed is lost: a full disk, a closed stdout."""


class ReaderGoneError(Exception):
    """Whoever read stdout has had enough (`| head -1`)."""


class _WaitingFile(io.FileIO):
    """Waits where a shared pipe or terminal was set not to block, so that no piece of the text is lost."""

    def write(self, data: ReadableBuffer, /) -> int:
        while (written := super().write(data)) is None:
            select.select([], [self], [])
        return written


class _Stdout(_WaitingFile):
    """Every failure to print becomes an error in words here, whichever library was printing."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGoneError from None
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            hint = "Send it elsewhere: mm … > FILE   or away: mm … > /dev/null"
            raise StdoutError(f"stdout cannot be written: {reason}.", hint) from error


class _Stderr(_WaitingFile):
    """Notices may be lost; the answer may not be lost for their sake."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make stdin, stdout and stderr usable, whatever mm was started with: closed, full, or of a narrow encoding.

    A stdout that is closed stays one that cannot be written: what was to be printed must not get lost silently.
    """
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            _open_null(descriptor, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    elif isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    sys.stdout = _text_stream(_Stdout(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text_stream(_Stderr(2, "w", closefd=False), sys.stderr)


def _open_null(descriptor: int, flags: int) -> None:
    """Put /dev/null where nothing is, or the next file that mm opens would become that stream."""
    opened = os.open(os.devnull, flags)
    if opened == descriptor:
        os.set_inheritable(descriptor, True)
    else:
        os.dup2(opened, descriptor)
        os.close(opened)


def _text_stream(raw: io.FileIO, old: TextIO | None) -> TextIO:
    """What the encoding cannot express is written as `\\u2192`, as are halves of surrogate pairs."""
    encoding = old.encoding if old is not None else "utf-8"
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding=encoding, errors="backslashreplace", line_buffering=raw.isatty())


def abandon_stdout() -> None:
    """Let what could not be printed go: Python would fail over it once more at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show(text: str, *, lead: str = "", end: str = "\n") -> None:
    """Print on stdout. On a terminal nothing in `text` acts; `lead` is mm's own and may hold colours."""
    if sys.stdout.isatty():
        from mm.visible import make_visible

        text = make_visible(text)
    sys.stdout.write(lead + text + end)
    sys.stdout.flush()


def show_json(value: Any, *, indent: int | None = None) -> None:
    """Print a value as JSON that holds nothing that acts on a terminal, and that any encoding can express."""
    import json

    show_json_text(json.dumps(value, ensure_ascii=False, indent=indent))


def show_json_text(text: str) -> None:
    """The same for what is JSON already."""
    from mm.visible import make_visible_json

    wide = (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(make_visible_json(text, ascii_only=not wide).rstrip("\n") + "\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """Say something on stderr, made visible: it may hold what a server, a file or a folder is called."""
    from mm.visible import make_visible

    sys.stderr.write(make_visible(text) + "\n")
    sys.stderr.flush()
