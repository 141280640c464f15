"""A session as Markdown to read, and as JSON that loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

from mm.messages import Outcome, ToolCall, ToolResult
from mm.session.export import fenced, to_json, to_markdown
from mm.session.history import History
from mm.session.records import Record, Session, new_session
from mm.session.store import Store


def recorded(tmp_path: Path) -> tuple[Session, list[Record]]:
    store = Store(tmp_path / "sessions.db")
    history = History(lambda: store, new_session("/project", "/project/agent.yaml", "local:small"))
    history.add_user("Publish `1.10`\n\nplease")
    sent = ToolCall("a", "release", '{"version":1.10}', written=True)
    history.add_reply("I will.", [sent, ToolCall("b", "status", '{"broken')])
    history.call_started(sent)
    history.add_result(ToolResult(ToolCall("a", "release", '{"version":"1.10"}'), Outcome.OK, "```\nreleased\n```"))
    history.call_started(ToolCall("b", "status", "{}"))
    history.compact(0, "")
    return store.sessions()[0], store.records(history.session_id)[0]


def test_markdown_is_readable_and_fences_hold_whatever_is_inside(tmp_path: Path) -> None:
    session, records = recorded(tmp_path)
    text = to_markdown(session, records)
    assert text.startswith("# Publish `1.10`\n\n- Session: `" + session.id)
    assert "- Agent file: `/project/agent.yaml`" in text
    assert 'Calls `release`:\n\n```json\n{"version":1.10}\n```' in text
    assert 'Calls `status`:\n\n```json\n{"broken\n```' in text
    assert "Result of `release` (ok):\n\n````\n```\nreleased\n```\n````" in text
    assert "`status`: started, outcome unknown; it ran with:\n\n```json\n{}\n```" in text


def test_json_loses_nothing(tmp_path: Path) -> None:
    session, records = recorded(tmp_path)
    document = json.loads(to_json(session, records))
    assert (document["format"], document["version"]) == ("mm-session", 1)
    assert document["session"]["id"] == session.id
    assert document["session"]["agent_file"] == "/project/agent.yaml"
    user, reply, ran, started = document["messages"]
    assert user["content"] == "Publish `1.10`\n\nplease"
    assert reply["tool_calls"][0] == {"id": "a", "name": "release", "arguments": '{"version":1.10}', "written": True}
    assert (ran["tool_call_id"], ran["call"]["arguments"], ran["outcome"]) == ("a", '{"version":"1.10"}', "ok")
    assert (started["outcome"], started["content"]) == ("started", "")


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fenced("a ````` b").startswith("``````\n")
    assert fenced("plain", "json") == "```json\nplain\n```"


def test_a_note_of_mm_is_not_shown_as_what_the_person_said() -> None:
    history = History()
    history.add_user("hello")
    history.add_user("The user stopped this before you answered.", note=True)
    text = to_markdown(history.session, history.records)
    assert text.endswith("## You\n\nhello\n\n## mm\n\n[mm] The user stopped this before you answered.\n")
