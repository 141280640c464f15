"""What a slash command is and what it works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mm.terminal.chat_agent import ChatAgent
from mm.terminal.palette import Palette


class Voice(Protocol):
    """How a command speaks to the person. Text is escaped here, so commands pass it as it is."""

    palette: Palette

    def say(self, text: str) -> None:
        """Lines of plain text."""

    def say_heading(self, text: str) -> None:
        """What the lines below are."""

    def say_prompt(self, text: str) -> None:
        """A message of the person's, as the input line shows one."""

    def say_table(self, rows: Sequence[tuple[str, str]], *, whole: bool = True) -> None:
        """Two columns: a name and what it means. Not `whole`: what does not fit on the line is cut."""

    def say_markdown(self, text: str) -> None:
        """An answer, rendered."""

    def complain(self, text: str, hint: str = "") -> None:
        """What could not be done, and what to do about it."""


@dataclass(slots=True)
class Chat:
    """What the commands of one chat share.

    A text that is not yet sent is in one of four places. Keys that nobody has read yet are in the terminal; those
    that a question or Ctrl-Z found there are in `ChatPerson.typed_ahead`. After a turn both become part of `draft`.
    `prompt` is sent without being shown in the line first, and `attachments` go below whatever is sent next.
    """

    agent: ChatAgent
    voice: Voice
    leaving: bool = False
    prompt: str = ""  # to be sent at once, as if typed
    draft: str = ""  # to be put into the next input line
    attachments: list[str] = field(default_factory=list)  # go with the next message


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command. `run` gets what follows the name, without blanks around it."""

    name: str
    help: str
    run: Callable[[Chat, str], None]
    takes: str = ""  # how the argument is written in /help
    aliases: tuple[str, ...] = ()
