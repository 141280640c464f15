"""The same turn for a dumb terminal: text as it comes, one line a call, no cursor movement."""

from __future__ import annotations

from mm.events import CallEnded, CallStarted, Event, Notice, ReasoningShown, ReplyEnded, TextShown
from mm.terminal.calls import answered_lines
from mm.terminal.palette import PLAIN
from mm.terminal.running import RunningCall, RunningCalls
from mm.visible import make_visible


class PlainFrame:
    """Collects events; `take` gives the text that is new."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._running = RunningCalls()
        self._out = ""
        self._at_start = True
        self._last_kind = ""
        self._streamed = ""
        self.answer = ""

    def report(self, event: Event, width: int) -> None:
        """Take one event in. What a sub-agent says is the output of its task, and shown with that."""
        match event:
            case TextShown() if not self._running.depth:
                self._streamed += event.text
                self._add(event.text, "text")
            case ReasoningShown() if self._verbose:
                self._add(event.text, "reasoning")
            case ReplyEnded() if not self._running.depth:
                self._end_reply(event.shown)
            case CallStarted():
                call = RunningCall(event.call.id, event.tool, event.summary)
                self._add_lines([call.opening_line(width, PLAIN)], "call")
                self._running.start(call)
            case CallEnded():
                running = self._running.end(event.result.call.id)
                self._add_lines(answered_lines(event.result, running, width, PLAIN), "call")
            case Notice():
                self._add_lines([f"! {make_visible(event.text)}"], "notice")
            case _:
                pass

    def take(self) -> str:
        """The text since the last call."""
        text, self._out = self._out, ""
        return text

    def someone_wrote(self) -> None:
        """A question was asked and answered in between."""
        self._at_start = True
        self._last_kind = "question"

    def end(self, width: int) -> None:
        """The turn is over."""
        self._end_line()

    def _end_reply(self, shown: str) -> None:
        if shown.startswith(self._streamed):
            self._add(shown[len(self._streamed) :], "text")
        self._streamed = ""
        self._end_line()
        if shown.strip():
            self.answer = shown

    def _add(self, text: str, kind: str) -> None:
        """Text that may go on where the last piece of its kind ended; an empty line between what differs in kind."""
        if not text:
            return
        if kind != self._last_kind:
            self._end_line()
            self._out += "\n" if self._last_kind else ""
            self._last_kind = kind
        self._out += make_visible(text)
        self._at_start = text.endswith("\n")

    def _add_lines(self, lines: list[str], kind: str) -> None:
        """Whole lines, on lines of their own."""
        self._end_line()
        self._add("".join(f"{line}\n" for line in lines), kind)

    def _end_line(self) -> None:
        if not self._at_start:
            self._out += "\n"
            self._at_start = True
