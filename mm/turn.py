"""One turn: what it has come to so far, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mm.errors import ExitCode
from mm.messages import Outcome, ToolResult, Usage


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended. `text` is the answer, `message` what the user should know about the ending.

    `unsaid`: the prompt was too long and is not part of the conversation.
    """

    text: str
    code: ExitCode = ExitCode.DONE
    message: str = ""
    hint: str = ""
    unsaid: bool = False
    rounds: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    results: tuple[ToolResult, ...] = ()

    @property
    def denials(self) -> tuple[ToolResult, ...]:
        """The calls that did not run because somebody or something said no, those of sub-agents too."""
        return tuple(one for one in _all(self.results) if one.outcome.forbidden)


@dataclass(slots=True)
class Turn:
    """What a turn has come to so far. `rounds` counts its requests."""

    started: float = field(default_factory=time.monotonic)
    rounds: int = 0
    nudged: bool = False
    results: list[ToolResult] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def count(self, usage: Usage) -> None:
        """Add the tokens of one request."""
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0

    def end(self, text: str, code: ExitCode, message: str = "", hint: str = "", *, unsaid: bool = False) -> TurnEnd:
        """A turn that went well but for a call that nobody could be asked about ends as refused."""
        unasked = any(one.outcome is Outcome.UNASKED for one in _all(self.results))
        return TurnEnd(
            text=text,
            code=ExitCode.REFUSED if unasked and code is ExitCode.DONE else code,
            message=message,
            hint=hint,
            unsaid=unsaid,
            rounds=self.rounds,
            seconds=time.monotonic() - self.started,
            usage=Usage(self.prompt_tokens or None, self.completion_tokens or None),
            results=tuple(self.results),
        )


def _all(results: Iterable[ToolResult]) -> Iterator[ToolResult]:
    """The results, each with the forbidden calls of the sub-agent that it may come from."""
    for result in results:
        yield result
        yield from result.denials
