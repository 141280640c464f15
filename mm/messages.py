"""The words that travel between model, dispatcher, history and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

JSON: TypeAlias = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with text keys."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: nothing in it is checked.

    `arguments` is the raw text of the arguments; `id` is never empty. `written` says that the model wrote the
    call as plain text instead of using the wire's field for calls.
    """

    id: str
    name: str
    arguments: str
    written: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation. `tool_calls` only on assistant messages, `tool_call_id` only on tool messages."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool as the model is shown it. `parameters` is the cleaned JSON Schema that goes over the wire."""

    name: str
    description: str
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the server reported them; None where it did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Finish(StrEnum):
    """Why a reply ended."""

    DONE = "done"
    LENGTH = "length"  # cut by the token limit: none of its calls may run


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply of the model. `text` is without reasoning; `calls` are those of the wire's own field."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.DONE
    usage: Usage = field(default_factory=Usage)


class Outcome(StrEnum):
    """How a call was answered."""

    OK = "ok"  # it ran and succeeded
    FAILED = "failed"  # it ran and said that it failed, or it could not be started
    TIMED_OUT = "timed_out"  # it ran and was stopped at its time limit
    KILLED = "killed"  # it ran and was stopped: memory, a signal, a dead server
    INTERRUPTED = "interrupted"  # the person interrupted
    INVALID = "invalid"  # the arguments are wrong; nothing ran
    UNKNOWN = "unknown"  # no tool of that name; nothing ran
    DENIED = "denied"  # a deny rule or a hook said no; nothing ran
    REFUSED = "refused"  # a person said no; nothing ran
    UNASKED = "unasked"  # nobody could be asked; nothing ran
    REPEATED = "repeated"  # the same call had just succeeded; not run again
    STOPPED = "stopped"  # the loop detector refused it; nothing ran
    CUT = "cut"  # the reply was cut or the call half received; nothing ran

    @property
    def ran(self) -> bool:
        """Whether something may have run, and so may have had an effect."""
        return self in _RAN

    @property
    def forbidden(self) -> bool:
        """Whether nothing ran because somebody or something said no."""
        return self in _FORBIDDEN


_RAN = frozenset({Outcome.OK, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.KILLED, Outcome.INTERRUPTED})
_FORBIDDEN = frozenset({Outcome.DENIED, Outcome.REFUSED, Outcome.UNASKED})


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The one answer to one call.

    `call` is as stored in the history (a legal name, arguments that are one JSON object); `content` is what the
    model reads; `answer` is the output alone, as printed when it ends the turn. `denials` are the forbidden calls of
    the sub-agents that worked for this one.
    """

    call: ToolCall
    outcome: Outcome
    content: str
    answer: str = ""
    seconds: float = 0.0
    denials: tuple[ToolResult, ...] = ()
