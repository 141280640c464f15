"""What the chat needs of an agent. `mm.app` provides it; tests use a scripted stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mm.errors import ExitCode
from mm.interrupt import Interrupt
from mm.tools.spec import Tool


class TurnEnded(Protocol):
    """How a turn ended: an `mm.turn.TurnEnd`."""

    @property
    def text(self) -> str: ...
    @property
    def code(self) -> ExitCode: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...
    @property
    def unsaid(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call of a past turn. `ending` says in words how it went, "" for well."""

    tool: str
    summary: str
    ending: str = ""


@dataclass(frozen=True, slots=True)
class LastExchange:
    """The end of a session: the last prompt, the calls that came of it, the answer ("" if there is none).

    `elsewhere` says in one line where it was led, if not in this folder and with this agent file.
    """

    prompt: str
    answer: str
    calls: Sequence[CallLine] = ()
    elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One past session in a list. `when` is a local date and time as text."""

    id: str
    when: str
    title: str
    here: bool = False  # it is the one that the chat is in


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """Tokens so far, None where the server did not say. `context` is the last prompt, `context_size` its limit."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    context: int | None = None
    context_size: int | None = None


class ChatAgent(Protocol):
    """One conversation that can be led from a chat. Whatever cannot be done raises MMError."""

    yolo: bool
    interrupt: Interrupt

    @property
    def name(self) -> str: ...
    @property
    def model_label(self) -> str: ...
    @property
    def session_id(self) -> str: ...

    def turn(self, prompt: str) -> TurnEnded:
        """Answer one message; events go to the listener that the agent was built with."""

    def tools(self) -> Sequence[Tool]: ...

    def usage(self) -> UsageFacts: ...

    def use_model(self, label: str) -> None: ...

    def permissions(self) -> Sequence[str]:
        """The rules in force and what was allowed always, one line each."""

    def servers(self) -> Sequence[str]:
        """The MCP servers and how they are, one line each."""

    def skills(self) -> Sequence[tuple[str, str]]:
        """Name and description of each skill."""

    def plan(self) -> str:
        """The model's todo list, one line a task; "" if there is none."""

    def undo(self) -> str | None:
        """Take the last exchange back. Returns its prompt, None if there is none."""

    def clear(self) -> None:
        """Begin a new session."""

    def compact(self) -> str:
        """Replace the older part of the history by a summary. Returns one line on what was done."""

    def changed_file(self) -> str:
        """The agent file, if it has changed since this was last asked; "" if not."""

    def last_exchange(self) -> LastExchange | None:
        """The end of this session, None if it is new."""

    def way_back(self) -> str:
        """The command that goes on with this session, "" if there is nothing to go on with."""

    def models(self) -> Sequence[tuple[str, str]]:
        """What `use_model` may be given, each with a word on it: not all that there is."""

    def sessions(self) -> Sequence[SessionLine]:
        """Past sessions of this folder and agent file, newest first."""

    def resume(self, session_id: str) -> None: ...

    def export(self, file: Path | None) -> Path:
        """Write the conversation as Markdown (or JSON, by the file's ending). Returns where."""
