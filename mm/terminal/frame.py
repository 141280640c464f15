"""What a turn has to show: lines that stay, and live ones below them. Knows nothing of threads or terminals."""

from __future__ import annotations

import time

from mm.events import (
    CallAnnounced,
    CallEnded,
    CallProgress,
    CallStarted,
    Event,
    Notice,
    ReasoningShown,
    ReplyEnded,
    RequestSent,
    TextHeld,
    TextShown,
)
from mm.messages import ToolResult
from mm.terminal.blocks import BlockStream
from mm.terminal.calls import answered_lines
from mm.terminal.cells import clip, seconds, wrap_words
from mm.terminal.markdown import render_markdown
from mm.terminal.palette import Palette
from mm.terminal.running import DELEGATE, SPINNER, RunningCall, RunningCalls, tidy_line
from mm.visible import make_visible_line

_MOST_RUNNING = 6
_LONG_WAIT = 1.0  # seconds before the wait is counted
_NESTED = "  "
_ANSWERING = "the sub-agent answers"
_WRITING = "writing a call"


class TurnFrame:
    """Collects events. `take_lines` gives what is new and stays, `live_lines` what may still change."""

    def __init__(self, palette: Palette, *, verbose: bool) -> None:
        self._palette = palette
        self._verbose = verbose
        self._stream = BlockStream()
        self._finished: list[tuple[str, str | list[str]]] = []  # kind, and Markdown or lines
        self._last_kind = ""
        self._running = RunningCalls()
        self._streamed = ""
        self._reasoning = ""
        self._status = ""
        self._since = time.monotonic()
        self._drawn = 0
        self.answer = ""

    def report(self, event: Event, width: int) -> None:
        """Take one event in. Lines are made at the width of now."""
        match event:
            case RequestSent():
                self._wait_for("waiting for the model")
            case ReasoningShown():
                self._reasoning += event.text
                if self._status != "thinking":
                    self._wait_for("thinking")
            case TextShown():
                self._end_reasoning(width)
                self._show_text(event.text)
            case TextHeld():
                self._hold_text(width)
            case ReplyEnded():
                self._end_reply(event.shown, width)
            case CallAnnounced():
                self._wait_for("checking the call")
            case CallStarted():
                self._start_call(RunningCall(event.call.id, event.tool, event.summary), width)
            case CallProgress():
                if running := self._running.find(event.call_id):
                    running.last_line = event.line
            case CallEnded():
                self._end_call(event.result, width)
            case Notice():
                self._finished.append(("notice", self._notice(event.text, width)))

    def take_lines(self, width: int) -> list[str]:
        """The lines that are finished since the last call."""
        self._finished += [("text", block) for block in self._stream.take_finished()]
        lines: list[str] = []
        for kind, content in self._finished:
            rendered = self._render(content, width)
            if rendered:
                lines += [*self._gap(kind), *rendered]
                self._last_kind = kind
        self._finished.clear()
        return lines

    def live_lines(self, width: int, height: int) -> list[str]:
        """The open block's last lines, the running calls, and what is being waited for."""
        self._drawn += 1
        moving = self._moving_lines(width)
        block = self._render(_end_of(self._stream.open, 2 * height), width)
        room = max(height - len(moving) - 3, 1)
        if len(block) > room:
            block = block[-room:]
        if block:
            return [*self._gap("text"), *block, *([""] if moving else []), *moving]
        return [*self._gap("call"), *moving] if moving else []

    def someone_wrote(self) -> None:
        """A question was asked and answered in between."""
        self._last_kind = "question"

    def end(self, width: int) -> None:
        """The turn is over: whatever is open is finished as it stands."""
        self._end_reasoning(width)
        self._end_text()
        self._status = ""
        self._running.clear()

    def _start_call(self, call: RunningCall, width: int) -> None:
        """Below a delegated task stand the calls of its sub-agent, so its own line stays from the start."""
        self._status = ""
        if call.tool == DELEGATE:
            self._finished.append(("call", self._nest([call.opening_line(width - self._indent, self._palette)])))
        self._running.start(call)

    def _end_call(self, result: ToolResult, width: int) -> None:
        running = self._running.end(result.call.id)
        lines = answered_lines(result, running, width - self._indent, self._palette, verbose=self._verbose)
        self._finished.append(("call", self._nest(lines)))

    def _show_text(self, text: str) -> None:
        """The answer as it comes. A sub-agent's is the output of its task, so only its last line is seen till then."""
        self._streamed += text
        if not self._running.depth:
            self._status = ""
            self._stream.feed(text)
        elif self._status != _ANSWERING:
            self._wait_for(_ANSWERING)

    def _hold_text(self, width: int) -> None:
        """The model writes what may be a call: the wait for it is over, and this one begins."""
        self._end_reasoning(width)
        if self._status != _WRITING:
            self._wait_for(_WRITING)

    @property
    def _indent(self) -> int:
        return len(_NESTED) * self._running.depth

    def _nest(self, lines: list[str]) -> list[str]:
        return [_NESTED * self._running.depth + line for line in lines]

    def _moving_lines(self, width: int) -> list[str]:
        calls = list(self._running)
        shown = calls[-_MOST_RUNNING:]
        lines = [line for call in shown for line in call.lines(width - self._indent, self._drawn, self._palette)]
        if len(calls) > _MOST_RUNNING:
            lines.append(self._palette.dim(f"  … and {len(calls) - _MOST_RUNNING} more running"))
        if self._status and not calls:
            lines += self._status_lines(width - self._indent)
        return self._nest(lines)

    def _status_lines(self, width: int) -> list[str]:
        waited = time.monotonic() - self._since
        text = f"{self._status} {seconds(waited) if waited >= _LONG_WAIT else ''}"
        lines = [f"{self._palette.accent(SPINNER[self._drawn % len(SPINNER)])} {self._palette.dim(text)}"]
        said = {"thinking": self._reasoning, _ANSWERING: self._streamed}.get(self._status, "")
        thought = said.strip().rpartition("\n")[2]
        if thought:
            lines.append(self._palette.dim(clip(f"  │ {tidy_line(thought)}", width)))
        return lines

    def _wait_for(self, status: str) -> None:
        self._status = status
        self._since = time.monotonic()

    def _end_reasoning(self, width: int) -> None:
        reasoning, self._reasoning = self._reasoning.strip(), ""
        if reasoning and self._verbose:
            lines = [
                piece for line in reasoning.split("\n") for piece in wrap_words(make_visible_line(line), width - 2)
            ]
            self._finished.append(("reasoning", [self._palette.dim(f"  {line}") for line in lines]))

    def _end_reply(self, shown: str, width: int) -> None:
        """The reply is whole. What of it was not streamed is shown now."""
        self._end_reasoning(width)
        self._status = ""
        if self._running.depth:
            self._streamed = ""
            return
        if shown.startswith(self._streamed):
            self._stream.feed(shown[len(self._streamed) :])
        self._end_text()
        if shown.strip():
            self.answer = shown

    def _end_text(self) -> None:
        self._finished += [("text", block) for block in self._stream.take_finished()]
        self._finished.append(("text", self._stream.take_rest()))
        self._streamed = ""

    def _notice(self, text: str, width: int) -> list[str]:
        lines = [piece for line in text.split("\n") for piece in wrap_words(make_visible_line(line), width - 2)]
        return [self._palette.warn(("! " if number == 0 else "  ") + line) for number, line in enumerate(lines)]

    def _render(self, content: str | list[str], width: int) -> list[str]:
        if isinstance(content, list):
            return content
        return render_markdown(content, width, self._palette) if content.strip() else []

    def _gap(self, kind: str) -> list[str]:
        """An empty line between what differs in kind, and between blocks of text."""
        return [""] if self._last_kind and (kind != self._last_kind or kind == "text") else []


def _end_of(block: str, most: int) -> str:
    """The end of an open block that is much longer than the screen, with what its last lines need to be read.

    Rendering all of it for each frame would stall the turn; all of it is rendered once, when it is finished.
    """
    lines = block.split("\n")
    if len(lines) <= 2 * most:
        return block
    start = lines[0].lstrip()
    head = lines[:1] if start.startswith(("```", "~~~")) else lines[:2] if start.startswith("|") else []
    return "\n".join([*head, *lines[-most:]])
