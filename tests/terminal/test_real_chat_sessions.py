"""The session of a real chat: taken back, asked again, begun anew, resumed, compacted, exported."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3

from tests.cli.running import Place, call, kept_of, logging_tool
from tests.models.loopback import reply, say, serving
from tests.terminal.pty import ESCAPES, Terminal
from tests.terminal.real import leave, mm_chat, records, resumed, store_of


def says(it: Terminal, line: str, answer: str) -> None:
    """Type a line, see what comes of it, and wait for the next prompt."""
    it.say(line)
    it.wait_for(answer)
    it.wait_for("scripted:")


def test_undo_and_retry_take_back_what_is_sent_and_what_is_stored(place: Place) -> None:
    place.agent(["One.", "Two.", {"text": "Two again.", "expect": "second"}, {"text": "Three.", "expect": "third"}])
    with mm_chat(place) as it:
        says(it, "first", "One.")
        says(it, "second", "Two.")
        says(it, "/retry", "Two again.")
        says(it, "/undo", "Took back the last exchange")
        it.type("\x15third\r")
        it.wait_for("Three.")
        it.wait_for("scripted:")
        assert leave(it) == 0
    assert [record.content for record in records(place)] == ["first", "One.", "third", "Three."]
    resumed(place)


def test_clear_begins_a_new_session_and_resume_brings_the_old_one_back(place: Place) -> None:
    place.agent(["Blue.", "New.", {"text": "It was blue.", "expect": "which colour?"}])
    with mm_chat(place) as it:
        says(it, "my colour is blue", "Blue.")
        it.say("/clear")
        old = re.findall(r"\d{8}-[a-z]+", it.wait_for("brings the last one back"))[-1]
        it.wait_for("scripted:")
        says(it, "hello", "New.")
        it.say("/sessions")
        it.wait_for(old)
        it.wait_for("scripted:")
        says(it, f"/resume {old[:-2]}", "my colour is blue")
        says(it, "which colour?", "It was blue.")
        says(it, "/resume nonsense", "No session `nonsense`")
        assert leave(it) == 0
    assert [session.id == old for session in store_of(place).sessions()] == [True, False]
    assert [record.content for record in records(place)][-1] == "It was blue."


def test_compact_keeps_a_summary_and_everything_for_reading(place: Place) -> None:
    place.agent(["One.", "Two.", "They said one.", {"text": "Three.", "expect": "third"}])
    with mm_chat(place) as it:
        says(it, "first", "One.")
        says(it, "second", "Two.")
        says(it, "/compact", "a summary takes their place")
        says(it, "third", "Three.")
        says(it, "/export all.json", "all.json")
        says(it, "/export all.json", "is there already")
        says(it, "/export", ".md")
        assert leave(it) == 0
    contents = [message.content for message in resumed(place)]
    assert "They said one." in contents[0] and not any(text == "One." for text in contents)
    exported = json.loads((place.folder / "all.json").read_text())
    assert [item["content"] for item in exported["messages"]][:2] == ["first", "One."]


def test_a_compaction_shows_that_it_works_and_ctrl_c_ends_it(place: Place) -> None:
    place.agent(["One.", "Two.", {"text": "late", "delay": 600}, "One was answered."])
    with mm_chat(place) as it:
        says(it, "first", "One.")
        says(it, "second", "Two.")
        it.say("/compact")
        it.wait_for("waiting for the model")
        it.type("\x03")
        it.wait_for("Interrupted.")
        it.wait_for("scripted:")
        assert [record.left_out for record in records(place)] == [False] * 4
        says(it, "/compact", "a summary takes their place")
        assert leave(it) == 0
    assert [record.left_out for record in records(place)] == [True] * 2 + [False] * 2


def test_a_first_message_that_the_server_finds_too_long_leaves_no_session(place: Place) -> None:
    refusal = {"error": {"message": "the request exceeds the available context size"}}
    with serving() as server:
        place.write("agent.yaml", f"model: {{name: m, base_url: '{server.url}', context: 32768}}\nbuiltins: []\n")
        server.answers = [reply(400, refusal)]
        with mm_chat(place, status="custom:m") as it:
            it.say("far too long")
            it.wait_for("shorten the message")
            it.wait_for("far too long")
            it.type("\x15")
            assert leave(it) == 0
    assert "To go on with this" not in it.seen
    assert store_of(place).sessions() == []


def test_a_store_that_is_locked_is_told_of_at_once_and_gets_later_what_it_lacks(place: Place) -> None:
    place.agent(["One.", "Two."])
    with mm_chat(place) as it:
        says(it, "first", "One.")
        holder = sqlite3.connect(place.home / "data" / "sessions.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        it.say("/undo")
        it.wait_for("not written down yet")
        it.wait_for("Took back the last exchange")
        it.wait_for("scripted:")
        holder.execute("ROLLBACK")
        holder.close()
        it.type("\x15second\r")
        it.wait_for("written down again")
        it.wait_for("Two.")
        it.wait_for("scripted:")
        assert leave(it) == 0
    assert [session.title for session in store_of(place).sessions()] == ["second"]
    assert [record.content for record in records(place)] == ["second", "Two."]


def test_what_could_not_be_written_down_is_told_when_the_chat_ends(place: Place) -> None:
    place.agent(["One.", "Two."])
    with mm_chat(place) as it:
        says(it, "first", "One.")
        holder = sqlite3.connect(place.home / "data" / "sessions.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        says(it, "second", "Two.")
        assert leave(it) == 0
        holder.close()
    assert "! The end of this conversation could not be written down" in it.seen.replace("\x1b[38;5;166m", "")


def test_a_server_that_was_down_is_asked_for_its_context_once_it_is_there(place: Place) -> None:
    place.agent(["word " * 3000])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server_is = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "x"}
    with mm_chat(place, **server_is) as it:
        says(it, "tell me much", "word word")
        it.say("/model openai:m")
        it.wait_for("The model is openai:m")
        it.wait_for("openai:m")
        with serving(port) as server:
            server.answers = [reply(200, {"data": [{"id": "m", "max_model_len": 2000}]}), say("Short.")]
            it.say("and now?")
            it.wait_for("no longer fits the model's context")
            it.wait_for("Short.")
            it.wait_for("openai:m")
            assert leave(it) == 0


def test_the_model_is_changed_and_one_that_cannot_be_had_changes_nothing(place: Place) -> None:
    place.agent(["One."])
    place.write("other.yaml", json.dumps([{"text": "From the other.", "expect": "again"}]))
    with mm_chat(place) as it:
        says(it, "first", "One.")
        says(it, "/model scripted:nowhere.yaml", "There is no script")
        says(it, "/model scripted:other.yaml", "The model is scripted:")
        says(it, "again", "From the other.")
        assert leave(it) == 0
    assert store_of(place).sessions()[0].model.endswith("other.yaml")


def test_yolo_stops_the_questions_until_it_is_turned_off(place: Place) -> None:
    place.agent([call("act", what="1"), "Done.", call("act", what="2"), "Asked."], [logging_tool(place, "act")])
    with mm_chat(place) as it:
        says(it, "/yolo on", "yolo is on")
        assert "yolo: nothing asks" in it.seen
        says(it, "go", "Done.")
        says(it, "/yolo off", "yolo is off")
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("n")
        it.wait_for("why not?")
        it.say("")
        it.wait_for("Asked.")
        it.wait_for("scripted:")
        assert leave(it) == 0
    assert place.log() == ["act 1"]


def test_continue_in_the_chat_shows_where_it_was_left(place: Place) -> None:
    place.agent(["The key is in the **drawer**."])
    place.mm("-p", "where is the key?", "-a", "agent.yaml")
    place.agent([{"text": "In the drawer, as I said.", "expect": "where again?"}])
    with mm_chat(place, "-c") as it:
        assert "where is the key?" in it.seen and "**" not in it.seen
        says(it, "where again?", "In the drawer, as I said.")
        assert leave(it) == 0
    assert len(records(place)) == 4


def test_going_on_after_a_kill_shows_the_call_whose_outcome_is_not_known(place: Place) -> None:
    place.write("slow.sh", "#!/bin/sh\nwhile echo begun; do sleep 0.1; done\n", 0o755)  # ends when nobody reads
    slow = {"name": "slow", "description": "Slow.", "command": ["./slow.sh"]}
    place.agent([call("act", what="x"), call("slow")], [logging_tool(place, "act"), slow], yolo=True)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("begun")
        os.kill(it.process, signal.SIGKILL)
        it.end()
    with mm_chat(place, "-c") as it:
        seen = ESCAPES.sub("", it.seen).replace("\r", "")
        assert '✓ act what="x"\n✗ slow  started, outcome unknown\n' in seen and "(no answer)" in seen
        assert leave(it) == 0


def test_a_session_with_a_damaged_date_is_listed_without_it(place: Place) -> None:
    place.agent(["One."])
    place.mm("-p", "what is one?", "-a", "agent.yaml")
    store = store_of(place)
    store.database.write("UPDATE sessions SET updated = 1e300")
    store.close()
    with mm_chat(place) as it:
        it.say("/sessions")
        it.wait_for("what is one?")
        it.wait_for("scripted:")
        assert leave(it) == 0


def test_a_session_of_another_folder_and_agent_file_says_so_when_it_goes_on(place: Place) -> None:
    file = place.agent(["One."])
    place.mm("-p", "first", "-a", str(file))
    there = Place(place.folder / "there", place.home)
    there.folder.mkdir()
    there.agent(["Two."])
    with mm_chat(there, "-r", "latest", columns=1000) as it:
        assert (
            f"It was led in {place.folder} with the tools of {file}; "
            f"from here on it goes on in {there.folder} with the tools of {there.folder}/agent.yaml."
        ) in ESCAPES.sub("", it.seen)
        says(it, "second", "Two.")
        assert leave(it) == 0
        assert f"To go on with this: mm -a agent.yaml -r {store_of(place).sessions()[0].id}" in it.seen


def test_no_session_keeps_nothing_of_a_chat(place: Place) -> None:
    place.agent(["The second secret."])
    with mm_chat(place, "--no-session") as it:
        says(it, "the first secret", "The second secret.")
        says(it, "/undo", "Took back")
        it.type("\x15")
        assert leave(it) == 0
    assert kept_of(place, b"secret") == []


def test_a_store_that_cannot_be_used_is_said_once_and_the_chat_goes_on(place: Place) -> None:
    file = place.home / "data" / "sessions.db"
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_bytes(b"no database at all, " * 400)
    file.chmod(0o600)
    place.agent(["One.", "Two."])
    with mm_chat(place) as it:
        it.say("first")
        it.wait_for("kept in memory only")
        it.wait_for("One.")
        it.wait_for("scripted:")
        says(it, "second", "Two.")
        says(it, "/sessions", "not a database")
        assert leave(it) == 0
        assert it.seen.count("kept in memory only") == 1
        assert "Traceback" not in it.seen


def test_the_notice_of_a_shortened_history_is_seen_in_the_chat(place: Place) -> None:
    model = {"provider": "scripted", "name": "script.yaml", "context": 1500}
    place.agent(["word " * 900, "Short."], model=model)
    with mm_chat(place) as it:
        it.say("tell me much")
        it.wait_for("word word")
        it.wait_for("scripted:")
        it.say("and now?")
        it.wait_for("no longer fits the model's context")
        it.wait_for("Short.")
        it.wait_for("scripted:")
        assert leave(it) == 0
