"""The same turn for a dumb terminal: text as it comes, one line a call, no cursor movement."""

from __future__ import annotations

from mm.events import CallEnded, CallProgress, CallStarted, Event, Notice, ReasoningShown, ReplyEnded, TextShown
from mm.terminal.calls import RunningCall, answered_lines
from mm.terminal.palette import PLAIN
from mm.visible import make_visible, make_visible_line


class PlainFrame:
    """Collects events; `take` gives the text that is new."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._running: dict[str, RunningCall] = {}
        self._out = ""
        self._at_start = True
        self._streamed = ""
        self.answer = ""

    def report(self, event: Event, width: int) -> None:
        """Take one event in."""
        match event:
            case TextShown():
                self._streamed += event.text
                self._add(make_visible(event.text))
            case ReasoningShown() if self._verbose:
                self._add(make_visible(event.text))
            case ReplyEnded():
                self._end_reply(event.shown)
            case CallStarted():
                self._running[event.call.id] = RunningCall(event.tool, event.summary)
                self._add_lines([f"- {make_visible_line(event.summary or event.tool)}"])
            case CallProgress():
                pass
            case CallEnded():
                running = self._running.pop(event.result.call.id, None)
                self._add_lines(answered_lines(event.result, running, width, PLAIN))
            case Notice():
                self._add_lines([f"! {make_visible(event.text)}"])
            case _:
                pass

    def take(self) -> str:
        """The text since the last call."""
        text, self._out = self._out, ""
        return text

    def someone_wrote(self) -> None:
        """A question was asked and answered in between."""
        self._at_start = True

    def end(self, width: int) -> None:
        """The turn is over."""
        self._add_lines([])

    def _end_reply(self, shown: str) -> None:
        if shown.startswith(self._streamed):
            self._add(make_visible(shown[len(self._streamed) :]))
        self._streamed = ""
        self._add_lines([])
        if shown.strip():
            self.answer = shown

    def _add(self, text: str) -> None:
        if text:
            self._out += text
            self._at_start = text.endswith("\n")

    def _add_lines(self, lines: list[str]) -> None:
        """Whole lines, on lines of their own."""
        if not self._at_start:
            self._add("\n")
        self._add("".join(f"{line}\n" for line in lines))
