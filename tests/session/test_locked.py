"""A store that another process holds for longer than mm waits: nothing of the conversation is lost, and it goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mm.messages import Outcome, ToolCall, ToolResult, Usage
from mm.session import database
from mm.session.history import History, resume
from mm.session.records import Record, Session, new_session
from mm.session.store import Store

CALL = ToolCall("a", "status", "{}")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a store that is there. Nobody waits long in here."""
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    monkeypatch.setattr(database, "_BRIEFLY", 0.01)
    store = Store(tmp_path / "sessions.db")
    store.delete([])
    store.close()
    return store.path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process writes, and does not end."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield
    holder.execute("ROLLBACK")
    holder.close()


def begin(path: Path, told: list[str]) -> History:
    store = Store(path)
    return History(lambda: store, new_session("/project"), warn=told.append)


def stored(path: Path) -> tuple[Session, list[Record]]:
    """The only session in the store."""
    store = Store(path)
    (session,) = store.sessions()
    records, warnings = store.records(session.id)
    store.close()
    assert not warnings
    return session, records


def contents(path: Path) -> list[str]:
    return [record.content for record in stored(path)[1]]


def test_what_a_locked_store_did_not_take_is_written_with_what_comes_next(path: Path) -> None:
    told: list[str] = []
    history = begin(path, told)
    history.add_user("one")
    history.add_reply("One.", usage=Usage(100, 7))
    with held(path):
        history.add_user("two")
        history.add_reply("Two.", usage=Usage(200, 7))
        history.set_model("local:other")
        assert contents(path) == ["one", "One."]
        assert len(told) == 1, "it is said once"
        assert "database is locked" in told[0]
    history.add_user("three")
    history.add_reply("Three.", usage=Usage(300, 7))
    session, records = stored(path)
    assert [record.content for record in records] == ["one", "One.", "two", "Two.", "three", "Three."]
    assert (session.prompt_tokens, session.completion_tokens, session.model) == (600, 21, "local:other")
    assert len(told) == 2, "and that it is over"
    assert resume(Store(path), session).messages() == history.messages()


def test_the_results_of_running_calls_are_made_up_for(path: Path) -> None:
    """One was started before the store was locked, the other meanwhile."""
    history = begin(path, [])
    history.add_user("go")
    other = ToolCall("b", "status", "{}")
    history.add_reply("", [CALL, other])
    history.call_started(CALL)
    with held(path):
        history.call_started(other)
        history.add_result(ToolResult(CALL, Outcome.OK, "result of a"))
        history.add_result(ToolResult(other, Outcome.FAILED, "result of b"))
        assert [record.outcome for record in stored(path)[1]] == ["", "", "started"]
    history.save()
    assert [(record.outcome, record.content) for record in stored(path)[1][2:]] == [
        ("ok", "result of a"),
        ("failed", "result of b"),
    ]


def test_what_is_missing_is_written_when_the_session_is_closed(path: Path) -> None:
    told: list[str] = []
    history = begin(path, told)
    with held(path):
        history.add_user("one")
        history.add_reply("One.")
    history.close()
    assert contents(path) == ["one", "One."]
    assert len(told) == 1


def test_what_is_missing_to_the_end_is_said_at_the_end(path: Path) -> None:
    told: list[str] = []
    history = begin(path, told)
    history.add_user("one")
    history.add_reply("One.")
    with held(path):
        history.add_user("two")
        history.add_reply("Two.")
        history.close()
    assert contents(path) == ["one", "One."]
    assert "end of this conversation could not be written down" in told[-1] and len(told) == 2
    assert Store(path).holds.take(history.session_id)


def test_what_is_taken_back_while_the_store_is_locked_is_gone_afterwards(path: Path) -> None:
    history = begin(path, [])
    for word in ("one", "two"):
        history.add_user(word)
        history.add_reply(f"{word} answered")
    with held(path):
        history.undo()
        history.add_user("three")
        history.add_reply("three answered")
    history.save()
    assert contents(path) == ["one", "one answered", "three", "three answered"]


def test_all_that_is_taken_back_while_the_store_is_locked_is_gone_afterwards(path: Path) -> None:
    history = begin(path, [])
    history.add_user("one")
    history.add_reply("one answered")
    with held(path):
        history.undo()
        history.add_user("two")
        history.add_reply("two answered")
    history.close()
    session, records = stored(path)
    assert (session.id, session.title) == (history.session_id, "two")
    assert [record.content for record in records] == ["two", "two answered"]
    assert Store(path).holds.take(session.id)


def test_what_is_compacted_while_the_store_is_locked_can_still_be_read(path: Path) -> None:
    history = begin(path, [])
    history.add_user("one")
    history.add_reply("one answered")
    with held(path):
        history.add_user("two")
        history.add_reply("two answered")
        history.compact(4, "Both were answered.")
        history.add_user("three")
        history.add_reply("three answered")
    history.save()
    session, records = stored(path)
    assert [record.content for record in records] == [
        *("one", "one answered", "two", "two answered", "three", "three answered")
    ]
    assert [record.left_out for record in records] == [True] * 4 + [False] * 2
    assert session.summary == "Both were answered."


def test_a_session_that_could_not_even_be_begun_is_begun_later(path: Path) -> None:
    history = begin(path, [])
    with held(path):
        history.add_user("one")
        history.add_reply("One.")
        history.undo()
        history.add_user("two")
        history.add_reply("Two.")
    history.add_user("three")
    history.add_reply("Three.")
    assert contents(path) == ["two", "Two.", "three", "Three."]
    assert stored(path)[0].title == "two"
