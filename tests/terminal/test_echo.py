"""What a one-shot run tells on stderr."""

from __future__ import annotations

import io

from mm.events import CallEnded, CallStarted, Notice, ReasoningShown, ReplyEnded, RequestSent, TextShown
from mm.messages import Outcome, Reply, ToolCall, ToolResult, Usage
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


def test_a_tool_that_cannot_run_says_once_that_it_failed() -> None:
    out = io.StringIO()
    StderrEcho(out)(ended(Outcome.FAILED, "The program `x` is not installed."))
    assert out.getvalue() == '✗ release version="1.4.2"  failed\n  The program `x` is not installed.\n'


def test_a_call_of_a_sub_agent_with_the_id_of_the_task_leaves_the_task_a_success() -> None:
    """The model of a sub-agent counts its calls anew."""
    out = io.StringIO()
    echo = StderrEcho(out)
    task = ToolCall("c1", "delegate_task", '{"task": "publish"}')
    echo(CallStarted(task, "delegate_task", "publish"))
    echo(CallStarted(CALL, "release", "./release.sh"))
    echo(ended(Outcome.OK, "published"))
    echo(CallEnded(ToolResult(task, Outcome.OK, "It is done.", "It is done.", 1.0)))
    assert out.getvalue() == "→ delegate_task publish\n→ release ./release.sh\n  published\n  It is done.\n"


def test_reasoning_is_told_only_when_asked_for_and_quiet_tells_nothing() -> None:
    for options, told in (({}, ""), ({"verbose": True}, "hm\n! slow\n"), ({"quiet": True}, "")):
        out = io.StringIO()
        echo = StderrEcho(out, **options)
        echo(ReasoningShown("hm"))
        if told or "quiet" in options:
            echo(Notice("slow"))
        assert out.getvalue() == told


def test_verbose_explains_each_reply_and_shows_a_call_as_the_model_wrote_it() -> None:
    written = '{"name": "act",\n "arguments": {}}\x1b[0m'
    for verbose in (True, False):
        out = io.StringIO()
        echo = StderrEcho(out, verbose=verbose)
        echo(RequestSent(1))
        echo(ReplyEnded(Reply(written, usage=Usage(465, 32)), ""))
        echo(RequestSent(2))
        echo(ReplyEnded(Reply("Done."), "Done."))
        told = out.getvalue().splitlines()
        assert len(told) == (4 if verbose else 0)
        if verbose:
            assert told[0].startswith("· reply 1: ") and told[0].endswith(", 465 tokens read, 32 written")
            assert told[1:3] == ['· {"name": "act",', '·  "arguments": {}}\\x1b[0m']
            assert told[3].startswith("· reply 2: ") and "tokens" not in told[3]
