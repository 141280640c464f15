"""`/compact`: what was said before the last turn becomes a summary."""

from __future__ import annotations

from collections.abc import Sequence

from mm.errors import ModelError
from mm.messages import Message, Outcome, Role, ToolCall, ToolResult
from mm.session.compact import REQUEST, compact
from mm.session.history import History
from tests.session.strict import assert_strict


def long_history(turns: int) -> History:
    history = History()
    for number in range(turns):
        history.add_user(f"question {number}\nin detail")
        call = ToolCall("c", "status", "{}")
        history.add_reply("", [call])
        history.add_result(ToolResult(call, Outcome.OK, "fine"))
        history.add_reply(f"answer {number}")
    return history


def test_the_models_summary_takes_the_place_of_the_old_turns() -> None:
    history = long_history(3)
    asked: list[Message] = []

    def summarize(messages: Sequence[Message]) -> str:
        asked.extend(messages)
        return " Two questions were answered. "

    done = compact(history, summarize)
    assert_strict(asked)
    assert asked[-1] == Message(Role.USER, REQUEST)
    assert "8 messages" in done
    messages = history.messages()
    assert_strict(messages)
    assert messages[0].content.endswith("Two questions were answered.\n\nquestion 2\nin detail")
    assert len(messages) == 4


def test_a_second_compaction_keeps_the_first_summary_in_view() -> None:
    history = long_history(2)
    compact(history, lambda messages: "the first summary")
    history.add_user("more")
    history.add_reply("much more")
    seen: list[str] = []

    def summarize(messages: Sequence[Message]) -> str:
        seen.append(messages[0].content)
        return "the second summary"

    compact(history, summarize)
    assert "the first summary" in seen[0]
    assert "the second summary" in history.messages()[0].content


def test_without_a_summary_a_list_of_what_was_asked_takes_its_place() -> None:
    def fail(messages: Sequence[Message]) -> str:
        raise ModelError("The server is gone.")

    for summarize in (fail, lambda messages: "", None):
        history = long_history(3)
        done = compact(history, summarize)
        assert "- question 0\n- question 1" in history.messages()[0].content
        assert "a list of what was asked" in done
        assert ("The server is gone." in done) == (summarize is fail)
        assert_strict(history.messages())


def test_a_single_turn_is_compacted_as_a_whole() -> None:
    history = long_history(1)
    compact(history, lambda messages: "it is fine")
    assert [message.role for message in history.messages()] == [Role.USER]
    history.add_user("and now?")
    assert_strict(history.messages())
    assert history.messages()[0].content.endswith("it is fine\n\nand now?")


def test_nothing_to_compact_is_said() -> None:
    assert compact(History(), None) == "There is nothing to compact."


def test_turns_without_an_answer_are_compacted_by_a_request_that_a_strict_server_takes() -> None:
    history = History()
    history.add_user("first")
    history.add_user("The user stopped this before you answered.", note=True)
    asked: list[Message] = []

    def summarize(messages: Sequence[Message]) -> str:
        asked.extend(messages)
        return "Nothing was answered."

    compact(history, summarize)
    assert_strict(asked)
    assert asked[-1].content.endswith(REQUEST)
