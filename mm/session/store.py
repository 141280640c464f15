"""The store of sessions: what is written when, and what is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mm.folders import data_folder
from mm.messages import JSON, Role, ToolCall, Usage
from mm.session.database import Database, Row
from mm.session.heal import heal_text
from mm.session.holds import Holds
from mm.session.records import STARTED, Record, Session, new_id, sound_time

_SESSION = """
SELECT id, created, updated, cwd, agent, model, title, summary, prompt_tokens, completion_tokens,
  (SELECT count(*) FROM messages WHERE session = sessions.id)
FROM sessions
"""
_RECORDS = """
SELECT number, role, content, calls, call_id, outcome, created, left_out FROM messages WHERE session = ? ORDER BY number
"""

_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.TOOL)}


def default_path() -> Path:
    """Where the sessions of this user are."""
    return data_folder() / "sessions.db"


class Store:
    """All sessions of one user, in one SQLite file. Cheap to make: the file is opened when it is first used.

    Every method may raise StoreError. Several processes may use one file at the same time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database(path)
        self.holds = Holds(path)

    def close(self) -> None:
        self.database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes in here are kept, or none of them."""
        with self.database.transaction():
            yield

    def add_session(self, session: Session) -> Session:
        """Store and hold a session that begins; gives it another id if that one is taken."""
        while self._is_taken(session.id):
            session = replace(session, id=new_id(session.created))
        self.database.write(
            "INSERT INTO sessions (id, created, updated, cwd, agent, model, title, summary, prompt_tokens,"
            " completion_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session.id,
                session.created,
                session.updated,
                heal_text(session.cwd),
                heal_text(session.agent),
                heal_text(session.model),
                heal_text(session.title),
                heal_text(session.summary),
                session.prompt_tokens,
                session.completion_tokens,
            ),
        )
        return session

    def _is_taken(self, session_id: str) -> bool:
        """Whether an id is another session's. One that is free is held from now on."""
        if self.database.read("SELECT 1 FROM sessions WHERE id = ?", (session_id,)):
            return True
        return not self.holds.take(session_id)

    def add(self, session_id: str, record: Record) -> Record:
        """Store one message at the end of a session. Returns it with its number."""
        with self.transaction():
            number = self.database.write(
                "INSERT INTO messages (session, role, content, calls, call_id, outcome, created, left_out)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    session_id,
                    record.role.value,
                    heal_text(record.content),
                    _calls_text(record.calls),
                    heal_text(record.call_id),
                    record.outcome,
                    record.created,
                    record.left_out,
                ),
            )
            self.database.write("UPDATE sessions SET updated = ? WHERE id = ?", (record.created, session_id))
        return replace(record, number=number)

    def end_call(self, record: Record) -> None:
        """Write the result of a call over the row that said "started", and over no other."""
        with self.transaction():
            self.database.write(
                "UPDATE messages SET content = ?, calls = ?, outcome = ? WHERE number = ? AND outcome = ?",
                (heal_text(record.content), _calls_text(record.calls), record.outcome, record.number, STARTED),
            )

    def set_facts(self, session: Session) -> None:
        """Write title, summary and model of a session anew."""
        with self.transaction():
            self.database.write(
                "UPDATE sessions SET title = ?, summary = ?, model = ? WHERE id = ?",
                (heal_text(session.title), heal_text(session.summary), heal_text(session.model), session.id),
            )

    def add_usage(self, session_id: str, usage: Usage) -> None:
        """Add the tokens of one request to the session's sum."""
        with self.transaction():
            self.database.write(
                "UPDATE sessions SET prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?"
                " WHERE id = ?",
                (usage.prompt_tokens or 0, usage.completion_tokens or 0, session_id),
            )

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget these messages (`/undo`). What is left of their text in the index goes with `erase_traces`."""
        with self.transaction():
            for number in numbers:
                self.database.write("DELETE FROM messages WHERE number = ?", (number,))

    def leave_out(self, numbers: Sequence[int]) -> None:
        """Keep these messages for reading only; for the model, the summary of their session stands for them."""
        with self.transaction():
            for number in numbers:
                self.database.write("UPDATE messages SET left_out = 1 WHERE number = ?", (number,))

    def delete(self, session_ids: Sequence[str]) -> None:
        """Delete whole sessions, and what is left of their text in the index and the log."""

        def remove_all() -> None:
            with self.transaction():
                for session_id in session_ids:
                    self.database.write("DELETE FROM messages WHERE session = ?", (session_id,))
                    self.database.write("DELETE FROM sessions WHERE id = ?", (session_id,))

        self.database.with_sound_index(remove_all)
        self.database.erase_traces()

    def sessions(self, *, cwd: str | None = None, agent: str | None = None, limit: int = -1) -> list[Session]:
        """Sessions, the newest first: of one working directory, of one agent file, or all."""
        if not self.path.exists():
            return []
        rows = self.database.read(
            _SESSION
            + "WHERE (?1 IS NULL OR cwd = ?1) AND (?2 IS NULL OR agent = ?2) ORDER BY updated DESC, id DESC LIMIT ?3",
            (None if cwd is None else heal_text(cwd), None if agent is None else heal_text(agent), limit),
        )
        return [_session(row) for row in rows]

    def latest(self, cwd: str, agent: str) -> Session | None:
        """What `-c` continues: the newest session of this working directory and agent file."""
        found = self.sessions(cwd=cwd, agent=agent, limit=1)
        return found[0] if found else None

    def records(self, session_id: str) -> tuple[list[Record], list[str]]:
        """The messages of a session that can be read, and one warning for each thing that cannot."""
        rows, damage = self.database.read_what_can_be(_RECORDS, (session_id,))
        records: list[Record] = []
        warnings: list[str] = []
        for row in rows:
            record, problem = _record(row)
            if record is not None:
                records.append(record)
            if problem:
                warnings.append(f"Message {row[0]} of session `{session_id}`: {problem}.")
        if damage:
            warnings.append(f"Session `{session_id}` could be read only up to its message {len(rows)}: {damage}.")
        return records, warnings


def _session(row: Row) -> Session:
    identity, created, updated, cwd, agent, model, title, summary, prompt_tokens, completion_tokens, size = row
    return Session(
        id=str(identity),
        created=sound_time(created),
        updated=sound_time(updated),
        cwd=str(cwd),
        agent=str(agent),
        model=str(model),
        title=str(title),
        summary=str(summary),
        prompt_tokens=_count(prompt_tokens),
        completion_tokens=_count(completion_tokens),
        size=_count(size),
    )


def _record(row: Row) -> tuple[Record | None, str]:
    """The message of a row, healed where that is clear, and what is wrong with the row ("" if nothing)."""
    number, role, content, calls, call_id, outcome, created, left_out = row
    known_role = _ROLES.get(role)
    if known_role is None:
        return None, f"skipped, its role is {str(role)!r:.40}"
    problem = ""
    if not isinstance(content, str):
        content = content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
        problem = "its text is damaged"
    known, calls_problem = _calls(calls)
    record = Record(
        role=known_role,
        content=content,
        calls=known,
        call_id=str(call_id),
        outcome=str(outcome),
        created=sound_time(created),
        number=number,
        left_out=bool(left_out),
    )
    return record, problem or calls_problem


def _calls_text(calls: Sequence[ToolCall]) -> str:
    """The calls of a message as they are stored: a JSON list, or "" for none. ASCII, so that any text survives."""
    if not calls:
        return ""
    return json.dumps(
        [{"id": call.id, "name": call.name, "arguments": call.arguments, "written": call.written} for call in calls]
    )


def _calls(text: object) -> tuple[tuple[ToolCall, ...], str]:
    if text == "":
        return (), ""
    try:
        items = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        items = None
    if not isinstance(items, list):
        return (), "its calls are damaged and left out"
    calls = tuple(_call(item, position) for position, item in enumerate(items) if isinstance(item, dict))
    return calls, "" if len(calls) == len(items) else "a call of it is damaged and left out"


def _call(item: dict[str, JSON], position: int) -> ToolCall:
    arguments = item.get("arguments", "{}")
    return ToolCall(
        id=str(item.get("id") or f"call_{position}"),
        name=str(item.get("name", "")),
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
        written=item.get("written") is True,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
