"""How one call looks: a line that moves while it runs, and a few lines that stay when it is answered."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from mm.counts import count
from mm.messages import Outcome, ToolResult
from mm.terminal.cells import clip, seconds
from mm.terminal.palette import Palette
from mm.visible import make_visible, make_visible_line, remove_escapes

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PREVIEW_LINES = 4
PLAN_LINES = 40
_PLAN = "todo_list"  # its output is for the person as much as for the model, and says all that its arguments do

_WORDS = {
    Outcome.OK: "",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "stopped: out of time",
    Outcome.KILLED: "killed",
    Outcome.INTERRUPTED: "interrupted",
    Outcome.INVALID: "not run: wrong arguments",
    Outcome.UNKNOWN: "not run: no such tool",
    Outcome.DENIED: "not run: denied",
    Outcome.REFUSED: "not run: you said no",
    Outcome.UNASKED: "not run: nobody to ask",
    Outcome.REPEATED: "not run again: same call as before",
    Outcome.STOPPED: "not run: going in circles",
    Outcome.CUT: "not run: the reply was cut",
}


@dataclass(slots=True)
class RunningCall:
    """A call that runs now, as the listener knows it."""

    tool: str
    summary: str
    started: float = field(default_factory=time.monotonic)
    last_line: str = ""

    def lines(self, width: int, frame: int, palette: Palette) -> list[str]:
        """One line with the elapsed time, and the last line of its output below."""
        elapsed = seconds(time.monotonic() - self.started)
        mark = palette.accent(SPINNER[frame % len(SPINNER)])
        lines = [f"{mark} {_title(self.tool, self.summary, width - 4 - len(elapsed), palette)}  {palette.dim(elapsed)}"]
        if self.last_line:
            lines.append(palette.dim(clip(f"  │ {tidy_line(self.last_line)}", width)))
        return lines


def answered_lines(
    result: ToolResult, running: RunningCall | None, width: int, palette: Palette, *, preview: int = PREVIEW_LINES
) -> list[str]:
    """What stays of a call: one line with how it went, and the first lines of its output."""
    good = result.outcome is Outcome.OK
    tool = running.tool if running else result.call.name
    summary = running.summary if running else result.call.arguments
    output = output_lines(result) if result.outcome.ran else []
    total = max(len(output), result.answer.strip("\n").count("\n") + 1)  # the model may have been given less
    if good and tool == _PLAN:
        preview, summary = max(preview, PLAN_LINES), ""
    facts = [_WORDS[result.outcome], count(total, "line") if total > preview else ""]
    facts.append(seconds(result.seconds) if result.outcome.ran else "")
    end = " · ".join(fact for fact in facts if fact)
    mark = palette.good("✓") if good else palette.bad("✗")
    styled_end = palette.dim(end) if good else palette.warn(end)
    first = f"{mark} {_title(tool, summary, width - 4 - len(end), palette)}"
    return [f"{first}  {styled_end}" if end else first, *_preview(output, total, preview, width, palette)]


def output_lines(result: ToolResult) -> list[str]:
    """The shaped output, line by line, safe to print."""
    text = result.content.strip("\n")
    return [tidy_line(line) for line in make_visible(text).split("\n")] if text else []


def tidy_line(line: str) -> str:
    """One line of a program's output: what a progress bar overwrote is gone, the rest is escaped."""
    last = line.rstrip("\r\n").rpartition("\r")[2]
    return make_visible_line(remove_escapes(last).expandtabs(4).replace("\n", " "))


def outcome_word(outcome: Outcome) -> str:
    """`failed`, `not run: you said no`; "" for a success."""
    return _WORDS[outcome]


def _title(tool: str, summary: str, width: int, palette: Palette) -> str:
    """The tool's name and its short arguments in at most `width` cells."""
    name = clip(make_visible_line(tool), max(width, 8))
    rest = make_visible_line(summary.removeprefix(tool).strip() if summary.startswith(f"{tool} ") else summary)
    room = width - len(name) - 1
    return palette.bold(name) + (f" {clip(rest, room)}" if rest and room > 3 else "")


def _preview(output: list[str], total: int, most: int, width: int, palette: Palette) -> list[str]:
    if not output or most == 0:
        return []
    shown = output if total <= most else output[: most - 1]
    lines = [clip(f"  │ {line}", width) for line in shown]
    if total > len(shown):
        lines.append(f"  │ … {count(total - len(shown), 'more line')}")
    return [palette.dim(line) for line in lines]
