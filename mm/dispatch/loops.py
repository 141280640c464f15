"""Models that go in circles: a call that has just succeeded is not run again, and a circle ends the turn.

Two questions, each with a memory of its own.

    question         asked before consent       told after the answer          what it remembers
    repeat check     `repeated`: did this       `remember`: the calls that     the one last call that may have had
                     call just succeed?         ran                            an effect
    loop detector    `rule`: does this call     `record`: every call,          all calls of the turn with their
                     go on with a circle?       however it was answered        results

A call that one of the two answers has no result of its own: it is recorded `as_before`, with the result that the same
call had, so that a circle goes on through its refusals until it ends the turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mm.messages import Outcome
from mm.tools.spec import Tool

LONGEST_CYCLE = 4
NOTICE_AT, REFUSE_AT, END_AT = 2, 3, 4
POLL_NOTICE_EVERY, POLL_END_AT = 5, 20


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two calls the same: the tool and its converted arguments in canonical form, before hooks.

    For a call whose arguments never parsed or whose tool is unknown: the name and the raw text.
    """

    name: str
    arguments: str


class Ruling(StrEnum):
    """What is to happen with a call that is about to be made."""

    GO_ON = "go on"
    REFUSE = "refuse"
    END_TURN = "end the turn"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One answered call of the turn."""

    identity: Identity
    result: str  # a digest of the raw result
    polls: bool  # it ran, and its tool was declared `repeat`
    order: int  # the call's place in its reply
    answer: str | None  # what it printed, if it succeeded


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The last call that may have had an effect."""

    identity: Identity
    outcome: Outcome
    answer: str


class Loops:
    """What a turn has called so far. A new user message starts afresh.

    `outer` is that of the agent that this one does a task for. What a person has said no to holds for both.
    """

    def __init__(self, outer: Loops | None = None) -> None:
        self._entries: list[_Entry] = []
        self._earlier: _Earlier | None = None
        self._has_outer = outer is not None
        self._refused: set[Identity] = outer._refused if outer else set()
        self._reply_started = 0

    def start_turn(self) -> None:
        """Forget everything: the user has said something new. A task is no word of the user's."""
        self._entries.clear()
        self._earlier = None
        if not self._has_outer:
            self._refused.clear()
        self._reply_started = 0

    def start_reply(self) -> None:
        """A new reply of the model begins."""
        self._reply_started = len(self._entries)

    # The repeat check

    def repeated(self, tool: Tool, identity: Identity) -> tuple[Outcome, str] | None:
        """The outcome and the reply, if this call is not to run again; else None."""
        if identity in self._refused:
            return Outcome.REFUSED, _REFUSED_BEFORE
        earlier = self._earlier
        if tool.readonly or tool.repeat or earlier is None or earlier.identity != identity:
            return None
        if earlier.outcome is Outcome.OK:
            reply = f"Not run again: this exact call has just succeeded. Its result was:\n{earlier.answer}\n{_GO_ON}"
            return Outcome.REPEATED, reply
        if earlier.outcome in (Outcome.TIMED_OUT, Outcome.KILLED):
            return Outcome.STOPPED, _STOPPED_BEFORE
        return None

    def remember(self, tool: Tool, identity: Identity, outcome: Outcome, answer: str) -> None:
        """Note a call that ran. Calls that did not run, and calls of `readonly` tools, stand between nothing."""
        if not tool.readonly:
            self._earlier = _Earlier(identity, outcome, answer)

    def remember_refusal(self, identity: Identity) -> None:
        """A person said no: the same call is refused for the rest of the turn, without asking."""
        self._refused.add(identity)

    # The loop detector

    def rule(self, identity: Identity) -> Ruling:
        """What is to happen with a call before it is run, judged by what the turn has called so far."""
        ruling = Ruling.GO_ON
        for length in range(1, LONGEST_CYCLE + 1):
            passes = self._passes(length)
            if passes < REFUSE_AT - 1 or self._entries[-length].identity != identity:
                continue
            if self._polls(length):
                continue  # only its next result tells
            if passes >= END_AT - 1:
                return Ruling.END_TURN
            ruling = Ruling.REFUSE
        return ruling

    def record(
        self, identity: Identity, result: str, *, polls: bool, order: int, answer: str | None, as_before: bool = False
    ) -> str:
        """Note an answered call and give the notice that belongs into its reply ("" if none).

        `as_before`: the call was not run, since it had been answered already; it counts with the result that it had
        before, so that the circle goes on. `answer` is what a successful call printed, else None.
        """
        before = self._last(identity)
        if as_before and before is not None:
            result, answer = before.result, before.answer
        self._entries.append(_Entry(identity, result, polls, order, answer))
        for length in range(1, LONGEST_CYCLE + 1):
            passes = self._passes(length)
            if passes < NOTICE_AT:
                continue
            if self._polls(length):
                return _POLL_NOTICE.format(passes) if passes % POLL_NOTICE_EVERY == 0 else ""
            return _NOTICE if length == 1 else _CYCLE_NOTICE.format(length)
        return ""

    @property
    def has_polled_out(self) -> bool:
        """Whether calls of `repeat` tools have by now had the same results so often that the turn ends."""
        lengths = range(1, LONGEST_CYCLE + 1)
        return any(self._polls(length) and self._passes(length) >= POLL_END_AT for length in lengths)

    def circle_answer(self, identity: Identity) -> str | None:
        """What the call that closes the circle printed when it succeeded; None if it never did."""
        last = self._last(identity)
        return last.answer if last else None

    def _last(self, identity: Identity) -> _Entry | None:
        return next((entry for entry in reversed(self._entries) if entry.identity == identity), None)

    def settle(self) -> None:
        """All calls of a group are answered: put them into the model's order, however they ended."""
        start = self._reply_started
        self._entries[start:] = sorted(self._entries[start:], key=lambda entry: entry.order)

    def _polls(self, length: int) -> bool:
        """Whether a call of a `repeat` tool is among the last `length` ones."""
        return any(entry.polls for entry in self._entries[-length:])

    def _passes(self, length: int) -> int:
        """How often the last `length` entries stand at the end, one pass directly after the other."""
        entries = self._entries
        count = 0
        pattern = [(entry.identity, entry.result) for entry in entries[-length:]]
        end = len(entries)
        while end >= length and [(e.identity, e.result) for e in entries[end - length : end]] == pattern:
            count += 1
            end -= length
            if count > POLL_END_AT:
                break
        return count


_GO_ON = "Go on with the next step, or give the final answer."
_REFUSED_BEFORE = (
    "Refused: the user has already said no to this exact call, and was not asked again. Do something else, or say why."
)
_STOPPED_BEFORE = (
    "Not run again: this exact call was stopped before it ended, so it may have had an effect. "
    "Find out what it did before you try anything else, or tell the user."
)
_NOTICE = "Notice: this is the same call with the same result as before. Do not send it again. " + _GO_ON
_CYCLE_NOTICE = "Notice: the last {} calls repeat the calls before them, with the same results. " + _GO_ON
_POLL_NOTICE = "Notice: {} times the same result by now. Stop asking if nothing is going to change."
REFUSAL = "Refused: this call was answered twice already, with the same result. It is not run again. " + _GO_ON
END = "Stopped: the model sends the same calls again and again, with the same results."
