"""The SQLite file of all sessions: how it is opened, made private, brought up to date and written to."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from mm.errors import MMError
from mm.folders import open_private, refuse_if_not_ours
from mm.session.errors import BusyError, IndexDamagedError, StoreError

Row: TypeAlias = tuple[Any, ...]
Result = TypeVar("Result")

VERSION = 1
PATIENCE = 5.0  # seconds to wait for another process that writes
_BRIEFLY = 0.1  # seconds, once it was found not to let go

_SCHEMA = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  created REAL NOT NULL,
  updated REAL NOT NULL,
  cwd TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
  prompt_tokens INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX sessions_by_time ON sessions (updated);
CREATE TABLE messages (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  calls TEXT NOT NULL DEFAULT '',
  call_id TEXT NOT NULL DEFAULT '',
  outcome TEXT NOT NULL DEFAULT '',
  created REAL NOT NULL,
  left_out INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX messages_by_session ON messages (session, number);
CREATE VIRTUAL TABLE messages_text USING fts5 (
  content, content='messages', content_rowid='number', tokenize='unicode61 remove_diacritics 2'
);
CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
  INSERT INTO messages_text (rowid, content) VALUES (new.number, new.content);
END;
CREATE TRIGGER messages_removed AFTER DELETE ON messages BEGIN
  INSERT INTO messages_text (messages_text, rowid, content) VALUES ('delete', old.number, old.content);
END;
CREATE TRIGGER messages_changed AFTER UPDATE OF content ON messages BEGIN
  INSERT INTO messages_text (messages_text, rowid, content) VALUES ('delete', old.number, old.content);
  INSERT INTO messages_text (rowid, content) VALUES (new.number, new.content);
END;
"""


# The bare code of a broken constraint comes from the index's own tables: those of mm's tables are extended codes.
_INDEX_DAMAGED = (sqlite3.SQLITE_CORRUPT_VTAB, sqlite3.SQLITE_CONSTRAINT)


class Database:
    """One connection, opened when it is first used. May be used from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._patience = PATIENCE
        self._lock = threading.RLock()

    def wait_briefly(self, on: bool) -> None:
        """Whether to wait only a moment for another process: with one that hangs, each write would take seconds."""
        with self._lock, self._explained():
            self._patience = _BRIEFLY if on else PATIENCE
            if self._connection is not None:
                self._connection.execute(f"PRAGMA busy_timeout = {int(self._patience * 1000)}")

    def read(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query."""
        with self._lock, self._explained():
            return self._open().execute(sql, values).fetchall()

    def read_what_can_be(self, sql: str, values: Sequence[object] = ()) -> tuple[list[Row], str]:
        """The rows up to a damaged place, and what SQLite says of that place ("" if there is none)."""
        rows: list[Row] = []
        with self._lock, self._explained():
            cursor = self._open().execute(sql, values)
            try:
                rows.extend(cursor)
            except sqlite3.DatabaseError as error:
                return rows, str(error)
        return rows, ""

    def write(self, sql: str, values: Sequence[object] = ()) -> int:
        """Run one statement, usually inside `transaction()`. Returns the row number of an insert."""
        with self._lock, self._explained():
            return self._open().execute(sql, values).lastrowid or 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes in here are kept, or none of them. May be nested: the outermost decides."""
        with self._lock, self._explained():
            connection = self._open()
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def erase_traces(self) -> None:
        """Remove deleted text from the index and the write-ahead log too."""
        with self._lock, self._explained():
            connection = self._open()
            connection.execute("INSERT INTO messages_text (messages_text) VALUES ('optimize')")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def with_sound_index(self, action: Callable[[], Result]) -> Result:
        """Run `action`; if the full-text index turns out to be damaged, make it anew and run it once more."""
        try:
            return action()
        except IndexDamagedError:
            self.write("INSERT INTO messages_text (messages_text) VALUES ('rebuild')")
            return action()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._make_private()
            connection = sqlite3.connect(
                self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _make_private(self) -> None:
        """SQLite gives its side files the mode of the main file.

        An existing file is only looked at: opening and closing it here would drop the locks of another
        connection of this process.
        """
        for suffix in ("-wal", "-shm"):
            refuse_if_not_ours(self.path.with_name(self.path.name + suffix))
        if self.path.is_symlink():
            raise StoreError(f"`{self.path}` is a link, so mm does not use it.", "Put the file itself there.")
        try:
            os.close(open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(0o600)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        version = _version(connection)
        if version > VERSION:
            raise StoreError(
                f"`{self.path}` was written by a newer mm (version {version}, this one knows {VERSION}).",
                "Upgrade mm: pip install -U mm-agent. Or set MM_HOME to another folder.",
            )
        _use_write_ahead_log(connection, self._patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        if version < VERSION:
            _create(connection)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except MMError as error:
            raise StoreError(error.message, error.hint) from error
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
                raise StoreError("the session was deleted by another mm.", _DELETED) from error
            raise _kind(error)(f"`{self.path}` cannot be used: {error}.", _hint(error, self.path)) from error
        except OSError as error:
            hint = "Set MM_HOME to a folder that you may write to."
            raise StoreError(f"`{self.path}` cannot be opened: {error.strerror}.", hint) from error


def _version(connection: sqlite3.Connection) -> int:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert isinstance(version, int)
    return version


def _use_write_ahead_log(connection: sqlite3.Connection, patience: float) -> None:
    """SQLite does not wait by itself when two processes switch a new file at the same moment."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables, unless another process has just done so."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) < VERSION:
            for statement in _statements():
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements() -> Iterator[str]:
    """The statements of the schema one by one: `executescript` would commit in between."""
    statement = ""
    for line in _SCHEMA.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _kind(error: sqlite3.Error) -> type[StoreError]:
    if _code(error) in _INDEX_DAMAGED:
        return IndexDamagedError
    return BusyError if _code(error) & 0xFF == sqlite3.SQLITE_BUSY else StoreError


def _code(error: sqlite3.Error) -> int:
    """SQLite's extended result code; 0 if Python itself raised the error."""
    return getattr(error, "sqlite_errorcode", 0)


def _hint(error: sqlite3.Error, path: Path) -> str:
    code = _code(error) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return f"Move it away, and mm begins a new one: mv '{path}' '{path}.damaged'"
    if code == sqlite3.SQLITE_FULL:
        return "Make room on the disk."
    if code == sqlite3.SQLITE_BUSY:
        return "Another mm holds it; try again, or look for one that hangs."
    return "Check that you may write to its folder, or set MM_HOME to another one."


_DELETED = "It ends with this mm; in the chat, /export writes it to a file."
