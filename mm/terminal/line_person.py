"""Asks a person line by line on the terminal, without moving the cursor: for one-shot runs and dumb terminals."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from mm.dispatch.person import Answer, ConsentRequest
from mm.interrupt import Interrupt
from mm.terminal import dialog
from mm.terminal.editor import edit_in_editor, editor_command, editor_problem
from mm.terminal.modes import CutLineError, cooked, read_line, read_lines, take_typed_ahead
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
        return self._ask(label, read_line)

    def ask_for_message(self, label: str) -> str | None:
        """One line, or all that are pasted at once; None at end of input."""
        return self._ask(label, read_lines)

    def edit(self, text: str) -> str | None:
        problem = editor_problem()
        if editor_command() and not problem:
            with cooked(self._descriptor), self._interrupt.waiting():
                return edit_in_editor(text, suffix=".json")
        self.show([problem] if problem else [])
        self.show(["The arguments now:", *(f"  {line}" for line in text.split("\n"))])
        return self.ask("new arguments, as JSON on one line (Enter: keep) > ")

    def take_typed_ahead(self) -> str:
        return take_typed_ahead(self._descriptor)

    def _ask(self, label: str, read: Callable[[int], str | None]) -> str | None:
        """Ask until a line comes whole."""
        with cooked(self._descriptor), self._interrupt.waiting():
            while True:
                self._stream.write(label)  # only now: a key that answers it must find the terminal ready for lines
                self._stream.flush()
                try:
                    return read(self._descriptor)
                except CutLineError:
                    take_typed_ahead(self._descriptor)  # the rest of a paste
                    self.show(_CUT)


_CUT = (
    "That line was cut: this terminal takes 4,094 bytes of one. Nothing of it was used.",
    "Write a long text into a file and name it: @FILE; long arguments are edited in $EDITOR, if that is set.",
)


class LinePerson:
    """The Person of `mm -p`: asked on stderr, answers on the terminal. Make one only if `person_is_there()`."""

    def __init__(self, interrupt: Interrupt, stream: TextIO | None = None) -> None:
        self._interrupt = interrupt
        self._desk = LineDesk(interrupt, stream or sys.stderr)

    def decide(self, request: ConsentRequest) -> Answer:
        self._discard_typed()
        return dialog.decide(self._desk, request)

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        self._discard_typed()
        return dialog.clarify(self._desk, questions)

    def _discard_typed(self) -> None:
        with self._interrupt.waiting():
            self._desk.take_typed_ahead()
