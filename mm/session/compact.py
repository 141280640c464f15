"""`/compact`: a summary takes the place of what came before the last turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mm.counts import count
from mm.errors import ModelError
from mm.messages import Message
from mm.session.heal import sendable, with_request
from mm.session.history import History
from mm.session.records import Record, start_of_last_turn, title_of

REQUEST = (
    "Write a summary of this conversation so far, for yourself: it will take the place of the messages. "
    "Keep what was asked, what was done and found out (names, paths, numbers, results of calls), what was decided, "
    "and what is still open. Answer with the summary alone, without calling a tool."
)

Summarize = Callable[[Sequence[Message]], str]
"""Asks the model for a summary: gets the conversation, ending with the request. Raises ModelError if there is none."""


def compact(history: History, summarize: Summarize | None = None) -> str:
    """Replace everything before the last turn (everything, if there is one turn) by a summary.

    Without a model's summary, a list of what had been asked takes its place. Returns what was done, for the user.
    """
    records = history.records
    number = start_of_last_turn(records) or len(records)
    if not number:
        return "There is nothing to compact."
    summary, problem = _ask(sendable(records[:number], history.summary), summarize)
    text = summary or _outline(records[:number], history.summary)
    history.compact(number, text if not summary else f"[Summary of the conversation so far]\n{summary}")
    how = "a summary takes their place" if summary else f"a list of what was asked takes their place{problem}"
    return f"Left out {count(number, 'message')}: {how}. They stay in the session for reading."


def _ask(messages: Sequence[Message], summarize: Summarize | None) -> tuple[str, str]:
    if summarize is None:
        return "", ""
    try:
        summary = summarize(with_request(messages, REQUEST)).strip()
    except ModelError as error:
        return "", f" (the model gave no summary: {error.message})"
    return summary, "" if summary else " (the model's summary was empty)"


def _outline(records: Sequence[Record], before: str) -> str:
    prompts = [f"- {title_of(record.content)}" for record in records if record.begins_turn]
    gone = count(len(records), "message")
    lines = [f"[Left out to make room: {gone}. What was asked in them:]", *prompts]
    return "\n".join([before, *lines] if before else lines)
