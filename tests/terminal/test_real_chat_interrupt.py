"""Ctrl-C in each state of a turn of the real `mm`: a whole session, a restored terminal, no process behind."""

from __future__ import annotations

import termios

import pytest

from mm.messages import Role
from tests.cli.running import Place, call, logging_tool
from tests.models.loopback import serving
from tests.terminal.pty import Terminal
from tests.terminal.real import answers, leave, left_behind, mm_chat, modes, resumed, sleeping_tool

STILL_THERE = "I am still here."


def goes_on_and_leaves(place: Place, it: Terminal) -> None:
    """The next message is answered; after Ctrl-D the terminal is as it was and nothing of mm is left."""
    it.wait_for("Interrupted.")
    it.wait_for("scripted:")
    it.say("still there?")
    it.wait_for(STILL_THERE)
    it.wait_for("scripted:")
    assert leave(it) == 0
    after = modes(it)
    assert after[3] & termios.ECHO and after[3] & termios.ICANON and after[0] & termios.ICRNL
    assert "\x1b[?25h" in it.seen.rpartition("\x1b[?25l")[2], "the cursor is shown"
    assert "\x1b[?2004h" not in it.seen.rpartition("\x1b[?2004l")[2], "bracketed paste is off"
    assert left_behind(place) == []
    messages = resumed(place)
    assert any(STILL_THERE in message.content for message in messages)


def test_while_the_model_is_silent(place: Place) -> None:
    place.agent([{"text": "late", "delay": 600}, STILL_THERE])
    with mm_chat(place) as it:
        it.say("hello")
        it.wait_for("waiting for the model")
        it.type("\x03")
        goes_on_and_leaves(place, it)
    asked, answered, _ = resumed(place)
    assert asked.content == "hello\n\n[mm] The user stopped this before you answered.\n\nstill there?"
    assert answered.content == STILL_THERE, "the model is not told that it said something else"


def test_while_the_answer_streams(place: Place) -> None:
    """(C117) What had arrived stays in the conversation."""
    place.agent([{"pieces": ["Half of it. "] + ["more "] * 600, "delay": 0.05}, STILL_THERE])
    with mm_chat(place) as it:
        it.say("hello")
        it.wait_for("more more")
        it.type("\x03")
        goes_on_and_leaves(place, it)
    assert resumed(place)[1].content.startswith("Half of it. more")


def test_at_the_question_for_consent(place: Place) -> None:
    place.agent([call("act", what="x"), STILL_THERE], [logging_tool(place, "act")])
    with mm_chat(place) as it:
        it.say("do x")
        it.wait_for("y, n, … > ")
        it.type("\x03")
        goes_on_and_leaves(place, it)
    assert place.log() == []
    assert answers(place) == ["interrupted"]


def test_many_times_at_the_question_is_one_interrupt_and_no_wish_to_leave(place: Place) -> None:
    """There Ctrl-C is read as a key: the second one would wait for the next line."""
    place.agent([call("act", what="x"), STILL_THERE], [logging_tool(place, "act")])
    with mm_chat(place) as it:
        it.say("do x")
        it.wait_for("y, n, … > ")
        it.type("\x03\x03\x03\x03")
        goes_on_and_leaves(place, it)
        assert "leaves" not in it.seen
    assert answers(place) == ["interrupted"]


def test_while_model_waits_for_another_server(place: Place) -> None:
    place.agent([STILL_THERE])
    with serving() as server:
        server.answers = [server.hang]
        with mm_chat(place, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="x") as it:
            it.say("/model openai:other")
            it.wait_until(lambda: bool(server.seen))
            it.type("\x03")
            goes_on_and_leaves(place, it)


def test_while_a_tool_runs(place: Place) -> None:
    """(C75) The tool's own children end with it."""
    place.agent([call("rest"), STILL_THERE], [sleeping_tool(place, "rest")], yolo=True)
    with mm_chat(place) as it:
        it.say("rest")
        it.wait_for("rest runs")
        it.type("\x03")
        it.wait_for("interrupted")
        goes_on_and_leaves(place, it)
    assert answers(place) == ["interrupted"]


def test_while_several_tools_run_side_by_side(place: Place) -> None:
    """(C117) The one that is done keeps its result, the others are answered."""
    calls = [{"name": name, "arguments": {}} for name in ("quick", "one", "two")]
    quick = {"name": "quick", "description": "Is quick.", "command": ["echo", "quick result"], "readonly": True}
    tools = [quick, *(sleeping_tool(place, name, readonly=True) for name in ("one", "two"))]
    place.agent([{"calls": calls}, STILL_THERE], tools, yolo=True)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("quick result")
        it.wait_for("runs")
        it.type("\x03")
        goes_on_and_leaves(place, it)
    assert answers(place) == ["ok", "interrupted", "interrupted"]
    replies = [message.content for message in resumed(place) if message.role is Role.TOOL]
    assert "quick result" in replies[0]


def test_with_calls_that_were_still_to_be_asked_about(place: Place) -> None:
    """(C117) Ctrl-C while the first of three runs: the other two are never run, and have their replies."""
    calls = [{"name": "rest", "arguments": {}}, *(call("act", what=str(n))["calls"][0] for n in range(2))]
    place.agent([{"calls": calls}, STILL_THERE], [sleeping_tool(place, "rest"), logging_tool(place, "act")])
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("y")
        it.wait_for("rest runs")
        it.type("\x03")
        goes_on_and_leaves(place, it)
    assert place.log() == []
    assert answers(place) == ["interrupted"] * 3


@pytest.mark.parametrize("event", ["preToolCall", "postToolCall"])
def test_while_a_hook_runs(place: Place, event: str) -> None:
    """(C108) A hook that was cut short blocks; whatever it started ends with it."""
    place.write("slow.sh", f"#!/bin/sh\necho up > {place.folder}/hook\nsleep 600 &\nsleep 600\n", 0o755)
    hooks = {event: [{"matcher": "act", "command": ["./slow.sh"], "timeout": 500}]}
    place.agent([call("act", what="x"), STILL_THERE], [logging_tool(place, "act")], yolo=True, hooks=hooks)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_until(lambda: bool(place.log("hook")))
        it.type("\x03")
        goes_on_and_leaves(place, it)
    assert place.log() == ([] if event == "preToolCall" else ["act x"])
    assert len(answers(place)) == 1


def test_ctrl_c_pressed_many_times_is_one_interrupt(place: Place) -> None:
    place.agent([call("rest"), STILL_THERE], [sleeping_tool(place, "rest")], yolo=True)
    with mm_chat(place) as it:
        it.say("rest")
        it.wait_for("rest runs")
        it.type("\x03\x03\x03\x03")
        goes_on_and_leaves(place, it)


def test_a_closed_window_leaves_no_process_and_a_whole_session(place: Place) -> None:
    place.agent([call("rest"), STILL_THERE], [sleeping_tool(place, "rest")], yolo=True)
    with mm_chat(place) as it:
        it.say("rest")
        it.wait_for("rest runs")
        assert it.close() == 129
    assert left_behind(place) == []
    assert answers(place) == ["interrupted"]
    resumed(place)
