"""How the chat itself speaks: lines of text, tables of two columns, complaints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from mm.counts import count
from mm.terminal.cells import clip, wrap, wrap_words
from mm.terminal.markdown import render_markdown
from mm.terminal.palette import Palette
from mm.terminal.running import tidy_line
from mm.terminal.screen import Screen
from mm.visible import make_visible, make_visible_line

_WIDEST_NAME = 32
_NARROW = 50
_END_LINES = 20


class ScreenVoice:
    """A Voice that prints on a screen, escaped and wrapped."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.palette: Palette = screen.palette

    def say(self, text: str) -> None:
        self._screen.print([piece for line in text.split("\n") for piece in self._wrapped(line)])

    def say_lines(self, output: str) -> None:
        """The output of a program: its first and last lines."""
        lines = [tidy_line(line) for line in output.rstrip("\n").split("\n")]
        if len(lines) > 2 * _END_LINES:
            missing = count(len(lines) - 2 * _END_LINES, "line")
            lines = [*lines[:_END_LINES], f"… {missing} …", *lines[-_END_LINES:]]
        self._screen.print([piece for line in lines for piece in wrap(line, self._screen.width)])

    def say_heading(self, text: str) -> None:
        self._screen.print(["", *(self.palette.dim(line) for line in self._wrapped(text))])

    def say_prompt(self, text: str) -> None:
        first, *rest = [piece for line in text.split("\n") for piece in self._wrapped(line, 2)]
        self._screen.print([f"{self.palette.accent('›')} {first}", *(f"  {line}" for line in rest)])

    def say_table(self, rows: Sequence[tuple[str, str]], *, whole: bool = True) -> None:
        width = self._screen.width
        names = [make_visible_line(name) for name, _ in rows]
        indent = min(max((cell_len(name) for name in names), default=0), _WIDEST_NAME) + 2
        lines: list[str] = []
        for name, (_, meaning) in zip(names, rows, strict=True):
            lines += self._row(
                name, make_visible_line(meaning), 2 if width < _NARROW else indent, width, whole or width < _NARROW
            )
        self._screen.print(lines)

    def say_markdown(self, text: str) -> None:
        if self._screen.moves:
            self._screen.print(render_markdown(text, self._screen.width, self.palette))
        else:
            self._screen.print(make_visible(text).split("\n"))

    def complain(self, text: str, hint: str = "") -> None:
        lines = self._wrapped(text)
        hints = [piece for line in hint.split("\n") for piece in self._wrapped(line)] if hint else []
        self._screen.print([*(self.palette.bad(line) for line in lines), *hints])

    def _row(self, name: str, meaning: str, indent: int, width: int, whole: bool) -> list[str]:
        room = width - indent - 2
        first, *rest = wrap_words(meaning, room) if whole else [clip(meaning, room)]
        if not name and not meaning:
            return [""]
        if cell_len(name) > indent - 2:
            return [f"  {self.palette.bold(clip(name, width - 2))}", *(" " * (indent + 2) + x for x in (first, *rest))]
        start = f"  {self.palette.bold(name)}{' ' * (indent - cell_len(name))}"
        return [start + first, *(" " * (indent + 2) + line for line in rest)]

    def _wrapped(self, line: str, margin: int = 0) -> list[str]:
        return wrap_words(make_visible_line(line), self._screen.width - margin)
