"""The conversation in memory, and its copy in the store: what the model is sent, and what survives a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mm.errors import MMError
from mm.messages import Message, Role, ToolCall, ToolResult, Usage
from mm.session.heal import conversation, heal_arguments, heal_name
from mm.session.records import NOTE, STARTED, Record, Session, new_session, title_of

if TYPE_CHECKING:
    from mm.session.store import Store

OnWarning = Callable[[str], None]


def _silent(text: str) -> None:
    """Nobody listens to warnings."""


class History:
    """One conversation. Every change is written to the store at once, except what a person has just said.

    `open_store` is called when the store is first needed; None keeps everything in memory (`--no-session`). A store
    that fails is told once to `warn`, and the conversation goes on in memory. May be used from several threads.
    `copied`: the `records` are another session's, and are stored as soon as something is said.
    """

    def __init__(
        self,
        open_store: Callable[[], Store] | None = None,
        session: Session | None = None,
        *,
        records: Sequence[Record] = (),
        warn: OnWarning = _silent,
        copied: bool = False,
    ) -> None:
        self._open_store = open_store
        self._warn = warn
        self._store: Store | None = None
        self._session = session or new_session(str(Path.cwd()))
        self._records = [record for record in records if not record.left_out]
        self._stored = bool(records) and not copied
        self._copied = len(self._records) if copied else 0  # as many of the first records, as long as none is stored
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
    def summary(self) -> str:
        """What stands for the messages that a compaction left out."""
        return self._session.summary

    def messages(self) -> list[Message]:
        """The conversation as a strict server accepts it, without the system text."""
        with self._lock:
            return conversation(self._records, self._session.summary)

    def add_user(self, text: str, *, note: bool = False) -> None:
        """What a person said; `note`: what mm itself tells the model in the person's place.

        It is stored by `save()` or with whatever comes next, so that opening the store does not delay a request.
        """
        with self._lock:
            if not note and not self._session.title:
                self._session = replace(self._session, title=title_of(text))
            self._records.append(_record(Role.USER, text, outcome=NOTE if note else ""))

    def add_reply(self, text: str, calls: Sequence[ToolCall] = (), usage: Usage | None = None) -> None:
        """A reply of the model, with its calls as it wrote them."""
        with self._lock:
            self._records.append(_record(Role.ASSISTANT, text, calls=tuple(calls)))
            if usage is not None:
                self._add_usage(usage)
            self.save()
            if usage is not None:
                self._keep(lambda store: store.add_usage(self.session_id, usage))

    def add_final(self, text: str) -> None:
        """The output of a `final` tool: the answer, as the assistant's message."""
        self.add_reply(text)

    def call_started(self, call: ToolCall) -> None:
        """Write down that this call is about to run. What is not ended later is answered "outcome unknown"."""
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
                self.save()
                return
            self.save()
            ended = replace(made, number=self._records[index].number)
            self._records[index] = ended
            self._keep(lambda store: store.end_call(ended))

    def save(self) -> None:
        """Write what is not yet stored. Called once a request is on its way."""
        with self._lock:
            if len(self._records) > self._copied and self._records[-1].number == 0:
                self._keep(self._save)

    def undo(self) -> str | None:
        """Take back the last turn. Returns what the person had said, or None if there is no turn."""
        with self._lock:
            start = self._start_of_last_turn()
            if start is None:
                return None
            removed = self._records[start:]
            del self._records[start:]
            self._copied = min(self._copied, start)
            numbers = [record.number for record in removed if record.number]
            if numbers:
                self._keep(lambda store: store.remove(numbers))
            return removed[0].content

    def take_back_unsaid(self) -> None:
        """What a person has just said was too long, so it was not said: a later turn is not cut because of it."""
        with self._lock:
            prompt = self.undo()
            if prompt is not None and not self._stored and self._session.title == title_of(prompt):
                self._session = replace(self._session, title="")

    def retry_prompt(self) -> str | None:
        """Take back the last turn so that it can be asked again. Returns its prompt."""
        return self.undo()

    def clear(self) -> str:
        """Begin a new session; the old one stays in the store. Returns the id of the old one."""
        with self._lock:
            self.save()
            self._release()
            old = self._session
            self._session = new_session(old.cwd, old.agent, old.model)
            self._records = []
            self._stored = False
            self._copied = 0
            return old.id

    def compact(self, count: int, summary: str) -> None:
        """Let `summary` stand for the first `count` records, for good. They stay in the store for reading."""
        with self._lock:
            self.save()
            numbers = [record.number for record in self._records[:count]]
            del self._records[:count]
            self._copied = max(0, self._copied - count)
            self._session = replace(self._session, summary=summary)
            self._keep(lambda store: store.leave_out(self.session_id, numbers, summary))

    def set_model(self, label: str) -> None:
        """Another model answers from now on."""
        with self._lock:
            self._session = replace(self._session, model=label)
            if self._stored:
                self._keep(lambda store: store.set_model(self.session_id, label))

    def close(self) -> None:
        """Store what is left and let go of the file."""
        with self._lock:
            self.save()
            self._release()
            if self._store is not None:
                self._store.close()
            self._store = None

    def _release(self) -> None:
        """From here on another mm may go on with the session."""
        if self._store is not None and self._stored:
            self._store.holds.release(self.session_id)

    def _save(self, store: Store) -> None:
        """Store the records at the end that have no number yet, all or none."""
        start = len(self._records)
        while start and self._records[start - 1].number == 0:
            start -= 1
        with store.transaction():
            session = self._session if self._stored else store.add_session(self._session)
            numbered = [store.add(session.id, record) for record in self._records[start:]]
        self._records[start:] = numbered
        self._session, self._stored, self._copied = session, True, 0

    def _keep(self, write: Callable[[Store], None]) -> None:
        """Write to the store. The first failure ends storing, not the conversation."""
        if self._open_store is None:
            return
        try:
            if self._store is None:
                self._store = self._open_store()
            store = self._store
            store.database.with_sound_index(lambda: write(store))
        except MMError as error:
            self._open_store = None
            self._warn(f"From here on this conversation is kept in memory only: {error}")

    def _add_usage(self, usage: Usage) -> None:
        self._session = replace(
            self._session,
            prompt_tokens=self._session.prompt_tokens + (usage.prompt_tokens or 0),
            completion_tokens=self._session.completion_tokens + (usage.completion_tokens or 0),
        )

    def _start_of_last_turn(self) -> int | None:
        found = (index for index in reversed(range(len(self._records))) if self._records[index].begins_turn)
        return next(found, None)

    def _index_of_started(self, call_id: str) -> int | None:
        """The record of the running call of that id in the last reply; of equal ids, the first."""
        found = None
        for index in range(len(self._records) - 1, -1, -1):
            record = self._records[index]
            if record.role is not Role.TOOL:
                break
            if record.call_id == call_id and record.outcome == STARTED:
                found = index
        return found


def resume(store: Store, session: Session, warn: OnWarning = _silent, *, keep: bool = True) -> History:
    """The conversation of a stored session, healed. What could not be read is told to `warn`.

    `keep` False: what is said from now on is kept in memory only. Else the session is held by now, and `close` lets
    go of it.
    """
    history = History((lambda: store) if keep else None, session, records=_readable(store, session, warn), warn=warn)
    history._store = store if keep else None
    return history


def copy_of(store: Store, session: Session, begun: Session, warn: OnWarning = _silent) -> History:
    """A new session, `begun`, with what an open one says up to its last answer: what runs there is not its own."""
    records = [record for record in _readable(store, session, warn) if not record.left_out]
    if records and (records[-1].role is not Role.ASSISTANT or records[-1].calls):
        del records[max((index for index, record in enumerate(records) if record.begins_turn), default=0) :]
    if records or session.summary:
        begun = replace(begun, title=session.title, summary=session.summary)
    copies = [replace(record, number=0) for record in records]
    return History(lambda: store, begun, records=copies, warn=warn, copied=True)


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
