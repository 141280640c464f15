"""What the user asked for on the command line, for every way of talking to the agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OutputFormat(StrEnum):
    """What `mm -p` prints on stdout."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `mm` itself. `prompt` is None for a chat."""

    prompt: str | None = None
    agent_file: str | None = None
    model: str | None = None
    yolo: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    cwd: str | None = None
    max_rounds: int | None = None
    output_format: OutputFormat = OutputFormat.TEXT
    go_on: bool = False
    resume: str | None = None
    no_session: bool = False
    quiet: bool = False
    verbose: bool = False
