"""What a one-shot run tells on stderr."""

from __future__ import annotations

import io

from mm.events import CallEnded, CallStarted, Notice, ReasoningShown, TextShown
from mm.messages import Outcome, ToolCall, ToolResult
from mm.terminal.echo import StderrEcho

CALL = ToolCall("c1", "release", '{"version": "1.4.2"}')


def ended(outcome: Outcome, content: str) -> CallEnded:
    return CallEnded(ToolResult(CALL, outcome, content, content, 0.4))


def test_a_call_is_one_line_and_its_output_follows() -> None:
    out = io.StringIO()
    echo = StderrEcho(out)
    echo(CallStarted(CALL, "release", "./release.sh 1.4.2"))
    echo(ended(Outcome.OK, "published\n\x1b[31mred\x07"))
    echo(TextShown("not on stderr"))
    assert out.getvalue() == "→ release ./release.sh 1.4.2\n  published\n  \\x1b[31mred\\x07\n"


def test_a_call_that_did_not_run_says_why() -> None:
    out = io.StringIO()
    StderrEcho(out)(ended(Outcome.REFUSED, "The user said no."))
    assert out.getvalue() == '✗ release version="1.4.2"  not run: you said no\n  The user said no.\n'


def test_reasoning_is_told_only_when_asked_for_and_quiet_tells_nothing() -> None:
    for options, told in (({}, ""), ({"verbose": True}, "hm\n! slow\n"), ({"quiet": True}, "")):
        out = io.StringIO()
        echo = StderrEcho(out, **options)
        echo(ReasoningShown("hm"))
        if told or "quiet" in options:
            echo(Notice("slow"))
        assert out.getvalue() == told
