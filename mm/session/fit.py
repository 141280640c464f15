"""Cuts a conversation down to what fits the model's context: old tool outputs first, then old turns.

The cut is made down to a low-water mark and then kept for as long as it fits, so that the beginning of the request
stays the same from round to round and the server's prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from mm.counts import count
from mm.messages import Message, Role
from mm.session.records import NOTE_MARK

OLD_OUTPUT = 600  # characters that stay of an old tool output
KEPT_STEPS = 2  # in the running turn, the outputs of this many last replies with calls are not old
LOW_WATER = 0.6  # of the budget: where a new cut ends
ENOUGH = 0.85  # of the budget: a cut that ends here spares the steps of the running turn
_HARDER = (4000, 1500, OLD_OUTPUT, 200)  # characters, for outputs that are not old, if nothing else helps

Estimate = Callable[[Message], int]
"""Tokens that one message takes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left out of a conversation, by index of the messages after the system text.

    Tool outputs before `shrunk` are shortened to `OLD_OUTPUT`, those from there to `limited` to `limit`; messages
    before `first` are left out, and in the turn that then comes first those from its second message to `steps`.
    """

    shrunk: int = 0
    first: int = 0
    steps: int = 0
    limited: int = 0
    limit: int = 0

    def within(self, count: int) -> Cut:
        """What it says of the first `count` messages: those that come in the place of later ones are not cut yet."""
        begun = self.first < count
        return Cut(
            shrunk=min(self.shrunk, count),
            first=self.first if begun else 0,
            steps=self.steps if begun and self.steps < count else 0,
            limited=min(self.limited, count),
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """What to send. `note` says what is newly left out, `fits` is false if even so it is too long."""

    messages: list[Message]
    note: str
    cut: Cut
    tokens: int  # estimated
    fits: bool = True


def fit(messages: Sequence[Message], *, budget_tokens: int, estimate: Estimate, previous: Cut | None = None) -> Fitted:
    """Cut `messages` (system text first, every call with its replies) so that they take at most `budget_tokens`.

    `previous` is the cut of the last request: it is made again while it is enough.
    """
    head = [message for message in messages if message.role is Role.SYSTEM]
    body = [message for message in messages if message.role is not Role.SYSTEM]
    budget = budget_tokens - sum(map(estimate, head))
    fixed = budget_tokens - budget
    for cut in (Cut(), previous):
        if cut is not None and _still_good(cut, body):
            kept = apply(body, cut)
            tokens = sum(map(estimate, kept))
            if tokens <= budget:
                return Fitted(head + kept, "", cut, tokens + fixed)
    cut = _choose(body, budget, estimate)
    kept = apply(body, cut)
    tokens = sum(map(estimate, kept))
    return Fitted(head + kept, _note(body, cut), cut, tokens + fixed, fits=tokens <= budget)


def apply(body: Sequence[Message], cut: Cut) -> list[Message]:
    """The messages that a cut leaves, with a line in place of those that it does not."""
    kept = []
    for index in range(cut.first, len(body)):
        message = body[index]
        if cut.first < index < cut.steps:
            continue
        if message.role is Role.TOOL and index < cut.shrunk:
            message = replace(message, content=shorten(message.content, OLD_OUTPUT))
        elif message.role is Role.TOOL and index < cut.limited:
            message = replace(message, content=shorten(message.content, cut.limit))
        kept.append(message)
    if kept and (cut.first or cut.steps):
        kept[0] = replace(kept[0], content=_with_lines(kept[0].content, cut))
    return kept


def shorten(text: str, limit: int) -> str:
    """The beginning and the end of a text of more than `limit` characters, and how much is missing between them."""
    gone = len(text) - limit
    if gone <= 80:  # the line that says so would be as long
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n[... {gone:,} characters of this output left out to make room ...]\n{text[head + gone :]}"


def _with_lines(text: str, cut: Cut) -> str:
    lines = []
    if cut.first:
        lines.append(f"[The first {cut.first} messages of this conversation were left out to make room.]\n\n")
    lines.append(text)
    if cut.steps:
        gone = cut.steps - cut.first - 1
        lines.append(f"\n\n[The next {gone} messages, calls and their results, were left out to make room.]")
    return "".join(lines)


def _still_good(cut: Cut, body: Sequence[Message]) -> bool:
    """Whether a cut still falls between turns and steps: the conversation may have been taken back."""
    if cut.first and (cut.first >= len(body) or body[cut.first].role is not Role.USER):
        return False
    return not cut.steps or (cut.steps < len(body) and body[cut.steps].role is Role.ASSISTANT)


def _choose(body: Sequence[Message], budget: int, estimate: Estimate) -> Cut:
    """The mildest cut that reaches the low-water mark, else the mildest that fits, else the hardest."""
    low, enough = int(budget * LOW_WATER), int(budget * ENOUGH)
    spared: Cut | None = None
    fitting: Cut | None = None
    cut = Cut()
    for cut, tokens in _cuts(body, estimate):
        if (cut.steps and spared) or (cut.limited and fitting):
            break  # what is new is only touched if nothing else helps
        if tokens <= low:
            return cut
        if tokens <= enough:
            spared = spared or cut
        if tokens <= budget:
            fitting = fitting or cut
    return spared or fitting or cut


def _cuts(body: Sequence[Message], estimate: Estimate) -> Iterator[tuple[Cut, int]]:
    """Cuts from mild to hard, each with the tokens that are left."""
    costs = [estimate(message) for message in body]
    tokens = sum(costs)
    cut = Cut()
    turns = [index for index, message in enumerate(body) if _begins_turn(message)]
    last_turn = turns[-1] if turns else 0
    for index in range(_start_of_recent(body, last_turn)):
        message = body[index]
        if message.role is Role.TOOL and len(message.content) > OLD_OUTPUT:
            short = estimate(replace(message, content=shorten(message.content, OLD_OUTPUT)))
            tokens += short - costs[index]
            costs[index] = short
            cut = Cut(shrunk=index + 1)
            yield cut, tokens
    sums = [0, *accumulate(costs)]
    for first in turns[1:]:
        cut = replace(cut, first=first)
        yield cut, _tokens(body, cut, sums, estimate)
    steps = [index for index in range(last_turn + 1, len(body)) if body[index].role is Role.ASSISTANT]
    for step in steps[1:]:
        cut = replace(cut, first=last_turn, steps=step)
        yield cut, _tokens(body, cut, sums, estimate)
    for limit in _HARDER:
        cut = replace(cut, limited=len(body), limit=limit)
        yield cut, sum(map(estimate, apply(body, cut)))


def _tokens(body: Sequence[Message], cut: Cut, sums: Sequence[int], estimate: Estimate) -> int:
    opening = body[cut.first]
    resumed = max(cut.steps, cut.first + 1)
    return estimate(replace(opening, content=_with_lines(opening.content, cut))) + sums[-1] - sums[resumed]


def _start_of_recent(body: Sequence[Message], last_turn: int) -> int:
    """Where outputs are no longer old: those of the last few replies with calls in the last turn."""
    steps = [index for index in range(last_turn, len(body)) if body[index].tool_calls]
    return steps[-KEPT_STEPS:][0] if steps else len(body)


def _note(body: Sequence[Message], cut: Cut) -> str:
    done = []
    shrunk = sum(
        message.role is Role.TOOL and len(message.content) > OLD_OUTPUT for message in body[cut.first : cut.shrunk]
    )
    if shrunk:
        done.append(f"shortened {count(shrunk, 'old tool output')}")
    if cut.limited:
        done.append(f"shortened the newest tool outputs to {cut.limit:,} characters")
    gone = cut.first + max(0, cut.steps - cut.first - 1)
    if gone:
        done.append(f"left out {gone} old messages")
    return f"The conversation no longer fits the model's context: {', '.join(done)}." if done else ""


def _begins_turn(message: Message) -> bool:
    """Whether a person wrote some of it: what they say after a note is one message with it."""
    parts = message.content.split("\n\n")
    return message.role is Role.USER and not all(part.startswith(NOTE_MARK) for part in parts)
