"""What `mm -p` tells on stderr: each call on one line, its shaped output, notices."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TextIO

from mm.counts import count
from mm.dispatch.brief import text_in_short
from mm.events import CallEnded, CallStarted, Event, Notice, ReasoningShown, ReplyEnded, RequestSent
from mm.messages import Outcome, ToolResult
from mm.terminal.calls import outcome_word, output_lines
from mm.terminal.cells import seconds
from mm.visible import make_visible, make_visible_line

_END_LINES = 20  # of a long output, at its start and at its end, on a terminal


class StderrEcho:
    """A Listener for one-shot runs: plain lines, escaped, never on stdout.

    On a terminal long outputs are shortened; a log file gets them as the model did. `verbose` adds what explains a
    turn: reasoning, replies that are no answer as the model wrote them, tokens and seconds of each request.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._verbose = verbose
        self._shortens = stream.isatty()
        self._running: Counter[tuple[str, str]] = Counter()  # a sub-agent's calls may have the ids of the agent's own
        self._reasoning = False
        self._asked = (0, 0.0)  # the number of the last request of the turn, and when it was sent
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        if self._quiet:
            return
        with self._lock:
            self._echo(event)

    def _echo(self, event: Event) -> None:
        if isinstance(event, ReasoningShown):
            self._reason(event.text)
            return
        self._end_reasoning()
        match event:
            case RequestSent():
                self._asked = (event.number, time.monotonic())
            case ReplyEnded() if self._verbose:
                self._explain(event)
            case CallStarted():
                self._running[event.call.id, event.tool] += 1
                self._write(f"→ {_line(event.tool, event.summary)}\n")
            case CallEnded():
                self._end_call(event.result)
            case Notice():
                self._write(f"! {make_visible(event.text)}\n")
            case _:
                pass

    def _reason(self, text: str) -> None:
        if self._verbose:
            self._reasoning = True
            self._write(make_visible(text))

    def _end_reasoning(self) -> None:
        if self._reasoning:
            self._reasoning = False
            self._write("\n")

    def _explain(self, event: ReplyEnded) -> None:
        number, since = self._asked
        usage = event.reply.usage
        read, written = usage.prompt_tokens, usage.completion_tokens
        tokens = f", {read or 0} tokens read, {written or 0} written" if read or written else ""
        self._write(f"· reply {number}: {seconds(time.monotonic() - since)}{tokens}\n")
        text = event.reply.text.strip()
        if text and not event.shown:
            self._write("".join(f"· {line}\n" for line in make_visible(text).split("\n")))

    def _end_call(self, result: ToolResult) -> None:
        """The output of a call that ran; a call that did not run is one line with the reason in a word."""
        call = result.call
        started = self._running[call.id, call.name] > 0
        if started:
            self._running[call.id, call.name] -= 1
        else:
            self._write(f"✗ {_line(call.name, text_in_short(call.arguments))}  {outcome_word(result.outcome)}\n")
        lines = self._shortened(output_lines(result))
        self._write("".join(f"  {line}\n" for line in lines))
        if started and result.outcome is not Outcome.OK:
            self._write(
                f"✗ {make_visible_line(call.name)} {outcome_word(result.outcome)} · {seconds(result.seconds)}\n"
            )

    def _shortened(self, lines: list[str]) -> list[str]:
        if not self._shortens or len(lines) <= 2 * _END_LINES + 1:
            return lines
        missing = count(len(lines) - 2 * _END_LINES, "line")
        return [*lines[:_END_LINES], f"… {missing} …", *lines[-_END_LINES:]]

    def _write(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding, "replace"))
        self._stream.flush()


def _line(tool: str, summary: str) -> str:
    shown = summary if summary.startswith(tool) else f"{tool} {summary}"
    return make_visible_line(shown.strip())
