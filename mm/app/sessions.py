"""Which conversation a run goes on with, where it is kept, and what earlier ones say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mm.config.schema import Config
from mm.errors import UsageError
from mm.options import Options
from mm.session.history import History
from mm.session.records import Session, new_session

if TYPE_CHECKING:
    from mm.session.store import Store


class Sessions:
    """The sessions of one run. The store is opened when it is first needed."""

    def __init__(self, config: Config, options: Options, cwd: Path, warn: Callable[[str], None]) -> None:
        self._config = config
        self._options = options
        self._cwd = cwd
        self._warn = warn
        self._store: Store | None = None
        self.current = ""  # the id of the session that the person is in

    def first(self) -> History:
        """The session that `-c` or `-r` names, else a new one. Raises UsageError if there is none.

        What is open in another mm is copied: two that write into one session would mix up their turns.
        """
        if self._options.resume is not None:
            return self.named(self._options.resume)
        if self._options.go_on:
            latest = self.store().latest(str(self._cwd), str(self._config.file or ""))
            if latest is None:
                raise UsageError("There is no session of this folder and agent file to go on with.", _LIST)
            return self._resume(latest)
        return self.new()

    def named(self, text: str) -> History:
        """An earlier session, by its id, the beginning of it, or `latest`. Raises UsageError naming the nearest."""
        from mm.session.lookup import find_session

        return self._resume(find_session(self.store(), text, str(self._cwd)))

    def new(self) -> History:
        """A conversation that begins; kept in the store unless `--no-session`."""
        opens = None if self._options.no_session else self.store
        history = History(opens, self.facts(), warn=self._warn)
        self.current = history.session_id
        return history

    def unkept(self) -> History:
        """A conversation of its own that is kept nowhere: of a sub-agent, or of a tool that a person runs."""
        return History(session=self.facts(), warn=self._warn)

    def facts(self) -> Session:
        model = self._options.model or (str(self._config.model) if self._config.model else "")
        return new_session(str(self._cwd), str(self._config.file or ""), model)

    def store(self) -> Store:
        from mm.session.store import Store, default_path

        if self._store is None:
            self._store = Store(default_path())
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store.holds.close()

    def search(self, words: str, limit: int) -> str:
        """What other sessions say, for the model."""
        from mm.session.search import search

        hits = search(self.store(), words, limit, without=self.current)
        return "\n".join(f"{hit.session_id} ({hit.title}), {hit.role}: {hit.snippet}" for hit in hits)

    def _resume(self, session: Session) -> History:
        from mm.session.history import resume

        keep = not self._options.no_session
        if keep and not self.store().holds.take(session.id):
            return self._copy(session)
        self.current = session.id
        return resume(self.store(), session, self._warn, keep=keep)

    def _copy(self, session: Session) -> History:
        from mm.session.history import copy_of

        history = copy_of(self.store(), session, self.facts(), self._warn)
        begins = "begins with a copy of it, up to its last answer" if history.messages() else "begins empty"
        self._warn(f"Session {session.id} is open in another mm. This is a new session that {begins}.")
        self.current = history.session_id
        return history


_LIST = "List the sessions: mm sessions list --all"
