"""What stays of a call that is answered: one line with how it went, and of a failure the first lines of its output."""

from __future__ import annotations

from rich.cells import cell_len

from mm.counts import count
from mm.dispatch.brief import text_in_short
from mm.messages import Outcome, ToolResult
from mm.terminal.cells import clip, seconds, wrap_words
from mm.terminal.palette import Palette
from mm.terminal.running import DELEGATE, QUESTIONS, RunningCall, tidy_line, title
from mm.visible import make_visible

PREVIEW_LINES = 4
PLAN_LINES = 40
_PLAN = "todo_list"  # its output is for the person as much as for the model, and says all that its arguments do
_AT_ONCE = 0.05  # seconds below which the time tells nothing
_LEAST_TITLE = 12  # cells

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
_NOT_BEGUN = "not run: interrupted"


def answered_lines(
    result: ToolResult, running: RunningCall | None, width: int, palette: Palette, *, verbose: bool = False
) -> list[str]:
    """What stays of a call: one line with how it went. A failure, and every call if `verbose`, shows some output."""
    good = result.outcome is Outcome.OK
    tool = running.tool if running else result.call.name
    summary = running.shown if running else text_in_short(result.call.arguments)
    ran = result.outcome.ran and not _never_began(result, running)
    output = output_lines(result) if ran else []
    preview = PREVIEW_LINES
    if good and tool == _PLAN:
        preview, summary = max(preview, PLAN_LINES), ""
        output = [piece for line in output for piece in wrap_words(line, width - 4)]
    if good and tool == QUESTIONS:
        preview = 0  # the person has just typed what the output says
    if running and tool == DELEGATE:
        summary = ""  # it stands where the task began
    total = max(len(output), result.answer.strip("\n").count("\n") + 1)  # the model may have been given less
    facts = [_NOT_BEGUN if _never_began(result, running) else _WORDS[result.outcome]]
    facts.append(seconds(result.seconds) if ran and result.seconds >= _AT_ONCE else "")
    if good and not verbose and tool not in (_PLAN, QUESTIONS, DELEGATE):
        preview = 0
        facts.append(_told(result.answer, width // 2))
    first = _first_lines(good, tool, summary, [fact for fact in facts if fact], width, palette)
    return [*first, *_preview(output, total, preview, width, palette)]


def _told(answer: str, width: int) -> str:
    """An output of one line itself; of a longer one, how long it is."""
    lines = answer.strip().split("\n")
    return clip(tidy_line(make_visible(lines[0])), width) if len(lines) == 1 else count(len(lines), "line")


def _never_began(result: ToolResult, running: RunningCall | None) -> bool:
    """Whether an interrupt came before the call was started."""
    return running is None and result.outcome is Outcome.INTERRUPTED


def _first_lines(good: bool, tool: str, summary: str, facts: list[str], width: int, palette: Palette) -> list[str]:
    """How it went beside the title; in a narrow window below it."""
    mark = palette.good("✓") if good else palette.bad("✗")
    style = palette.dim if good else palette.warn
    end = " · ".join(facts)
    room = width - 4 - cell_len(end)
    if not facts:
        return [f"{mark} {title(tool, summary, width - 2, palette)}"]
    if room >= min(_LEAST_TITLE, cell_len(tool)):
        return [f"{mark} {title(tool, summary, room, palette)}  {style(end)}"]
    below = [f"  {style(line)}" for fact in facts for line in wrap_words(fact, width - 2)]
    return [f"{mark} {title(tool, summary, width - 2, palette)}", *below]


def output_lines(result: ToolResult) -> list[str]:
    """The shaped output, line by line, safe to print."""
    text = result.content.strip("\n")
    return [tidy_line(line) for line in make_visible(text).split("\n")] if text else []


def outcome_word(outcome: Outcome) -> str:
    """`failed`, `not run: you said no`; "" for a success."""
    return _WORDS[outcome]


def _preview(output: list[str], total: int, most: int, width: int, palette: Palette) -> list[str]:
    if not output or most == 0:
        return []
    shown = output if total <= most else output[: most - 1]
    lines = [clip(f"  │ {line}", width) for line in shown]
    if total > len(shown):
        lines.append(clip(f"  │ … {count(total - len(shown), 'more line')}", width))
    return [palette.dim(line) for line in lines]
