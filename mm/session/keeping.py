"""The copy of one conversation in the store: what is written of it, and what still has to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mm.errors import MMError
from mm.messages import Usage
from mm.session.errors import BusyError
from mm.session.records import Record, Session

if TYPE_CHECKING:
    from mm.session.store import Store


class Kept(StrEnum):
    """Where a conversation is, beside the memory of this process.

    It begins as NOT_YET (a resumed one as STORED), is STORED with the first that is said, and NOT_YET again when all
    of it was undone. NOWHERE is for good. A store that is locked changes nothing: what it lacks is written later.
    """

    NOT_YET = "not yet"  # the store knows nothing of it: with the next that is said, all of it is written
    STORED = "stored"  # its session is in the store and held, so that no other mm writes into it
    NOWHERE = "nowhere"  # nothing is to be kept (`--no-session`), or the store has failed


@dataclass(slots=True)
class Changes:
    """What has changed of a stored session since it was last written, beside the messages without a number."""

    ended: list[Record] = field(default_factory=list)  # calls that now have a result
    removed: list[int] = field(default_factory=list)  # numbers of messages that were taken back
    left_out: list[int] = field(default_factory=list)  # numbers of messages that a summary now stands for
    prompt_tokens: int = 0
    completion_tokens: int = 0
    facts: bool = False  # title, summary or model of the session
    emptied: bool = False  # all was taken back: the session goes too
    traces: bool = False  # text that was removed is still in the index


class Keeping:
    """Writes one conversation down. `changes` is filled by whoever changes it, and emptied here.

    `open_store` is called when the store is first needed; None keeps nothing. `stored`: the session is in the store,
    and held. What goes wrong is told to `warn`, never raised.
    """

    def __init__(
        self, open_store: Callable[[], Store] | None, warn: Callable[[str], None], *, stored: bool = False
    ) -> None:
        self.kept = Kept.NOWHERE if open_store is None else Kept.STORED if stored else Kept.NOT_YET
        self.changes = Changes()
        self._open_store = open_store
        self._store = open_store() if open_store is not None and stored else None
        self._warn = warn
        self._is_late = False  # the store was locked the last time, and the person knows

    def is_behind(self, records: Sequence[Record]) -> bool:
        """Whether there is something to write of a conversation that ends with these records."""
        if self.kept is Kept.NOWHERE:
            return False
        said = bool(records) and records[-1].number == 0
        return said or (self.kept is Kept.STORED and self.changes != Changes())

    def write(self, session: Session, records: Sequence[Record]) -> tuple[Session, list[Record]]:
        """Bring the store up to date with the whole conversation, or try to.

        Gives the session, which has another id if that one was taken, and the records with their numbers.
        """
        session, numbered, busy = self._attempt(session, records)
        if (busy is not None) != self._is_late and self.kept is not Kept.NOWHERE:
            self._is_late = busy is not None
            self._warn(_CAUGHT_UP if busy is None else _LATE.format(busy.message))
            if self._store is not None:
                self._store.database.wait_briefly(self._is_late)
        return session, numbered

    def close(self, session: Session, records: Sequence[Record]) -> tuple[Session, list[Record]]:
        """Write what is left, with all patience, and let go of the session and of the file."""
        if self._store is not None:
            self._store.database.wait_briefly(False)
        session, numbered, busy = self._attempt(session, records)
        if busy is not None:
            self._warn(_LOST.format(busy))
        self._release(session)
        if self._store is not None:
            self._store.close()
        self._store = None
        return session, numbered

    def _attempt(self, session: Session, records: Sequence[Record]) -> tuple[Session, list[Record], BusyError | None]:
        """A locked store leaves everything as it is; any other failure ends storing, and only that."""
        numbered = list(records)
        if self._open_store is None or not self.is_behind(records):
            return session, numbered, None
        try:
            store = self._store = self._store or self._open_store()
            sound = store.database.with_sound_index
            if self.changes.emptied and self.kept is Kept.STORED:
                sound(lambda: self._delete(store, session))
            if self.is_behind(records):
                session, numbered = sound(lambda: self._write(store, session, records))
            if self.changes.traces:
                sound(store.database.erase_traces)
                self.changes.traces = False
        except BusyError as busy:
            return session, numbered, busy
        except MMError as error:
            self._warn(_ENDED.format(error))
            self._release(session)
            self.kept = Kept.NOWHERE
        return session, numbered, None

    def _write(self, store: Store, session: Session, records: Sequence[Record]) -> tuple[Session, list[Record]]:
        """All of it, or nothing."""
        with store.transaction():
            if self.kept is Kept.NOT_YET:
                session = store.add_session(session)
            else:
                self._write_changes(store, session)
            numbered = [record if record.number > 0 else store.add(session.id, record) for record in records]
        self.kept, self.changes = Kept.STORED, Changes(traces=bool(self.changes.removed) or self.changes.traces)
        return session, numbered

    def _write_changes(self, store: Store, session: Session) -> None:
        changes = self.changes
        for record in changes.ended:
            store.end_call(record)
        store.remove(changes.removed)
        store.leave_out(changes.left_out)
        if changes.facts:
            store.set_facts(session)
        if changes.prompt_tokens or changes.completion_tokens:
            store.add_usage(session.id, Usage(changes.prompt_tokens, changes.completion_tokens))

    def _delete(self, store: Store, session: Session) -> None:
        """Nothing of the session stays, as if nothing had been said."""
        store.delete([session.id])
        self._release(session)
        self.kept, self.changes = Kept.NOT_YET, Changes()

    def _release(self, session: Session) -> None:
        """From here on another mm may go on with the session."""
        if self._store is not None and self.kept is Kept.STORED:
            self._store.holds.release(session.id)


_LATE = "What was said last is not written down yet; it is tried again with what comes next: {}"
_CAUGHT_UP = "All of the conversation is written down again."
_LOST = "The end of this conversation could not be written down: {}"
_ENDED = "From here on this conversation is kept in memory only: {}"
