"""What a session is made of: its own facts, and one record for each message."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from mm.messages import Role, ToolCall

STARTED = "started"
"""`Record.outcome` of a call that runs, or that ran when mm was killed: see `Record.is_running`."""

NOTE = "note"
"""`Record.outcome` of a user message that mm itself wrote to the model: see `Record.is_note`."""

COPIED = -1
"""`Record.number` of a message that was copied from another session: it is stored once something is said after it."""

NOTE_MARK = "[mm] "
"""How the model sees that a note is not from the person."""

_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Session:
    """The facts of one session. Times are seconds since 1970; `agent` is the path of the agent file, or ""."""

    id: str
    created: float
    updated: float
    cwd: str
    agent: str = ""
    model: str = ""
    title: str = ""
    summary: str = ""  # stands for the messages that were left out by a compaction
    prompt_tokens: int = 0
    completion_tokens: int = 0
    size: int = 0  # messages


@dataclass(frozen=True, slots=True)
class Record:
    """One message as it is kept.

    `number` is its row in the store, and gives the order; 0: it is not stored yet; or `COPIED`. `left_out`: a summary
    stands for it; it is no longer sent to the model. The other fields depend on `role`:

    user        `outcome` is `NOTE` if mm itself wrote it, else ""
    assistant   `calls` are those of the reply, as the model wrote them
    tool        `call_id` names the call that is answered; `calls` holds it as it was approved and ran (or as the
                model wrote it, if it did not run): a legal name, arguments that are one JSON object; `outcome` is
                an `Outcome`, or `STARTED` until there is a result
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    outcome: str = ""
    created: float = 0.0
    number: int = 0
    left_out: bool = False

    @property
    def begins_turn(self) -> bool:
        """Whether a person wrote it: `/undo` goes back to here."""
        return self.role is Role.USER and not self.is_note

    @property
    def is_note(self) -> bool:
        """Whether mm itself wrote it to the model, in the person's place."""
        return self.outcome == NOTE

    @property
    def is_running(self) -> bool:
        """Whether its call was started and has no result: it runs, or ran when mm was killed."""
        return self.outcome == STARTED


def start_of_last_turn(records: Sequence[Record]) -> int | None:
    """Where the last turn of a person's begins, None if there is none."""
    return next((index for index in reversed(range(len(records))) if records[index].begins_turn), None)


def new_session(cwd: str, agent: str = "", model: str = "") -> Session:
    """The facts of a session that begins now. It is stored with its first message."""
    now = time.time()
    return Session(id=new_id(now), created=now, updated=now, cwd=cwd, agent=agent, model=model)


def new_id(now: float) -> str:
    """The day, then four syllables that can be said aloud: `20260412-kodamiru`."""
    chance = os.urandom(8)
    word = "".join(_CONSONANTS[one % 16] + _VOWELS[two % 5] for one, two in zip(chance[::2], chance[1::2], strict=True))
    return f"{time.strftime('%Y%m%d', time.localtime(now))}-{word}"


def title_of(prompt: str) -> str:
    """The first line of a prompt that says something, cut to 72 characters."""
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    title = " ".join(line.split())
    return title if len(title) <= 72 else title[:71] + "…"


def sound_time(value: object) -> float:
    """A time as it was stored; 0 if it is damaged."""
    return float(value) if isinstance(value, int | float) else 0.0
