"""What a tool is, what an approved call is, and what an executor gives back.

Three states of a call, each with its own type: `ToolCall` (unchecked), `Plan` (checked arguments turned into
exactly what would run) and `ApprovedCall` (may run). Only `mm.dispatch.consent` makes an `ApprovedCall`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeAlias

from mm.messages import JSON, Outcome, ToolResult
from mm.schemas.schema import Schema

Arguments: TypeAlias = Mapping[str, JSON]
"""Checked arguments under the author's names."""


class Kind(StrEnum):
    COMMAND = "command"
    WASM = "wasm"
    BUILTIN = "builtin"
    MCP = "mcp"


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A tool of any kind. `spec` is the kind's own record (what its executor needs)."""

    name: str
    kind: Kind
    description: str
    schema: Schema
    spec: object
    readonly: bool = False  # no effect on the world: may run beside others, may be repeated
    repeat: bool = False  # an identical call right after itself is run again
    final: bool = False  # a successful call may end the turn
    interactive: bool = False  # may ask a person: never runs beside others
    drops_extras: bool = False  # declared without parameters: extra arguments are dropped, and that is said
    place: str = ""  # file:line of a declared tool, the server of an MCP tool


class Need(StrEnum):
    """What a plan asks of consent, before rules and yolo are looked at."""

    NONE = "none"  # reads only what the working directory already shows
    ASK = "ask"
    ALWAYS = "always"  # asked even under yolo: changes what mm itself trusts


class Look(StrEnum):
    """How one part of a plan is shown. Only `STDIN` and `CONTENT` may be shortened."""

    ARGV = "argv"
    TEXT = "text"
    PATH = "path"
    GRANT = "grant"
    STDIN = "stdin"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Shown:
    """One part of a plan as a person is shown it. `entries` has one item per argv entry; else one text."""

    label: str
    look: Look
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Exactly what would run: shown to the person, then run unchanged.

    `what` is the kind's own record. `definition` is the digest that an "always" is bound to: of the tool's
    definition (argv, env, cwd, module bytes, grants), for `bash` also of this exact command. `parts` are the digests
    of its parts, under the names that a person is told when one of them changed ("its arguments"). `covers` says in one
    line what an "always" allows, with no value of this call that it does not depend on; "" where it is any call.
    """

    what: object
    shown: tuple[Shown, ...]
    definition: str
    need: Need = Need.ASK
    parts: Mapping[str, str] = field(default_factory=dict)
    covers: str = ""


def digest_of(value: JSON) -> str:
    """The same for the same JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovedCall:
    """A call that may run. Made by consent alone."""

    id: str
    tool: Tool
    arguments: Arguments
    plan: Plan


@dataclass(frozen=True, slots=True)
class Captured:
    """What came out of a stream: whole in `head` when short, else its first and last bytes.

    `size` is the number of bytes that came out in all, `file` a private file with the whole (or, past the spill
    limit, its tail), `digest` tells two outputs apart.
    """

    head: bytes = b""
    tail: bytes = b""
    size: int = 0
    file: Path | None = None
    digest: str = ""

    @classmethod
    def of(cls, text: str) -> Captured:
        """A text that is already whole in memory."""
        data = text.encode("utf-8", "replace")
        return cls(head=data, size=len(data), digest=hashlib.blake2b(data, digest_size=16).hexdigest())


@dataclass(frozen=True, slots=True)
class Output:
    """What running (or not running) a call gave, before it is shaped for the model.

    `note` is a sentence for the model beside the output ("stopped after 60 s"). `answers` says that `stdout` is
    the whole reply already in words (errors, refusals): it is not labelled further. `denials` are as in ToolResult.
    """

    outcome: Outcome
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)
    exit_code: int | None = None
    note: str = ""
    answers: bool = False
    denials: tuple[ToolResult, ...] = ()

    @classmethod
    def text(cls, outcome: Outcome, text: str) -> Output:
        """Output of a tool that is a text in memory."""
        return cls(outcome, stdout=Captured.of(text))

    @classmethod
    def reply(cls, outcome: Outcome, text: str) -> Output:
        """A reply in words by mm itself: nothing ran, or what ran is told in full."""
        return cls(outcome, stdout=Captured.of(text), answers=True)


@dataclass(frozen=True, slots=True)
class Run:
    """What surrounds one run: where to spill output, when to stop, whom to tell.

    `stop` is set when the person interrupts: the executor ends what it started and returns within a short bounded
    time. `watch` is told the last line of output now and then; it never raises and may be called from any thread.
    """

    stop: threading.Event
    spill: Path
    watch: Callable[[str], None] = lambda line: None


class Executor(Protocol):
    """How one kind of tool runs. It cannot ask, cap, hook or answer."""

    def plan(self, tool: Tool, arguments: Arguments) -> Plan:
        """Turn checked arguments into exactly what would run.

        Raises ToolError for arguments that cannot run (an option where a value belongs, a NUL), CannotRunError where
        none could (a missing program, module or folder).
        """

    def run(self, call: ApprovedCall, run: Run) -> Output:
        """Run an approved call. Never raises for what the program, the module or the server did."""
