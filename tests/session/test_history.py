"""What the model is sent of a conversation, and what a session keeps of it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mm.app.conversation import Conversation
from mm.messages import Message, Outcome, Role, ToolCall, ToolResult, Usage
from mm.session.heal import heal_arguments, heal_id, heal_name, heal_text
from mm.session.history import History, copy_of, resume
from mm.session.records import new_session
from mm.session.store import Store
from tests.session.strict import assert_strict


def call(identity: str, name: str = "status", arguments: str = "{}") -> ToolCall:
    return ToolCall(identity, name, arguments)


def result(of: ToolCall, text: str = "fine", outcome: Outcome = Outcome.OK) -> ToolResult:
    return ToolResult(of, outcome, text)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions.db")


def begin(store: Store) -> History:
    return History(lambda: store, new_session("/project", "/project/agent.yaml", "local:small"))


def reopened(store: Store, history: History) -> History:
    """The same session, as another process would see it."""
    history.save()
    other = Store(store.path)
    return resume(other, next(one for one in other.sessions() if one.id == history.session_id), pytest.fail)


def test_a_session_is_resumed_as_it_was_left(store: Store) -> None:
    history = begin(store)
    history.add_user("Release it\nplease")
    first = call("a", "release", '{"version": "1.10"}')
    history.add_reply("", [first], Usage(100, 7))
    history.call_started(first)
    history.add_result(result(first, "released"))
    history.add_reply("Done.", (), Usage(120, 3))
    again = reopened(store, history)
    assert again.messages() == history.messages()
    assert again.session.title == "Release it"
    assert again.usage == Usage(220, 10)
    assert_strict(again.messages())


def test_a_call_that_ran_when_mm_was_killed_is_answered_started_outcome_unknown(store: Store) -> None:
    """(C117)"""
    history = begin(store)
    history.add_user("go")
    done, running, waiting = call("a"), call("b"), call("c")
    history.add_reply("", [done, running, waiting])
    history.call_started(done)
    history.add_result(result(done, "finished before"))
    history.call_started(running)
    messages = reopened(store, history).messages()
    assert [message.content.partition(":")[0] for message in messages[2:]] == [
        "finished before",
        "started, outcome unknown",
        "interrupted, outcome unknown",
    ]
    assert_strict(messages)


def test_answers_come_in_the_order_of_the_calls_whatever_ended_first(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    calls = [call("a"), call("b"), call("c")]
    history.add_reply("", calls)
    for one in calls:
        history.call_started(one)
    for one in reversed(calls):
        history.add_result(result(one, f"result of {one.id}"))
    expected = ["result of a", "result of b", "result of c"]
    assert [message.content for message in history.messages()[2:]] == expected
    assert [message.content for message in reopened(store, history).messages()[2:]] == expected


def test_an_answer_that_exists_is_not_overwritten(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    one = call("a")
    history.add_reply("", [one])
    history.call_started(one)
    history.add_result(result(one, "the real result"))
    history.add_result(result(one, "interrupted", Outcome.INTERRUPTED))
    assert history.messages()[2:] == [Message(Role.TOOL, "the real result", tool_call_id="a")]
    assert reopened(store, history).messages() == history.messages()


def test_a_call_that_never_ran_is_stored_with_its_answer(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    broken = call("a", "multi_tool_use.parallel", '{"command": "cd ..')
    history.add_reply("", [broken])
    history.add_result(result(broken, "There is no such tool.", Outcome.UNKNOWN))
    messages = reopened(store, history).messages()
    assert messages[1].tool_calls == (ToolCall("a", "multi_tool_use_parallel", "{}"),)
    assert_strict(messages)


def test_arguments_that_are_no_object_are_sent_as_mm_read_them() -> None:
    history = History()
    history.add_user("go")
    history.add_reply("", [call("a", "list", '"{\\"limit\\": \\"3\\"}"')])
    history.add_result(result(call("a", "list", '{"limit":3}')))
    assert history.messages()[1].tool_calls[0].arguments == '{"limit":3}'


def test_ids_that_a_server_uses_again_do_not_mix_up_the_answers(store: Store) -> None:
    history = begin(store)
    for turn in ("one", "two", "three"):
        history.add_user(turn)
        history.add_reply("", [call("call_0")])
        if turn != "two":
            history.add_result(result(call("call_0"), f"answer {turn}"))
    messages = reopened(store, history).messages()
    answers = [message.content for message in messages if message.role is Role.TOOL]
    assert answers[0] == "answer one"
    assert answers[1].startswith("interrupted, outcome unknown")
    assert answers[2] == "answer three"
    assert_strict(messages)


def test_equal_ids_in_one_reply_are_told_apart(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    twins = [call("call_0", "first"), call("call_0", "second")]
    history.add_reply("", twins)
    for twin in twins:
        history.call_started(twin)
    for twin in twins:
        history.add_result(result(twin, f"of {twin.name}"))
    messages = history.messages()
    assert [message.content for message in messages[2:]] == ["of first", "of second"]
    assert_strict(messages)


def test_replies_without_a_call_are_dropped() -> None:
    history = History()
    history.add_user("go")
    history.add_result(result(call("nobody")))
    history.add_reply("Hello.")
    assert [message.role for message in history.messages()] == [Role.USER, Role.ASSISTANT]


@pytest.mark.parametrize("text", ["\ud99c", "a\udfffb", "\ud83d\ude00"])
def test_half_a_character_never_reaches_the_model_or_breaks_the_store(store: Store, text: str) -> None:
    """(C119)"""
    history = begin(store)
    history.add_user(text)
    one = call("a", "n", '{"x": "\\ud99c"}')
    history.add_reply(text, [one])
    history.add_result(result(one, text))
    for messages in (history.messages(), reopened(store, history).messages()):
        assert_strict(messages)
        assert "\\ud" not in messages[1].tool_calls[0].arguments


def test_two_halves_of_one_character_become_that_character() -> None:
    assert heal_text("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    "text", ["", "null", "[1]", "3", '{"a": NaN}', '{"a": ', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"]
)
def test_arguments_that_are_no_json_object_become_an_empty_one(text: str) -> None:
    """(C51)"""
    assert heal_arguments(text) == "{}"


def test_legal_arguments_are_kept_byte_for_byte() -> None:
    text = '{ "version" : "1.10", "n": 1.0e3 }'
    assert heal_arguments(text) == text


@pytest.mark.parametrize(("name", "healed"), [("a.b", "a_b"), ("", "unknown_tool"), ("x" * 80, "x" * 64), ("é", "_")])
def test_a_name_is_made_legal(name: str, healed: str) -> None:
    assert heal_name(name) == healed


def test_undo_takes_back_the_last_turn_here_and_in_the_store(store: Store) -> None:
    history = begin(store)
    history.add_user("keep")
    history.add_reply("kept")
    history.add_user("a secret I pasted")
    history.add_reply("", [call("a")])
    history.add_result(result(call("a")))
    history.add_user("send the call alone", note=True)
    history.add_reply("ok")
    assert history.undo() == "a secret I pasted"
    assert [message.content for message in history.messages()] == ["keep", "kept"]
    assert reopened(store, history).messages() == history.messages()
    assert history.undo() == "keep"
    assert history.undo() is None


def test_of_a_conversation_that_was_taken_back_nothing_stays(store: Store) -> None:
    history = begin(store)
    history.add_user("the password is hunter2xyzzy")
    history.add_reply("noted", usage=Usage(100, 7))
    assert history.undo() == "the password is hunter2xyzzy"
    assert (history.session.title, store.sessions()) == ("", [])
    assert words_in_files(store, b"hunter2xyzzy") == []
    assert Store(store.path).holds.take(history.session_id), "another mm may have that id"


def test_a_conversation_that_begins_again_after_it_was_taken_back_is_kept_as_one_that_began_so(store: Store) -> None:
    history = begin(store)
    history.add_user("the first try")
    history.add_reply("answered", usage=Usage(100, 7))
    history.undo()
    history.add_user("the second try")
    history.add_reply("answered", usage=Usage(50, 3))
    (session,) = store.sessions()
    assert (session.id, session.title, session.size) == (history.session_id, "the second try", 2)
    assert history.usage == reopened(store, history).usage == Usage(150, 10), "the tokens were used"
    assert not Store(store.path).holds.take(session.id)


def test_words_of_a_turn_that_was_taken_back_are_in_no_file(store: Store) -> None:
    history = begin(store)
    history.add_user("hello")
    history.add_reply("Hello.")
    history.add_user("the password is hunter2xyzzy")
    history.add_reply("noted")
    history.undo()
    assert words_in_files(store, b"hunter2xyzzy") == []
    assert [session.title for session in store.sessions()] == ["hello"]


def words_in_files(store: Store, words: bytes) -> list[str]:
    return [file.name for file in store.path.parent.rglob("*") if file.is_file() and words in file.read_bytes()]


def test_the_title_stays_while_what_was_compacted_can_still_be_read(store: Store) -> None:
    history = begin(store)
    history.add_user("the beginning")
    history.add_reply("ok")
    history.compact(2, "They began.")
    history.add_user("and now?")
    history.add_reply("ok")
    history.undo()
    assert [session.title for session in store.sessions()] == ["the beginning"]


def test_a_session_that_holds_nothing_is_gone_on_with_under_its_own_id(store: Store) -> None:
    history = begin(store)
    history.add_user("first")
    history.add_reply("First.")
    history.close()
    store.database.write("DELETE FROM messages")
    again = reopened(store, history)
    again.add_user("second")
    again.add_reply("Second.")
    assert [(session.id, session.size) for session in store.sessions()] == [(history.session_id, 2)]


def test_what_a_compaction_left_out_stays_readable_and_is_not_sent(store: Store) -> None:
    history = begin(store)
    for number in range(3):
        history.add_user(f"question {number}")
        history.add_reply(f"answer {number}")
    history.compact(4, "Two questions were answered.")
    again = reopened(store, history)
    assert [message.content for message in again.messages()] == [
        "Two questions were answered.\n\nquestion 2",
        "answer 2",
    ]
    records, warnings = store.records(history.session_id)
    assert (len(records), warnings) == (6, [])


def test_the_store_is_not_opened_before_the_request_is_on_its_way(store: Store) -> None:
    history = begin(store)
    history.add_user("hello")
    assert not store.path.exists()
    history.save()
    assert len(store.sessions()) == 1


def test_nothing_said_leaves_no_session(store: Store) -> None:
    begin(store).close()
    assert not store.path.exists()


def test_calls_side_by_side_are_each_stored_once(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    calls = [call(f"c{number}") for number in range(8)]
    history.add_reply("", calls)

    def run(one: ToolCall) -> None:
        history.call_started(one)
        history.add_result(result(one, f"of {one.id}"))

    threads = [threading.Thread(target=run, args=(one,)) for one in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    messages = reopened(store, history).messages()
    assert [message.content for message in messages[2:]] == [f"of c{number}" for number in range(8)]


def test_turns_without_an_answer_do_not_break_the_alternation() -> None:
    history = History()
    history.add_user("first")
    history.add_user("second")
    history.add_reply("")
    history.add_reply("answer")
    assert history.messages() == [Message(Role.USER, "first\n\nsecond"), Message(Role.ASSISTANT, "answer")]


def test_an_answer_that_says_nothing_is_not_sent() -> None:
    history = History()
    history.add_user("hello")
    history.add_reply(" ")
    assert history.messages() == [Message(Role.USER, "hello")]


def test_a_copy_begins_with_what_was_said_up_to_the_last_answer_and_leaves_the_original_alone(store: Store) -> None:
    history = begin(store)
    history.add_user("first")
    history.add_reply("First.")
    history.add_user("run it")
    history.add_reply("", [call("a")])
    history.call_started(call("a"))
    before = store.records(history.session_id)
    copy = copy_of(Store(store.path), history.session, new_session("/project"), pytest.fail)
    assert [message.content for message in copy.messages()] == ["first", "First."]
    copy.close()
    assert len(store.sessions()) == 1, "nothing was said in it"
    copy = copy_of(Store(store.path), history.session, new_session("/project"), pytest.fail)
    copy.add_user("second")
    copy.add_reply("Second.")
    assert copy.session.title == "first"
    assert [message.content for message in reopened(store, copy).messages()] == ["first", "First.", "second", "Second."]
    assert store.records(history.session_id) == before


def test_a_copy_of_which_something_is_taken_back_is_stored_as_it_then_is(store: Store) -> None:
    history = begin(store)
    for word in ("one", "two"):
        history.add_user(word)
        history.add_reply(f"{word} answered")
    copy = copy_of(Store(store.path), history.session, new_session("/project"), pytest.fail)
    assert copy.undo() == "two"
    copy.add_user("three")
    copy.add_reply("three answered")
    contents = [message.content for message in reopened(store, copy).messages()]
    assert contents == ["one", "one answered", "three", "three answered"]


def test_a_copy_keeps_the_summary_of_what_was_compacted(store: Store) -> None:
    history = begin(store)
    history.add_user("one")
    history.add_reply("one answered")
    history.compact(2, "One was answered.")
    copy = copy_of(Store(store.path), store.sessions()[0], new_session("/project"), pytest.fail)
    copy.add_user("two")
    copy.add_reply("two answered")
    assert reopened(store, copy).messages()[0].content == "One was answered.\n\ntwo"


def test_a_session_is_held_from_its_first_message_until_it_is_closed(store: Store) -> None:
    other = Store(store.path)
    history = begin(store)
    history.add_user("hello")
    history.save()
    assert not other.holds.take(history.session_id)
    history.close()
    assert other.holds.take(history.session_id)


def test_a_session_that_was_deleted_elsewhere_is_said_to_be_so(store: Store) -> None:
    told: list[str] = []
    history = History(lambda: store, new_session("/project"), warn=told.append)
    history.add_user("hello")
    history.add_reply("Hello.")
    Store(store.path).delete([history.session_id])
    history.add_user("and now?")
    history.add_reply("Still here.")
    assert len(told) == 1
    assert "kept in memory only: the session was deleted by another mm" in told[0]
    assert history.messages()[-1].content == "Still here."


def test_an_export_holds_what_was_said_after_storing_had_ended(store: Store, tmp_path: Path) -> None:
    history = begin(store)
    history.add_user("first")
    history.add_reply("First.")
    history.compact(2, "First was answered.")
    history.add_user("second")
    history.add_reply("Second.")
    pages = store.database.read("PRAGMA page_count")[0][0]
    store.database.read(f"PRAGMA max_page_count = {pages}")
    history.add_user("third")
    history.add_reply("x" * 100_000)
    assert len(store.records(history.session_id)[0]) == 4, "the disk is full"
    agent: Any = SimpleNamespace(history=history)
    assembly: Any = SimpleNamespace(interrupt=None, config=SimpleNamespace(digest=""))
    document = json.loads(Conversation(assembly, agent).export(tmp_path / "all.json").read_text())
    assert [item["content"] for item in document["messages"]] == [
        *("first", "First.", "second", "Second.", "third"),
        "x" * 100_000,
    ]
    assert document["session"]["messages"] == 6


def test_the_models_own_call_stays_as_it_wrote_it_and_what_was_approved_is_written_down(store: Store) -> None:
    history = begin(store)
    history.add_user("deploy")
    own = call("a", "deploy", '{"to": "prod"}')
    history.add_reply("", [own])
    history.call_started(call("a", "deploy", '{"to": "staging"}'))
    running = reopened(store, history)
    assert running.messages()[1].tool_calls == (own,)
    assert running.messages()[2].content.startswith("started, outcome unknown")
    assert '{"to": "staging"}' in running.messages()[2].content
    assert running.records[-1].calls[0].arguments == '{"to": "staging"}'
    history.add_result(result(call("a", "deploy", '{"to": "staging"}'), "deployed"))
    ended = reopened(store, history)
    assert ended.messages()[1:] == [
        Message(Role.ASSISTANT, "", tool_calls=(own,)),
        Message(Role.TOOL, "deployed", tool_call_id="a"),
    ]
    assert ended.records[-1].calls[0].arguments == '{"to": "staging"}'


def test_a_call_without_a_result_says_its_arguments_only_where_the_model_wrote_others(store: Store) -> None:
    history = begin(store)
    history.add_user("go")
    history.add_reply("", [call("a", "status", '{"of": "all"}')])
    history.call_started(call("a", "status", '{"of":"all"}'))
    assert "arguments" not in history.messages()[2].content


@pytest.mark.parametrize(
    "identity", ["chatcmpl-tool-" + "0123456789abcdef" * 2, "functions.status:0", "call 1", "é", "x" * 5000]
)
def test_an_id_that_strict_servers_refuse_is_renamed_alike_each_time_and_keeps_its_pair(
    store: Store, identity: str
) -> None:
    history = begin(store)
    history.add_user("go")
    calls = [call(identity), call(f"{identity}2"), call(identity)]
    history.add_reply("", calls)
    for number, one in enumerate(calls):
        history.call_started(one)
        history.add_result(result(one, f"result {number}"))
    messages = history.messages()
    assert_strict(messages)
    assert [message.content for message in messages[2:]] == ["result 0", "result 1", "result 2"]
    assert reopened(store, history).messages() == messages
    history.add_reply("Done.")
    assert history.messages()[:-1] == messages


@pytest.mark.parametrize("identity", ["a", "call_0", "toolu_01A09q90qw90lq917835lq9", "x" * 40])
def test_an_id_that_every_server_takes_stays_as_it_is(identity: str) -> None:
    assert heal_id(identity) == identity


def test_what_was_not_sent_was_not_said(store: Store) -> None:
    """A prompt that the server finds too long is stored by then, as it is on its way."""
    history = begin(store)
    for is_on_its_way in (False, True):
        history.add_user("far too long")
        if is_on_its_way:
            history.save()
        history.undo()
        assert (history.messages(), history.session.title, store.sessions()) == ([], "", [])
    history.add_user("hello")
    history.add_reply("Hello.")
    assert history.session.title == "hello"
    history.add_user("far too long")
    history.undo()
    assert [message.content for message in reopened(store, history).messages()] == ["hello", "Hello."]
