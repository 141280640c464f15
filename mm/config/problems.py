"""What is wrong in an agent file: every problem with its place and the edit that mends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mm.config.schema import Place
from mm.counts import count
from mm.errors import UsageError
from mm.visible import make_visible_line


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. `hint` is the edit that mends it; it may be empty."""

    place: Place
    message: str
    hint: str = ""

    def __str__(self) -> str:
        first = f"{self.place}: {_shown(self.message, 400)}"
        return f"{first}\n  {_shown(self.hint, 2_000)}" if self.hint else first


class ConfigProblems(UsageError):  # noqa: N818 - it is all of them, not one error
    """All problems of one agent file, in the order of their places."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.place.line, problem.place.column)))
        title = f"{count(len(self.problems), 'problem')} in the agent file"
        super().__init__("\n".join((title, *(str(problem) for problem in self.problems))))


def _shown(text: str, most: int) -> str:
    """One line for the terminal: what the file holds may be hostile, or very long."""
    return make_visible_line(text if len(text) <= most else text[:most] + "…")


def unreadable(file: Path, message: str, hint: str = "", *, line: int = 1, column: int = 1) -> ConfigProblems:
    """A problem that comes alone, because nothing behind it can be read."""
    return ConfigProblems([Problem(Place(file, line, column), message, hint)])
