"""The bottom of the terminal that redraws itself, under lines that are printed once and stay."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from typing import TextIO, cast

from rich.cells import cell_len

from mm.terminal.palette import Palette, can_move_cursor, palette_for
from mm.terminal.stream import TerminalStream

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_ERASE_RIGHT, _ERASE_BELOW = "\x1b[K", "\x1b[J"


class Screen:
    """Writes to a terminal in whole frames, so that nothing flickers.

    Lines hold styles only (`ESC [ … m`): whoever makes them escapes everything else. `moves` is False on a dumb
    terminal or a file; then live lines are not shown and the cursor is never moved.
    """

    def __init__(self, stream: TextIO) -> None:
        self._lasting = TerminalStream(stream)
        self.stream = cast(TextIO, self._lasting)  # for whoever else writes to this terminal
        self._live: list[str] = []
        self._hidden = False
        self._after_empty_line = False
        self.moves = can_move_cursor(stream)
        self.palette: Palette = palette_for(stream)

    @property
    def gone(self) -> bool:
        """Whether the window was closed."""
        return self._lasting.gone

    @property
    def width(self) -> int:
        """Cells that may be used: one less than there are, since the last one makes terminals wrap in two ways."""
        return max(self._size()[0] - 1, 10)

    @property
    def height(self) -> int:
        return max(self._size()[1], 4)

    def print(self, lines: Sequence[str]) -> None:
        """Print lines that stay. What is live goes on below them."""
        self.paint(lines, self._live)

    def paint(self, stay: Sequence[str], live: Sequence[str]) -> None:
        """One frame: print the lines that stay, then draw the live ones in place of the former live ones.

        An empty line right after an empty line is left out.
        """
        stay = self._without_double_gap(stay)
        if not self.moves:
            self.write("".join(f"{line}\n" for line in stay))
            return
        new = list(live[-(self.height - 1) :])
        if not stay and new == self._live:
            return
        kept = self._unchanged(new) if not stay else 0
        frame = self._back_to(kept)
        frame += "".join(f"{line}{_ERASE_RIGHT}\n" for line in stay)
        frame += "\n".join(f"{line}{_ERASE_RIGHT}" for line in new[kept:]) + _ERASE_BELOW
        self._live = new
        self.write(self._cursor(hidden=bool(new)) + frame)

    def write(self, text: str) -> None:
        """Write text as it is."""
        if text:
            self.stream.write(text)
            self.stream.flush()

    def someone_wrote(self) -> None:
        """Someone else has printed a line, such as the answer to a question."""
        self._after_empty_line = False

    def close(self) -> None:
        """Erase what is live and show the cursor: the next line belongs to someone else."""
        self.paint([], [])
        if self._hidden:
            self.write(self._cursor(hidden=False))

    def _without_double_gap(self, stay: Sequence[str]) -> Sequence[str]:
        if self._after_empty_line and stay and not stay[0]:
            stay = stay[1:]
        if stay:
            self._after_empty_line = not stay[-1]
        return stay

    def _unchanged(self, new: list[str]) -> int:
        """How many of the first live lines may stay as they are. At least one line is always redrawn."""
        kept = 0
        for before, after in zip(self._live[:-1], new[:-1], strict=False):
            if before != after:
                break
            kept += 1
        return kept

    def _back_to(self, kept: int) -> str:
        """Move the cursor to the first live line after the `kept` ones, as wide as the terminal is now."""
        if not self._live:
            return ""
        columns = self._size()[0]
        rows = sum(max(1, -(-cell_len(_STYLE.sub("", line)) // columns)) for line in self._live[kept:])
        up = min(rows, self.height) - 1
        return "\r" + (f"\x1b[{up}A" if up else "")

    def _cursor(self, *, hidden: bool) -> str:
        if hidden == self._hidden:
            return ""
        self._hidden = hidden
        return _HIDE_CURSOR if hidden else _SHOW_CURSOR

    def _size(self) -> tuple[int, int]:
        """Columns and lines of this very terminal; COLUMNS and LINES are only for where there is none."""
        try:
            size = os.get_terminal_size(self.stream.fileno())
        except (OSError, ValueError):
            size = shutil.get_terminal_size()
        return size.columns or 80, size.lines or 24
