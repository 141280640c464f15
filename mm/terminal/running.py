"""The calls that run now: a line each that moves, and which of them stand below another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.cells import cell_len

from mm.terminal.cells import clip, seconds
from mm.terminal.palette import Palette
from mm.visible import make_visible_line, remove_escapes

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
QUESTIONS = "clarify"  # the person reads what its arguments say anyway
DELEGATE = "delegate_task"  # it runs alone: what happens until it ends is done by its sub-agent


@dataclass(slots=True, eq=False)
class RunningCall:
    """A call that runs now, as the listener knows it."""

    id: str
    tool: str
    summary: str
    started: float = field(default_factory=time.monotonic)
    last_line: str = ""

    @property
    def shown(self) -> str:
        return "" if self.tool == QUESTIONS else self.summary

    def lines(self, width: int, frame: int, palette: Palette) -> list[str]:
        """One line with the elapsed time, and the last line of its output below."""
        elapsed = seconds(time.monotonic() - self.started)
        mark = palette.accent(SPINNER[frame % len(SPINNER)])
        lines = [f"{mark} {title(self.tool, self.shown, width - 4 - len(elapsed), palette)}  {palette.dim(elapsed)}"]
        if self.last_line:
            lines.append(palette.dim(clip(f"  │ {tidy_line(self.last_line)}", width)))
        return lines

    def opening_line(self, width: int, palette: Palette) -> str:
        """The line of a call that other calls stand below."""
        return f"{palette.accent('→')} {title(self.tool, self.shown, width - 2, palette)}"


class RunningCalls:
    """Calls in the order in which they were started."""

    def __init__(self) -> None:
        self._calls: list[RunningCall] = []

    def __iter__(self) -> Iterator[RunningCall]:
        """Those that do the work: not the delegated tasks that others run for."""
        return (call for call in self._calls if call.tool != DELEGATE)

    @property
    def depth(self) -> int:
        """How many delegated tasks run, one for another: whatever is seen is done by the sub-agent of the last."""
        return sum(call.tool == DELEGATE for call in self._calls)

    def start(self, call: RunningCall) -> None:
        self._calls.append(call)

    def find(self, call_id: str) -> RunningCall | None:
        """The newest of that id: the model of a sub-agent may count its calls as the agent's own does."""
        return next((call for call in reversed(self._calls) if call.id == call_id), None)

    def end(self, call_id: str) -> RunningCall | None:
        """The call that is answered, None for one that never ran."""
        call = self.find(call_id)
        if call is not None:
            self._calls.remove(call)
        return call

    def clear(self) -> None:
        self._calls.clear()


def tidy_line(line: str) -> str:
    """One line of a program's output: what a progress bar overwrote is gone, the rest is escaped."""
    last = line.rstrip("\r\n").rpartition("\r")[2]
    return make_visible_line(remove_escapes(last).expandtabs(4).replace("\n", " "))


def title(tool: str, summary: str, width: int, palette: Palette) -> str:
    """The tool's name and its short arguments in at most `width` cells."""
    name = clip(make_visible_line(tool), max(width, 8))
    rest = make_visible_line(summary.removeprefix(tool).strip() if summary.startswith(f"{tool} ") else summary)
    room = width - cell_len(name) - 1
    return palette.bold(name) + (f" {clip(rest, room)}" if rest and room > 3 else "")
