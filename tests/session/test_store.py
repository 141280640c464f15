"""The store under bad conditions: two processes, kill -9, full disk, newer version, damage, another's file."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mm.messages import Outcome, ToolCall, ToolResult
from mm.session.errors import StoreError
from mm.session.export import to_json, to_markdown
from mm.session.history import History, resume
from mm.session.records import new_session
from mm.session.search import search
from mm.session.store import Store
from tests.session.strict import assert_strict

CHILD = """
import sys
from pathlib import Path
from mm.messages import Outcome, ToolCall, ToolResult
from mm.session.history import History, resume
from mm.session.records import new_session
from mm.session.store import Store

path, turns, name = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
store = Store(path)
known = store.latest("/project", name)
warn = lambda text: print("warning", text, flush=True)
history = resume(store, known, warn) if known else History(lambda: store, new_session("/project", name), warn=warn)
for turn in range(turns):
    history.add_user(f"{name} question {turn}")
    calls = [ToolCall(f"call_{n}", "step", '{"n": %d}' % n) for n in range(2)]
    history.add_reply("", calls)
    for call in calls:
        history.call_started(call)
    print("started", flush=True)
    if name == "waits":
        sys.stdin.readline()
    for call in calls:
        history.add_result(ToolResult(call, Outcome.OK, f"{name} result {turn} " + "x" * 2000))
        print("ended", flush=True)
    history.add_reply(f"answer {turn}")
print("done", flush=True)
"""


def child(path: Path, turns: int, name: str, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    """Writes so many turns of two calls each. The one whose name is `waits` never gets results: nobody tells it to."""
    arguments = [sys.executable, "-c", CHILD, str(path), str(turns), name]
    pipe = subprocess.PIPE
    return subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, text=True, preexec_fn=before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def small_session(path: Path) -> str:
    history = History(lambda: Store(path), new_session("/project"), warn=pytest.fail)
    history.add_user("first question")
    call = ToolCall("a", "status", "{}")
    history.add_reply("", [call])
    history.call_started(call)
    history.add_result(ToolResult(call, Outcome.OK, "all is well"))
    history.add_reply("first answer")
    history.close()
    return history.session_id


def damage(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(sql)
    connection.close()


def test_two_processes_write_to_one_new_store_and_lose_nothing(path: Path) -> None:
    writers = [child(path, 30, name) for name in ("ann", "bob")]
    for writer in writers:
        out, error = writer.communicate(timeout=60)
        assert (writer.returncode, error) == (0, "")
        assert "warning" not in out
    store = Store(path)
    for name in ("ann", "bob"):
        session = store.latest("/project", name)
        assert session is not None
        messages = resume(store, session, pytest.fail).messages()
        assert_strict(messages)
        assert len(messages) == 30 * 5
        assert not any("unknown" in message.content for message in messages)


def test_after_kill_9_at_any_moment_the_session_resumes_and_every_call_is_answered(path: Path) -> None:
    moments = random.Random(7)
    stored = 0
    for _ in range(10):
        process = child(path, 10_000, "ann")
        assert process.stdout is not None
        for _ in range(moments.randrange(1, 40)):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        store = Store(path)
        session = store.latest("/project", "ann")
        assert session is not None
        history = resume(store, session, pytest.fail)
        assert_strict(history.messages())
        assert len(history.records) > stored, "what was there before is still there"
        stored = len(history.records)
        store.close()
    assert damage_free(path)


def damage_free(path: Path) -> bool:
    connection = sqlite3.connect(path)
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    connection.execute("INSERT INTO messages_text (messages_text, rank) VALUES ('integrity-check', 1)")
    connection.close()
    return rows == [("ok",)]


def test_a_call_that_was_running_at_kill_9_is_known_to_have_started(path: Path) -> None:
    process = child(path, 1, "waits")
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    store = Store(path)
    session = store.latest("/project", "waits")
    assert session is not None
    replies = [message.content for message in resume(store, session).messages() if message.tool_call_id]
    assert [reply.partition(":")[0] for reply in replies] == ["started, outcome unknown"] * 2


def limit_files_to_200_kb() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_a_full_disk_is_said_once_and_the_conversation_goes_on(path: Path) -> None:
    out, error = child(path, 200, "ann", before=limit_files_to_200_kb).communicate(timeout=60)
    assert error == ""
    assert out.count("warning From here on this conversation is kept in memory only") == 1
    assert out.endswith("done\n")
    store = Store(path)
    session = store.latest("/project", "ann")
    assert session is not None
    assert_strict(resume(store, session).messages())


def test_a_store_that_is_full_keeps_what_it_had(path: Path) -> None:
    store = Store(path)
    warnings: list[str] = []
    history = History(lambda: store, new_session("/project"), warn=warnings.append)
    history.add_user("small")
    history.add_reply("kept")
    pages = store.database.read("PRAGMA page_count")[0][0]
    store.database.read(f"PRAGMA max_page_count = {pages}")
    for _ in range(3):
        history.add_user("large")
        history.add_reply("x" * 100_000)
    assert len(warnings) == 1
    assert "full" in warnings[0] and "Make room on the disk." in warnings[0]
    assert len(history.messages()) == 8
    store.close()
    session = Store(path).sessions()[0]
    assert [message.content for message in resume(Store(path), session).messages()] == ["small", "kept"]


def test_a_store_of_a_newer_mm_is_refused_and_left_untouched(path: Path) -> None:
    small_session(path)
    damage(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer mm") as caught:
        Store(path).sessions()
    assert "pip install -U mm-agent" in caught.value.hint
    assert path.read_bytes() == before


def test_a_conversation_beside_a_store_of_a_newer_mm_goes_on_in_memory(path: Path) -> None:
    small_session(path)
    damage(path, "PRAGMA user_version = 99")
    warnings: list[str] = []
    history = History(lambda: Store(path), new_session("/project"), warn=warnings.append)
    history.add_user("hello")
    history.add_reply("hi")
    assert len(warnings) == 1 and "newer mm" in warnings[0]
    assert len(history.messages()) == 2


WITH_WARNING = [
    "UPDATE messages SET calls = '[{' WHERE role = 'assistant'",
    "UPDATE messages SET calls = '[3, {\"name\": \"multi_tool_use.parallel\"}]' WHERE role = 'assistant'",
    "UPDATE messages SET calls = CAST(x'ff00' AS TEXT)",
    "UPDATE messages SET role = 'narrator' WHERE role = 'assistant'",
    "UPDATE messages SET role = x'00ff' WHERE role = 'user'",
    "UPDATE messages SET role = 3.5",
    "UPDATE messages SET content = x'66ff66'",
]
HEALED = [
    "UPDATE messages SET content = CAST(x'66ff66' AS TEXT)",
    "UPDATE messages SET content = 12",
    "UPDATE messages SET created = 'yesterday', call_id = 7, outcome = x'00'",
    "UPDATE messages SET created = 1e300",
    "UPDATE sessions SET created = 'x', title = x'ff', prompt_tokens = 'many', model = 3",
    "DELETE FROM messages WHERE role = 'user'",
    "DELETE FROM messages WHERE role = 'tool'",
    "DELETE FROM messages",
]


@pytest.mark.parametrize("sql", WITH_WARNING + HEALED)
def test_damaged_rows_heal_or_are_skipped_with_a_warning(path: Path, sql: str) -> None:
    small_session(path)
    damage(path, "DROP TRIGGER messages_changed")
    damage(path, sql)
    store = Store(path)
    warnings: list[str] = []
    session = store.sessions()[0]
    history = resume(store, session, warnings.append)
    assert_strict(history.messages())
    search(store, "question first answer well 12")  # raises nothing
    assert to_markdown(session, history.records) and json.loads(to_json(session, history.records))
    history.add_user("go on")
    history.add_reply("gladly")
    assert_strict(history.messages())
    assert [hit.snippet for hit in search(store, "gladly")] == ["gladly"]
    assert bool(warnings) == (sql in WITH_WARNING)
    assert all(warning.startswith("Message ") for warning in warnings)


def test_a_damaged_page_costs_what_is_on_it_and_no_more(path: Path) -> None:
    store = Store(path)
    history = History(lambda: store, new_session("/project"), warn=pytest.fail)
    for number in range(200):
        history.add_user(f"question {number} " + "x" * 500)
        history.add_reply("answer")
    history.close()
    content = bytearray(path.read_bytes())
    start = content.rindex(b"question 150") // 4096 * 4096
    content[start : start + 4096] = os.urandom(4096)
    path.write_bytes(content)
    store = Store(path)
    warnings: list[str] = []
    history = resume(store, store.sessions()[0], warnings.append)
    assert_strict(history.messages())
    assert len(history.messages()) > 250
    assert warnings


@pytest.mark.parametrize("content", [b"not a database at all, and long enough to be read as one" * 20, b"\0" * 4096])
def test_a_file_that_is_no_store_is_named_with_a_way_out(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"sessions\.db") as caught:
        Store(path).sessions()
    assert "mv " in caught.value.hint


def test_a_damaged_index_is_made_anew(path: Path) -> None:
    small_session(path)
    damage(path, "UPDATE messages_text_data SET block = x'0000' WHERE id > 1")
    store = Store(path)
    history = resume(store, store.sessions()[0], pytest.fail)
    history.add_user("second question")
    history.add_reply("second answer")
    assert len(search(store, "question")) == 2


def test_the_store_and_its_side_files_are_private(path: Path) -> None:
    previous = os.umask(0)
    try:
        store = Store(path)
        history = History(lambda: store, new_session("/project"), warn=pytest.fail)
        history.add_user("hello")
        history.add_reply("hi")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.rglob("*")}
    finally:
        os.umask(previous)
    files = ["sessions.db", "sessions.db-wal", "sessions.db-shm", history.session_id]
    assert modes == {**dict.fromkeys(files, 0o600), "open-sessions": 0o700}


def test_a_store_that_others_could_read_is_made_private(path: Path) -> None:
    small_session(path)
    path.chmod(0o644)
    Store(path).sessions()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["sessions.db", "sessions.db-wal"])
def test_a_store_that_others_may_write_is_refused(path: Path, name: str) -> None:
    small_session(path)
    victim = path.with_name(name)
    victim.touch()
    victim.chmod(0o666)
    with pytest.raises(StoreError, match="Others may write"):
        Store(path).sessions()


def test_a_link_in_the_place_of_the_store_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        Store(path).sessions()


def test_looking_for_sessions_makes_no_store(path: Path) -> None:
    assert Store(path).sessions() == []
    assert not path.exists()


def test_c_continues_the_newest_session_of_this_folder_and_agent_file(path: Path) -> None:
    store = Store(path)
    for cwd, agent in [("/a", "x.yaml"), ("/a", "y.yaml"), ("/b", "x.yaml"), ("/a", "x.yaml")]:
        history = History(lambda: store, new_session(cwd, agent), warn=pytest.fail)
        history.add_user(f"{cwd} {agent}")
        history.add_reply("ok")
    newest = store.latest("/a", "x.yaml")
    assert newest is not None and newest.id == history.session_id
    assert store.latest("/c", "x.yaml") is None


def test_a_session_id_that_is_taken_is_given_up_for_another(path: Path) -> None:
    taken = small_session(path)
    clash = History(lambda: Store(path), replace(new_session("/project"), id=taken), warn=pytest.fail)
    clash.add_user("mine")
    clash.add_reply("yours")
    assert clash.session_id != taken
    assert {one.size for one in Store(path).sessions()} == {2, 4}


def test_what_is_taken_back_before_it_is_stored_takes_no_other_session_along(path: Path) -> None:
    taken = small_session(path)
    clash = History(lambda: Store(path), replace(new_session("/project"), id=taken), warn=pytest.fail)
    clash.add_user("mine")
    clash.undo()
    clash.add_user("mine after all")
    clash.add_reply("yours")
    assert sorted(session.title for session in Store(path).sessions()) == ["first question", "mine after all"]


def test_deleted_text_is_gone_from_every_file(path: Path) -> None:
    store = Store(path)
    history = History(lambda: store, new_session("/project"), warn=pytest.fail)
    history.add_user("the password is hunter2xyzzy")
    history.add_reply("noted")
    store.delete([history.session_id])
    assert store.sessions() == []
    assert search(store, "hunter2xyzzy") == []
    for file in path.parent.rglob("*"):
        assert file.is_dir() or b"hunter2xyzzy" not in file.read_bytes(), file.name


HOSTILE = [
    '"',
    "'",
    "*",
    "a OR",
    "NEAR(",
    "content:question",
    "-question",
    "question NOT",
    "(question",
    "question)",
    '"question',
    "^question",
    "{a b}: c",
    "question + first",
    "; DROP TABLE messages",
    "\0question",
    "\ud800question",
    "question*",
    "a" * 100_000,
    "AND AND AND",
    "col : x",
    "…",
    "問題",
    "%_",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_is_an_operator_of_the_search(path: Path, query: str) -> None:
    small_session(path)
    store = Store(path)
    hits = search(store, query)
    if "question" in query and "content" not in query:
        assert [hit.snippet for hit in hits] == ["first question"]
    assert search(store, "question")


def test_a_search_wants_all_words_and_falls_back_to_any(path: Path) -> None:
    small_session(path)
    store = Store(path)
    assert [hit.snippet for hit in search(store, "first answer")] == ["first answer"]
    assert [hit.snippet for hit in search(store, "first nonsense")] == ["first answer", "first question"]
    assert search(store, '"question first"') == []
    assert [hit.snippet for hit in search(store, "quest*")] == ["first question"]
    assert search(store, "answer", without=search(store, "answer")[0].session_id) == []


def test_a_result_is_written_over_a_started_call_and_over_nothing_else(path: Path) -> None:
    small_session(path)
    store = Store(path)
    session = store.sessions()[0]
    ended = next(record for record in store.records(session.id)[0] if record.call_id)
    store.end_call(replace(ended, content="something else", outcome=Outcome.INTERRUPTED))
    assert next(record for record in store.records(session.id)[0] if record.call_id) == ended


def test_the_result_of_a_call_is_found(path: Path) -> None:
    small_session(path)
    assert [hit.role for hit in search(Store(path), "well")] == ["tool"]


def test_the_calls_of_a_row_are_plain_json(path: Path) -> None:
    small_session(path)
    rows = Store(path).database.read("SELECT calls FROM messages WHERE role = 'assistant' AND calls <> ''")
    assert json.loads(rows[0][0]) == [{"id": "a", "name": "status", "arguments": "{}", "written": False}]
