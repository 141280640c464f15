"""What a turn shows: what stays, and what is still moving."""

from __future__ import annotations

from mm.events import CallAnnounced, CallEnded, CallProgress, CallStarted, ReplyEnded, RequestSent, TextShown
from mm.messages import Outcome, Reply, ToolCall, ToolResult
from mm.terminal.frame import TurnFrame
from mm.terminal.palette import PLAIN
from tests.terminal.stand_in import ANSWER


def frame_after(*events: object) -> TurnFrame:
    frame = TurnFrame(PLAIN, verbose=False)
    for event in events:
        frame.report(event, 80)  # type: ignore[arg-type]
    return frame


def test_a_finished_block_stays_and_only_the_open_one_is_redrawn() -> None:
    frame = frame_after(TextShown("one\n\ntwo\n\nthr"))
    assert frame.take_lines(80) == ["one"]
    assert frame.live_lines(80, 24) == ["", "two", "", "thr"]
    frame.report(TextShown("ee\n"), 80)
    assert frame.take_lines(80) == ["", "two"]
    assert frame.live_lines(80, 24) == ["", "three"]
    frame.end(80)
    assert (frame.take_lines(80), frame.live_lines(80, 24)) == (["", "three"], [])


def test_streamed_and_whole_the_same_lines_stay() -> None:
    whole = frame_after(ReplyEnded(Reply(ANSWER), ANSWER)).take_lines(60)
    frame = TurnFrame(PLAIN, verbose=False)
    lines: list[str] = []
    for one in ANSWER:
        frame.report(TextShown(one), 60)
        lines += frame.take_lines(60)
        frame.live_lines(60, 24)
    frame.report(ReplyEnded(Reply(ANSWER), ANSWER), 60)
    assert [*lines, *frame.take_lines(60)] == whole


def test_a_block_longer_than_the_screen_shows_its_end_and_stays_whole() -> None:
    frame = frame_after(TextShown("```\n" + "".join(f"line {number}\n" for number in range(3000))))
    frame.take_lines(80)
    live = frame.live_lines(80, 24)
    assert len(live) < 24 and live[-1] == "  line 2999"
    frame.end(80)
    assert frame.take_lines(80) == [f"  line {number}" for number in range(3000)]


def test_calls_that_run_together_are_shown_together_and_fold_one_by_one() -> None:
    one, two = ToolCall("1", "a", "{}"), ToolCall("2", "b", "{}")
    frame = frame_after(CallStarted(one, "a", "first"), CallStarted(two, "b", "second"))
    assert [line.split("  ")[0][2:] for line in frame.live_lines(80, 24)] == ["a first", "b second"]
    frame.report(CallEnded(ToolResult(two, Outcome.TIMED_OUT, "exit code: 1", "", 60.0)), 80)
    assert frame.take_lines(80) == ["✗ b second  stopped: out of time · 60 s", "  │ exit code: 1"]
    assert [line.split("  ")[0][2:] for line in frame.live_lines(80, 24) if line] == ["a first"]


def result(call: ToolCall, outcome: Outcome, content: str = "", seconds: float = 0.0) -> CallEnded:
    return CallEnded(ToolResult(call, outcome, content, content, seconds))


def test_a_call_that_an_interrupt_kept_from_starting_is_one_short_line() -> None:
    running = ToolCall("1", "upload", "{}")
    waiting = ToolCall("2", "save", '{"text": "a\\nb", "path": "notes/a.md", "times": 3}')
    frame = frame_after(
        CallStarted(running, "upload", ""),
        CallAnnounced(waiting),
        result(running, Outcome.INTERRUPTED, "(stopped)", 1.2),
        result(waiting, Outcome.INTERRUPTED, "Interrupted by the user before it was run."),
    )
    assert frame.take_lines(80) == [
        "✗ upload  interrupted · 1.2 s",
        "  │ (stopped)",
        '✗ save path="notes/a.md", times=3, text="a\\nb"  not run: interrupted',
    ]


def test_in_a_narrow_window_how_it_went_stands_below_the_name() -> None:
    call = ToolCall("1", "release", '{"version": "1.4.2"}')
    frame = TurnFrame(PLAIN, verbose=False)
    frame.report(result(call, Outcome.INVALID), 19)
    assert frame.take_lines(19) == ["✗ release version=…", "  not run: wrong", "  arguments"]


def test_a_sub_agents_work_stands_below_its_task_and_its_answer_comes_once() -> None:
    """Also where both models give their calls the same id."""
    task, step = ToolCall("c0", "delegate_task", "{}"), ToolCall("c0", "look", "{}")
    frame = frame_after(
        CallStarted(task, "delegate_task", 'task="look"'), RequestSent(1), CallStarted(step, "look", "")
    )
    frame.report(CallProgress("c0", "half of it"), 80)
    assert frame.take_lines(80) == ['→ delegate_task task="look"']
    assert [line[4:10] for line in frame.live_lines(80, 24)] == ["look  ", "│ half"]
    frame.report(result(step, Outcome.OK, "all of it"), 80)
    assert frame.take_lines(80) == ["  ✓ look  all of it"]
    frame.report(RequestSent(2), 80)
    frame.report(TextShown("Seen."), 80)
    assert (frame.take_lines(80), frame.live_lines(80, 24)[-1]) == ([], "    │ Seen.")
    frame.report(ReplyEnded(Reply("Seen."), "Seen."), 80)
    assert (frame.take_lines(80), frame.answer) == ([], "")
    frame.report(result(task, Outcome.OK, "Seen.", 2.0), 80)
    assert frame.take_lines(80) == ["✓ delegate_task  2.0 s", "  │ Seen."]
    frame.report(TextShown("It was seen."), 80)
    frame.end(80)
    assert frame.take_lines(80) == ["", "It was seen."]


def test_a_plan_is_whole_in_a_narrow_window() -> None:
    call = ToolCall("1", "todo_list", "{}")
    frame = TurnFrame(PLAIN, verbose=False)
    frame.report(CallStarted(call, "todo_list", "todos=[]"), 19)
    frame.report(result(call, Outcome.OK, "[>] Write\n  [x] boats and trains"), 19)
    assert frame.take_lines(19) == ["✓ todo_list", "  │ [>] Write", "  │   [x] boats and", "  │   trains"]


def test_a_call_that_went_well_folds_to_one_line_and_verbose_shows_some_of_its_output() -> None:
    call = ToolCall("1", "look", "{}")
    told = {
        "one": "✓ look  one",
        "one\ntwo\n": "✓ look  2 lines",
        "": "✓ look  (no output)",
        "x" * 99: "✓ look  " + "x" * 39 + "…",
    }
    for output, line in told.items():
        ended = CallEnded(ToolResult(call, Outcome.OK, output or "(no output)", output or "(no output)", 0.0))
        assert frame_after(CallStarted(call, "look", ""), ended).take_lines(80) == [line]
    frame = TurnFrame(PLAIN, verbose=True)
    frame.report(result(call, Outcome.OK, "one\ntwo\n"), 80)
    assert frame.take_lines(80) == ["✓ look", "  │ one", "  │ two"]
