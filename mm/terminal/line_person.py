"""Asks a person line by line on the terminal, without moving the cursor: for one-shot runs and dumb terminals."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from mm.dispatch.person import Answer, ConsentRequest
from mm.interrupt import Interrupt
from mm.terminal import dialog
from mm.terminal.editor import edit_in_editor, editor_command, editor_problem
from mm.terminal.modes import cooked, read_line, take_typed_ahead
from mm.terminal.palette import Palette, palette_for


class LineDesk:
    """Shows on a stream and reads lines from the terminal that is standard input."""

    def __init__(self, interrupt: Interrupt, stream: TextIO, descriptor: int = 0) -> None:
        self._interrupt = interrupt
        self._stream = stream
        self._descriptor = descriptor
        self.palette: Palette = palette_for(stream)

    def size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            size = shutil.get_terminal_size()
        return max(size.columns - 1, 20), max(size.lines, 8)

    def show(self, lines: Sequence[str]) -> None:
        encoding = self._stream.encoding or "utf-8"
        text = "".join(f"{line}\n" for line in lines)
        self._stream.write(text.encode(encoding, "replace").decode(encoding, "replace"))
        self._stream.flush()

    def ask(self, label: str) -> str | None:
        with cooked(self._descriptor), self._interrupt.waiting():
            self._stream.write(label)  # only now: a key that answers it must find the terminal ready for lines
            self._stream.flush()
            return read_line(self._descriptor)

    def edit(self, text: str) -> str | None:
        problem = editor_problem()
        if editor_command() and not problem:
            with cooked(self._descriptor):
                return edit_in_editor(text, suffix=".json")
        self.show([problem] if problem else [])
        self.show(["The arguments now:", *(f"  {line}" for line in text.split("\n"))])
        return self.ask("new arguments, as JSON on one line (Enter: keep) > ")

    def take_typed_ahead(self) -> str:
        with self._interrupt.waiting():
            return take_typed_ahead(self._descriptor)


class LinePerson:
    """The Person of `mm -p`: asked on stderr, answers on the terminal. Make one only if `person_is_there()`."""

    def __init__(self, interrupt: Interrupt, stream: TextIO | None = None) -> None:
        self._desk = LineDesk(interrupt, stream or sys.stderr)

    def decide(self, request: ConsentRequest) -> Answer:
        self._desk.take_typed_ahead()
        return dialog.decide(self._desk, request)

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        self._desk.take_typed_ahead()
        return dialog.clarify(self._desk, questions)
