"""A few colours, and only where they may be shown."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Palette:
    """Styles for one stream. `styled` allows bold and dim, `coloured` colours too."""

    styled: bool = False
    coloured: bool = False

    def bold(self, text: str) -> str:
        return self._wrap("1", text) if self.styled else text

    def dim(self, text: str) -> str:
        return self._wrap("2", text) if self.styled else text

    def good(self, text: str) -> str:
        return self._wrap("32", text) if self.coloured else text

    def bad(self, text: str) -> str:
        return self._wrap("31", text) if self.coloured else text

    def warn(self, text: str) -> str:
        return self._wrap("33", text) if self.coloured else text

    def accent(self, text: str) -> str:
        return self._wrap("36", text) if self.coloured else text

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if text else text


PLAIN = Palette()


def can_move_cursor(stream: TextIO) -> bool:
    """Whether the stream is a terminal that understands cursor movement and styles."""
    try:
        return stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
    except ValueError:  # closed
        return False


def palette_for(stream: TextIO) -> Palette:
    """The styles for a stream: none for a file or a dumb terminal, no colours under NO_COLOR."""
    if not can_move_cursor(stream):
        return PLAIN
    return Palette(styled=True, coloured=not os.environ.get("NO_COLOR"))


def person_is_there() -> bool:
    """Whether someone can be asked: stdin and stderr are both terminals."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        return False
