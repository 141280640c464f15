"""The conversation in memory, and its copy in the store: what the model is sent, and what survives a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mm.messages import Message, Role, ToolCall, ToolResult, Usage
from mm.session.heal import heal_arguments, heal_name, sendable
from mm.session.keeping import Keeping
from mm.session.records import COPIED, NOTE, STARTED, Record, Session, new_session, start_of_last_turn, title_of

if TYPE_CHECKING:
    from mm.session.store import Store

OnWarning = Callable[[str], None]


def _silent(text: str) -> None:
    """Nobody listens to warnings."""


class History:
    """One conversation. Every change is written to the store at once, except what a person has just said.

    `open_store` is called when the store is first needed; None keeps everything in memory (`--no-session`). A store
    that fails is told to `warn`, and the conversation goes on (see `Keeping`). May be used from several threads.
    `stored`: the session with these `records` is in the store, and held by this mm.
    """

    def __init__(
        self,
        open_store: Callable[[], Store] | None = None,
        session: Session | None = None,
        *,
        records: Sequence[Record] = (),
        warn: OnWarning = _silent,
        stored: bool = False,
    ) -> None:
        self._keeping = Keeping(open_store, warn, stored=stored)
        self._session = session or new_session(str(Path.cwd()))
        self._left_out = [record for record in records if record.left_out]
        self._records = [record for record in records if not record.left_out]
        self._lock = threading.RLock()

    @property
    def session(self) -> Session:
        """The facts of this session. Its id may still change until something of it is stored."""
        return self._session

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def usage(self) -> Usage:
        """All tokens of this session so far."""
        return Usage(self._session.prompt_tokens, self._session.completion_tokens)

    @property
    def records(self) -> tuple[Record, ...]:
        """What is still sent to the model, as it is kept."""
        with self._lock:
            return tuple(self._records)

    @property
    def all_records(self) -> tuple[Record, ...]:
        """All that was said and not taken back, also what a compaction left out of the requests."""
        with self._lock:
            return (*self._left_out, *self._records)

    @property
    def summary(self) -> str:
        """What stands for the messages that a compaction left out."""
        return self._session.summary

    def messages(self) -> list[Message]:
        """The conversation as a strict server accepts it, without the system text."""
        with self._lock:
            return sendable(self._records, self._session.summary)

    def add_user(self, text: str, *, note: bool = False) -> None:
        """What a person said; `note`: what mm itself tells the model in the person's place.

        It is stored by `save()` or with whatever comes next, so that opening the store does not delay a request.
        """
        with self._lock:
            if not note and not self._session.title:
                self._change(replace(self._session, title=title_of(text)))
            self._records.append(_record(Role.USER, text, outcome=NOTE if note else ""))

    def add_reply(self, text: str, calls: Sequence[ToolCall] = (), usage: Usage | None = None) -> None:
        """A reply of the model, with its calls as it wrote them."""
        with self._lock:
            self._records.append(_record(Role.ASSISTANT, text, calls=tuple(calls)))
            if usage is not None:
                self._add_usage(usage)
            self.save()

    def add_final(self, text: str) -> None:
        """The output of a `final` tool: the answer, as the assistant's message."""
        self.add_reply(text)

    def call_started(self, call: ToolCall) -> None:
        """Write down that this call, as it was approved, is about to run.

        What is not ended later is answered "outcome unknown".
        """
        with self._lock:
            self._records.append(_record(Role.TOOL, "", calls=(_legal(call),), call_id=call.id, outcome=STARTED))
            self.save()

    def add_result(self, result: ToolResult) -> None:
        """The answer to a call, whether it ran or not. An answer that exists is not overwritten."""
        with self._lock:
            made = _record(
                Role.TOOL, result.content, calls=(_legal(result.call),), call_id=result.call.id, outcome=result.outcome
            )
            index = self._index_of_started(result.call.id)
            if index is None:
                self._records.append(made)
            else:
                self._records[index] = ended = replace(made, number=self._records[index].number)
                self._keeping.changes.ended += [ended] if ended.number > 0 else []
            self.save()

    def save(self) -> None:
        """Write what is not yet stored. Called once a request is on its way."""
        with self._lock:
            if self._keeping.is_behind(self._records or self._left_out):
                self._session, written = self._keeping.write(self._session, self.all_records)
                self._take(written)

    def undo(self) -> str | None:
        """Take back the last turn, for good. Returns what the person had said, or None if there is no turn.

        Of a conversation of which nothing is left, nothing stays in the store.
        """
        with self._lock:
            start = start_of_last_turn(self._records)
            if start is None:
                return None
            removed = self._records[start:]
            del self._records[start:]
            changes = self._keeping.changes
            changes.removed += [record.number for record in removed if record.number > 0]
            changes.emptied = not self.all_records
            if not any(record.begins_turn for record in self.all_records):
                self._change(replace(self._session, title=""))
            self.save()
            return removed[0].content

    def compact(self, count: int, summary: str) -> None:
        """Let `summary` stand for the first `count` records, for good. They stay in the store for reading."""
        with self._lock:
            left_out = [replace(record, left_out=True) for record in self._records[:count]]
            del self._records[:count]
            self._left_out += left_out
            self._keeping.changes.left_out += [record.number for record in left_out if record.number > 0]
            self._change(replace(self._session, summary=summary))
            self.save()

    def set_model(self, label: str) -> None:
        """Another model answers from now on."""
        with self._lock:
            self._change(replace(self._session, model=label))
            self.save()

    def close(self) -> None:
        """Store what is left and let go of the file."""
        with self._lock:
            self._session, written = self._keeping.close(self._session, self.all_records)
            self._take(written)

    def _take(self, records: Sequence[Record]) -> None:
        """The same records, with the numbers that they have in the store."""
        self._left_out = [record for record in records if record.left_out]
        self._records = [record for record in records if not record.left_out]

    def _change(self, session: Session) -> None:
        """The same session with another title, summary or model."""
        self._session = session
        self._keeping.changes.facts = True

    def _add_usage(self, usage: Usage) -> None:
        self._session = replace(
            self._session,
            prompt_tokens=self._session.prompt_tokens + (usage.prompt_tokens or 0),
            completion_tokens=self._session.completion_tokens + (usage.completion_tokens or 0),
        )
        self._keeping.changes.prompt_tokens += usage.prompt_tokens or 0
        self._keeping.changes.completion_tokens += usage.completion_tokens or 0

    def _index_of_started(self, call_id: str) -> int | None:
        """The record of the running call of that id in the last reply; of equal ids, the first."""
        found = None
        for index in range(len(self._records) - 1, -1, -1):
            record = self._records[index]
            if record.role is not Role.TOOL:
                break
            if record.call_id == call_id and record.is_running:
                found = index
        return found


def resume(store: Store, session: Session, warn: OnWarning = _silent, *, keep: bool = True) -> History:
    """The conversation of a stored session, healed. What could not be read is told to `warn`.

    `keep` False: what is said from now on is kept in memory only. Else the session is held by now, and `close` lets
    go of it.
    """
    opens = (lambda: store) if keep else None
    return History(opens, session, records=_readable(store, session, warn), warn=warn, stored=keep)


def copy_of(store: Store, session: Session, begun: Session, warn: OnWarning = _silent) -> History:
    """A new session, `begun`, with what an open one says up to its last answer: what runs there is not its own."""
    records = [record for record in _readable(store, session, warn) if not record.left_out]
    if records and (records[-1].role is not Role.ASSISTANT or records[-1].calls):
        del records[start_of_last_turn(records) or 0 :]
    if records or session.summary:
        begun = replace(begun, title=session.title, summary=session.summary)
    copies = [replace(record, number=COPIED) for record in records]
    return History(lambda: store, begun, records=copies, warn=warn)


def _readable(store: Store, session: Session, warn: OnWarning) -> list[Record]:
    records, warnings = store.records(session.id)
    for warning in warnings:
        warn(warning)
    return records


def _record(
    role: Role, content: str, *, calls: tuple[ToolCall, ...] = (), call_id: str = "", outcome: str = ""
) -> Record:
    return Record(role, content, calls=calls, call_id=call_id, outcome=outcome, created=time.time())


def _legal(call: ToolCall) -> ToolCall:
    return replace(call, name=heal_name(call.name), arguments=heal_arguments(call.arguments))
