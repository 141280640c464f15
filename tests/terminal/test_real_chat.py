"""The chat as a person has it: the real `mm` in a real terminal, real tools, a scripted model."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.cli.running import Place, call, logging_tool
from tests.models.loopback import reply, say, serving
from tests.terminal.pty import ESCAPES
from tests.terminal.real import answers, leave, mm_chat, records, resumed

ANSWER = """There are **two** notes.

| Note | Words |
|------|------:|
| a.md | 1,204 |
| b.md | 88 |

```python
def count(text: str) -> int:
    return len(text.split())
```

That is all."""


def test_a_streamed_answer_with_a_table_and_a_code_block(place: Place) -> None:
    pieces = [ANSWER[start : start + 5] for start in range(0, len(ANSWER), 5)]
    usage = {"prompt_tokens": 1200, "completion_tokens": 60}
    model = {"name": "script.yaml", "provider": "scripted", "context": 32768}
    place.agent([{"pieces": pieces, "delay": 0.005, "usage": usage}], model=model)
    with mm_chat(place) as it:
        it.say("what notes are there?")
        it.wait_for("Note")
        it.wait_for("1,204")
        it.wait_for("return len(text.split())")
        it.wait_for("That is all.")
        it.wait_for("1,200 of 32,768 tokens (4%)")
        assert leave(it) == 0
    assert "**two**" not in it.seen
    assert [message.content for message in resumed(place)][:2] == ["what notes are there?", ANSWER]


def release(place: Place, *steps: object, **keys: object) -> None:
    place.agent([*steps], [logging_tool(place, "act")], **keys)


def test_yes_runs_it_once_and_what_runs_is_seen_at_once(place: Place) -> None:
    """However long the person took to answer, the running call is painted right away."""
    place.write("slow.sh", "#!/bin/sh\necho begun\nsleep 600\n", 0o755)
    slow = {"name": "slow", "description": "Slow.", "command": ["./slow.sh"]}
    place.agent([call("slow"), "Stopped."], [slow])
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        time.sleep(1.2)  # the person thinks: that time itself is what is tried
        it.say("y")
        asked = time.monotonic()
        it.wait_for("begun")
        assert time.monotonic() - asked < 1.2
        it.type("\x03")
        it.wait_for("Interrupted.")


def test_no_with_a_reason_reaches_the_model(place: Place) -> None:
    release(place, call("act", what="x"), {"text": "As you wish.", "expect": "not on a Friday"})
    with mm_chat(place) as it:
        it.say("do x")
        it.wait_for("y, n, … > ")
        it.say("n")
        it.wait_for("why not?")
        it.say("not on a Friday")
        it.wait_for("As you wish.")
        assert leave(it) == 0
    assert place.log() == []
    assert answers(place) == ["refused"]


def test_always_is_not_asked_again_in_this_session_but_in_the_next(place: Place) -> None:
    release(place, call("act", what="1"), call("act", what="2"), "Both are done.")
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("a")
        it.wait_for("Both are done.")
        it.say("/permissions")
        it.wait_for("allowed for this session: act")
        it.wait_for("everything else is asked about, but for reading in this folder")
        assert leave(it) == 0
    assert place.log() == ["act 1", "act 2"]
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")


def test_always_written_down_holds_at_the_next_start_until_it_is_revoked_or_the_tool_changes(place: Place) -> None:
    release(place, call("act", what="1"), "Done.")
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("w")
        it.wait_for("Done.")
        assert leave(it) == 0
    assert place.mm("-p", "go", "-a", "agent.yaml").code == 0
    listed = place.mm("permissions", "list", "--json")
    [entry] = json.loads(listed.out)
    assert entry["tool"] == "act"
    tool = logging_tool(place, "act", env={"MODE": "fast"})
    place.agent([call("act", what="1"), "Done."], [tool])
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("`act` has changed since you allowed it always; it was:")
        it.wait_for("y, n, … > ")
    release(place, call("act", what="1"), "Done.")
    assert place.mm("permissions", "revoke", entry["id"]).code == 0
    assert place.mm("-p", "go", "-a", "agent.yaml").code == 4
    assert place.log() == ["act 1", "act 1"]


def test_a_permissions_file_that_cannot_be_read_is_named_and_grants_nothing(place: Place) -> None:
    release(place, call("act", what="1"), "Done.", "Twice.")
    file = place.home / "config" / "permissions.json"
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text("{ broken")
    file.chmod(0o600)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("The permissions file")
        it.wait_for("y, n, … > ")
        it.say("w")
        it.wait_for("allowed for this session only")
        it.wait_for("Done.")
    assert file.read_text() == "{ broken"
    ran = place.mm("-p", "go", "-a", "agent.yaml")
    assert ran.code == 4
    assert ran.err.count("The permissions file") == 1 and f"mv '{file}'" in ran.err
    assert place.log() == ["act 1"]


def test_edited_arguments_are_what_runs_and_the_model_is_told(place: Place) -> None:
    release(place, call("act", what="prod"), {"text": "Seen.", "expect": "staging"})
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("e")
        it.wait_for('"what": "prod"')
        it.type("\x7f" * 40 + '{"what": "staging"}\r')
        it.wait_for("'staging'")
        it.wait_for("y, n, … > ")
        it.say("y")
        it.wait_for("Seen.")
        assert leave(it) == 0
    assert place.log() == ["act staging"]


def test_a_call_that_is_being_written_as_text_is_not_a_wait_for_the_model(place: Place) -> None:
    pieces = ['{"name": "act", ', *(["  "] * 30), '"arguments": {"what": "x"}}']
    release(place, {"pieces": pieces, "delay": 0.02}, "Done.", yolo=True)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("writing a call")
        it.wait_for("Done.")
        assert leave(it) == 0
    assert place.log() == ["act x"]


def test_two_hundred_pasted_lines_are_one_message(place: Place) -> None:
    """(C113)"""
    lines = [f'line {number} of a log, with "quotes" and a \ttab' for number in range(1, 201)]
    place.agent(["All 200 lines are here."])
    with mm_chat(place) as it:
        it.type("\x1b[200~" + "\r\n".join(lines) + "\x1b[201~")
        it.wait_for("line 200 of a log")
        it.say("")
        it.wait_for("All 200 lines are here.")
        assert leave(it) == 0
    assert resumed(place)[0].content == "\n".join(lines)


def test_an_output_of_twenty_thousand_lines_is_one_line_on_the_terminal(place: Place) -> None:
    tool = {"name": "count", "description": "Counts.", "command": ["seq", "20000"]}
    place.agent([call("count"), "Counted."], [tool], yolo=True)
    with mm_chat(place) as it:
        it.say("count")
        it.wait_for("20,000 lines")
        it.wait_for("Counted.")
        assert leave(it) == 0
        assert "5000\r\n" not in it.seen
    assert "characters left out here" in records(place)[2].content


def test_the_plan_is_shown_whole_and_again_when_the_session_goes_on(place: Place) -> None:
    todos = [{"content": f"step {n}", "status": "done" if n < 3 else "pending"} for n in range(1, 8)]
    place.agent([call("todo_list", todos=todos), "Two of seven are done."], builtins=["todo_list"])
    with mm_chat(place) as it:
        it.say("plan it")
        it.wait_for("[x] step 1")
        it.wait_for("[ ] step 7")
        it.wait_for("Two of seven are done.")
        assert leave(it) == 0
        assert '"content"' not in it.seen
    with mm_chat(place, "-c") as it:
        assert "The plan:\r\n" in ESCAPES.sub("", it.seen) and "[ ] step 7" in it.seen
        it.say("/todos")
        it.wait_for("[ ] step 7")
        it.say("/undo")
        it.wait_for("Took back")
        it.wait_for("plan it")  # it stands in the line again, to be edited
        it.type("\x03")
        it.say("/todos")
        it.wait_for("There is no plan")


@pytest.mark.parametrize("columns", [20, 300])
def test_a_narrow_and_a_very_wide_window(place: Place, columns: int) -> None:
    release(place, call("act", what="x" * 60), ANSWER)
    with mm_chat(place, columns=columns) as it:
        it.say("go")
        it.wait_for(" > ")
        it.say("y")
        it.wait_for("That is all.")
        assert leave(it) == 0
        printed = [line for line in it.seen.split("\r\n") if line.endswith("\x1b[K")]
    assert place.log() == ["act " + "x" * 60]
    assert max(len(ESCAPES.sub("", line).rpartition("\r")[2]) for line in printed) < columns
    greeting = "mm · test · /help" + (" lists what you can type" if columns > 20 else "")
    assert ESCAPES.sub("", printed[0]) == greeting


def test_a_window_that_changes_its_size_while_an_answer_streams(place: Place) -> None:
    words = [f"word{number} " for number in range(120)]
    place.agent([{"pieces": words, "delay": 0.01}, "Second."])
    with mm_chat(place, columns=120) as it:
        it.say("go")
        it.wait_for("word5 ")
        it.resize(30, 12)
        it.wait_for("word60 ")
        it.resize(100, 40)
        it.wait_for("word119")
        it.wait_for("scripted:")
        it.say("again")
        it.wait_for("Second.")
        assert leave(it) == 0


def test_without_colour_the_layout_stays(place: Place) -> None:
    release(place, call("act", what="x"), ANSWER)
    with mm_chat(place, NO_COLOR="1") as it:
        it.say("go")
        it.wait_for("y, n, … > ")
        it.say("y")
        it.wait_for("return len(text.split())")
        it.wait_for("That is all.")
        assert leave(it) == 0
        assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;5;\d+)m", it.seen)


def test_a_dumb_terminal_gets_lines_and_no_cursor_movement(place: Place) -> None:
    release(place, call("act", what="x"), ANSWER)
    with mm_chat(place, TERM="dumb") as it:
        it.say("go")
        it.wait_for("'x'")
        it.wait_for("y, n, … > ")
        it.say("y")
        it.wait_for("done x")
        it.wait_for("That is all.")
        it.wait_for("> ")
        assert leave(it) == 0
        assert "\x1b" not in it.seen
        seen = it.seen.replace("\r", "")
    assert '> y\n\n→ act what="x"\n✓ act what="x"  done x\n\nThere are' in seen, "what differs in kind has a gap"
    assert "That is all.\n\n> \nTo go on with this: mm -a agent.yaml -r 2" in seen
    assert place.log() == ["act x"]


def test_a_call_of_an_unknown_tool_does_not_end_the_chat(place: Place) -> None:
    """(C115)"""
    wrong = [{"name": name, "arguments": {}} for name in ("ac", "functions.nope", "")]
    release(place, {"calls": wrong}, {"text": "I see.", "expect": "act"}, yolo=True)
    with mm_chat(place) as it:
        it.say("go")
        it.wait_for("no such tool")
        it.wait_for("I see.")
        assert leave(it) == 0
    assert answers(place) == ["unknown"] * 3
    resumed(place)


def test_a_shared_own_command_that_leaves_something_running_comes_back(place: Place) -> None:
    place.agent([{"text": "Seen.", "expect": "hello from sh"}])
    with mm_chat(place) as it:
        it.say("!!echo hello from sh; sleep 5 &")
        it.wait_for("goes to the model with your next message")
        it.say("what did it say?")
        it.wait_for("Seen.")
        it.say("!!touch up; sleep 600 | sleep 600")
        it.wait_until((place.folder / "up").exists)
        it.type("\x03")
        it.wait_for("interrupted")


QUESTIONS = [
    {"question": "Which channel?", "choices": ["stable", "beta"]},
    {"question": "Which version?"},
    {"question": "What of the old release?", "choices": ["keep it", "delete it", "archive it"]},
    {"question": "Who is to be told?", "choices": ["nobody", "the team"]},
    {"question": "Anything else?"},
]


def test_five_questions_are_answered_by_number_in_own_words_and_by_nothing(place: Place) -> None:
    """The model gets each answer under its question; the chat does not show again what was just typed."""
    place.agent([call("clarify", questions=QUESTIONS), "Thank you."], builtins=["clarify"])
    with mm_chat(place) as it:
        it.say("release it")
        for number, (item, reply) in enumerate(zip(QUESTIONS, ("2", "1.4.2", "ask Ann", "", "be quick"), strict=True)):
            it.wait_for(f"{item['question']} ({number + 1} of 5)")
            if "choices" in item:
                it.wait_for(f"{len(item['choices'])}  {item['choices'][-1]}")
            it.wait_for("Enter skips > ")
            it.type(reply + "\r")
        shown = it.wait_for("Thank you.")
        assert leave(it) == 0
    assert "✓ clarify" in shown and "questions=" not in shown and "→ beta" not in shown
    answered = ("beta", "1.4.2", "ask Ann", "(skipped: decide yourself)", "be quick")
    pairs = zip((item["question"] for item in QUESTIONS), answered, strict=True)
    assert records(place)[2].content == "\n\n".join(f"{question}\n→ {answer}" for question, answer in pairs)


def test_esc_at_a_question_skips_it_and_end_of_input_all_that_follow(place: Place) -> None:
    place.agent([call("clarify", questions=QUESTIONS[:3]), "Thank you."], builtins=["clarify"])
    with mm_chat(place) as it:
        it.say("release it")
        it.wait_for("Enter skips > ")
        it.say("1")
        it.wait_for("Which version?")
        it.wait_for("Enter skips > ")
        it.type("\x04")
        it.wait_for("Thank you.")
        assert leave(it) == 0
    assert records(place)[2].content.count("(skipped: decide yourself)") == 2


def test_a_message_that_the_server_finds_too_long_comes_back_into_the_line(place: Place) -> None:
    """It is no part of the conversation, so the next question does not fail because of it."""
    refusal = {"error": {"message": "the request exceeds the available context size"}}
    with serving() as server:
        place.write("agent.yaml", f"model: {{name: m, base_url: '{server.url}', context: 32768}}\nbuiltins: []\n")
        server.answers = [say("Hello."), reply(400, refusal), say("Shorter is better.")]
        with mm_chat(place, status="custom:m") as it:
            it.say("hi")
            it.wait_for("Hello.")
            it.wait_for("custom:m")
            it.say("far too long")
            it.wait_for("shorten the message")
            it.wait_for("› far too long")
            it.type("\x15")
            it.say("short")
            it.wait_for("Shorter is better.")
            assert leave(it) == 0
    sent = [message["content"] for message in server.seen[-1].body["messages"] if message["role"] != "system"]
    assert sent == ["hi", "Hello.", "short"]
    assert [message.content for message in resumed(place)][:4] == ["hi", "Hello.", "short", "Shorter is better."]


def test_an_agent_file_that_changed_while_the_chat_is_open_is_told_once(place: Place) -> None:
    file = place.agent(["One.", "Two.", "Three."])
    with mm_chat(place, columns=1000) as it:
        it.say("a")
        it.wait_for("One.")
        it.wait_for("scripted:")  # the next prompt stands: what changes now is told at the one after it
        file.write_text(file.read_text() + "# more\n")
        it.say("b")
        it.wait_for("Two.")
        it.wait_for("has changed: mm uses the old one until")
        it.say("c")
        it.wait_for("Three.")
        assert leave(it) == 0
    assert it.seen.count("has changed") == 1
