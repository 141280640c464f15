"""What a turn shows: what stays, and what is still moving."""

from __future__ import annotations

from mm.events import CallEnded, CallStarted, ReplyEnded, TextShown
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
