"""The person at the terminal, as the journey sees them: someone who can be asked, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from mm.tools.spec import Arguments, Plan, Tool


class Decision(StrEnum):
    YES = "yes"
    NO = "no"
    ALWAYS_SESSION = "always for this session"
    ALWAYS_SAVED = "always for this agent file"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """What a person is asked. `reason` says why, where it is not obvious ("`bash` is in `ask`", "changed since").

    `complaint` says what is wrong with edited arguments (JSON text), "" if nothing is.
    """

    tool: Tool
    arguments: Arguments
    plan: Plan
    reason: str = ""
    complaint: Callable[[str], str] = lambda arguments: ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said. `reason` goes to the model with a no; `arguments` is the edited JSON text of an edit."""

    decision: Decision
    reason: str = ""
    arguments: str = ""


class Person(Protocol):
    """Someone at a terminal. Both methods may raise KeyboardInterrupt.

    Who implements them waits in `Interrupt.waiting()` while reading, and nowhere else: whatever was done to the
    terminal for the question has to be undone.
    """

    def decide(self, request: ConsentRequest) -> Answer:
        """Ask for consent. Typed-ahead input is discarded first; end of input is a no."""

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        """Ask several questions, each with optional choices; one answer each, "" where it was skipped."""
