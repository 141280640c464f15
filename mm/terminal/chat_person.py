"""The Person of the chat: asked between two frames of the turn's display."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from mm.dispatch.person import Answer, ConsentRequest
from mm.interrupt import Interrupt
from mm.terminal import dialog
from mm.terminal.display import TurnDisplay
from mm.terminal.palette import Palette
from mm.terminal.screen import Screen


class AnswerReader(Protocol):
    """The reading half of a Desk: a MessageLine, or a LineDesk on a dumb terminal. A signal ends what they read."""

    def ask(self, label: str) -> str | None: ...

    def edit(self, text: str) -> str | None: ...

    def take_typed_ahead(self) -> str: ...


class ChatPerson:
    """Asks with the turn's display out of the way. Ctrl-C at a question interrupts the turn.

    It is the Person that the journey asks and, at once, the Desk that `dialog` asks at: it shows on the screen of the
    chat, and reads with its reader.
    """

    def __init__(self, screen: Screen, display: TurnDisplay, reader: AnswerReader, interrupt: Interrupt) -> None:
        self._screen = screen
        self._display = display
        self._reader = reader
        self._interrupt = interrupt
        self.palette: Palette = screen.palette
        self.typed_ahead = ""  # what was typed before a question and was meant for a later message

    def decide(self, request: ConsentRequest) -> Answer:
        """What was typed before the question was there is thrown away: it could not be meant for it."""
        with self._asking():
            return dialog.decide(self, request)

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        """What was typed before the questions were there waits for the next message."""
        with self._asking() as typed:
            self.typed_ahead += typed
            self.show([""])
            return dialog.clarify(self, questions)

    def size(self) -> tuple[int, int]:
        return self._screen.width, self._screen.height

    def show(self, lines: Sequence[str]) -> None:
        self._screen.print(lines)

    def ask(self, label: str) -> str | None:
        reply = self._reader.ask(label)
        self._screen.someone_wrote()
        return reply

    def edit(self, text: str) -> str | None:
        changed = self._reader.edit(text)
        self._screen.someone_wrote()
        return changed

    @contextlib.contextmanager
    def _asking(self) -> Iterator[str]:
        """Gives what was typed before."""
        with self._display.paused():
            try:
                with self._interrupt.waiting():
                    typed = self._reader.take_typed_ahead()
                yield typed
            except KeyboardInterrupt:
                self._interrupt.stop.set()  # the key was read as a key: nobody else has heard of it
                self.typed_ahead += self._reader.take_typed_ahead()  # pressed again, it is not meant for the next line
                if not self._screen.moves:
                    self.show([""])  # the terminal has echoed ^C
                raise
