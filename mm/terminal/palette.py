"""A few colours, and only where they may be shown."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TextIO

# Of the 256 colours, whose values no theme changes: each can be read on black, on white and on what is in between
# (contrast 3 or more). The first 16 are the theme's own, and their cyan and yellow are lost on white.
READABLE = {"red": 167, "green": 64, "yellow": 166, "magenta": 133, "cyan": 31, "grey": 244}

_FEW = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "grey": "2"}
_MANY_NAMES = ("256color", "direct", "kitty", "alacritty", "ghostty")


@dataclass(frozen=True, slots=True)
class Palette:
    """Styles for one stream. `styled` allows bold and dim, `coloured` colours too, `many` those beyond the first 16."""

    styled: bool = False
    coloured: bool = False
    many: bool = False

    def bold(self, text: str) -> str:
        return self._wrap("1", text) if self.styled else text

    def dim(self, text: str) -> str:
        if self.coloured:
            return self._colour("grey", text)
        return self._wrap("2", text) if self.styled else text

    def good(self, text: str) -> str:
        return self._colour("green", text)

    def bad(self, text: str) -> str:
        return self._colour("red", text)

    def warn(self, text: str) -> str:
        return self._colour("yellow", text)

    def accent(self, text: str) -> str:
        return self._colour("cyan", text)

    def _colour(self, name: str, text: str) -> str:
        if not self.coloured:
            return text
        return self._wrap(f"38;5;{READABLE[name]}" if self.many else _FEW[name], text)

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
    return Palette(styled=True, coloured=not os.environ.get("NO_COLOR"), many=_has_many())


def person_is_there() -> bool:
    """Whether someone can be asked: stdin and stderr are both terminals."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        return False


def _has_many() -> bool:
    """Whether the terminal says that it has 256 colours or more."""
    if os.environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return True
    return any(name in os.environ.get("TERM", "") for name in _MANY_NAMES)
