"""What happens during a turn, for whoever watches: the chat, the one-shot echo, the JSON stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mm.messages import Reply, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request to the model is on its way. `number` counts from 1 within the turn."""

    number: int


@dataclass(frozen=True, slots=True)
class TextShown:
    """A piece of the answer that may be shown: never part of a call written as text."""

    text: str


@dataclass(frozen=True, slots=True)
class TextHeld:
    """A piece of the reply has come that is not shown: it may be a call written as text."""


@dataclass(frozen=True, slots=True)
class ReasoningShown:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The whole reply is here. `shown` is the text of it that is an answer ("" when it was a call)."""

    reply: Reply
    shown: str


@dataclass(frozen=True, slots=True)
class CallAnnounced:
    """A call of the reply, before anything is checked."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The call was approved and now runs. `summary` is one line: its arguments, long ones cut."""

    call: ToolCall
    tool: str
    summary: str


@dataclass(frozen=True, slots=True)
class CallProgress:
    """The last line of output of a running call. May come from any thread."""

    call_id: str
    line: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call is answered: it ran, or it was refused, invalid, unknown, repeated."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know: a retry, a shortened history, a loop."""

    text: str


Event: TypeAlias = (
    RequestSent
    | TextShown
    | TextHeld
    | ReasoningShown
    | ReplyEnded
    | CallAnnounced
    | CallStarted
    | CallProgress
    | CallEnded
    | Notice
)
Listener: TypeAlias = Callable[[Event], None]
