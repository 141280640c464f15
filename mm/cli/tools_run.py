"""`mm tools run`: one tool, run by a person, the whole way that a model's call goes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import click

from mm.app.agent_file import chosen_config
from mm.app.assembly import Assembly
from mm.app.voices import LateEcho, line_person, notices_only
from mm.cli.agent_option import AGENT_OPTION, means_agent_file
from mm.cli.complete import complete_tool, complete_values
from mm.cli.piped import piped_text
from mm.cli.streams import show, tell
from mm.cli.values import NOT_EMPTY, is_text
from mm.config.schema import Hook
from mm.dispatch.extract import new_call_id
from mm.errors import CannotRunError, ExitCode, ToolError, UsageError
from mm.events import CallStarted, Event
from mm.interrupt import Interrupt
from mm.messages import JSON, Outcome, ToolCall
from mm.options import Options
from mm.tools.spec import Look
from mm.visible import make_shell_word, make_visible, make_visible_line

_EXIT_CODES = {
    Outcome.OK: ExitCode.DONE,
    Outcome.INVALID: ExitCode.USAGE,
    Outcome.UNKNOWN: ExitCode.USAGE,
    Outcome.TIMED_OUT: ExitCode.STOPPED,
    Outcome.KILLED: ExitCode.STOPPED,
    Outcome.DENIED: ExitCode.REFUSED,
    Outcome.REFUSED: ExitCode.REFUSED,
    Outcome.UNASKED: ExitCode.REFUSED,
}


@click.command("run")
@click.argument("name", type=NOT_EMPTY, shell_complete=complete_tool)
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=complete_values)
@click.option("--args", "arguments", metavar="JSON", help="All arguments as one JSON object; `-` reads it from stdin.")
@AGENT_OPTION
@click.option("-y", "--yolo", is_flag=True, help="Do not ask before running it.")
@click.option(
    "--allow",
    multiple=True,
    metavar="TOOL",
    type=NOT_EMPTY,
    shell_complete=complete_tool,
    help="Do not ask before running this tool.",
)
@click.option("--dry-run", is_flag=True, help="Print what would run and which hooks would see it; run nothing.")
@click.pass_context
def command(
    context: click.Context,
    name: str,
    values: tuple[str, ...],
    arguments: str | None,
    agent_file: str | None,
    yolo: bool,
    allow: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Run a tool yourself: converted, checked, asked about and limited like a call of a model.

    Values are given as the model gives them: KEY=3 is the number 3 where a number is wanted. A key that comes twice
    is a list. Exit codes: 0 it succeeded, 1 it failed or cannot run, 2 the call is invalid, 3 a limit, 4 refused.
    """
    outer = context.find_root().obj
    options = Options(
        agent_file=agent_file or (outer.agent_file if outer else None),
        yolo=yolo or bool(outer and outer.yolo),
        allow=(*allow, *(outer.allow if outer else ())),
        deny=outer.deny if outer else (),
        no_session=True,
        cwd=outer.cwd if outer else None,
    )
    call = ToolCall(new_call_id(), name, _arguments(values, arguments))
    interrupt = Interrupt()
    interrupt.install()
    ear = _Ear()
    person = line_person(interrupt)
    assembly = Assembly(chosen_config(options, interrupt), options, interrupt=interrupt, listen=ear, person=person)
    try:
        code = _show(assembly, call) if dry_run else _run(assembly, call, ear)
    finally:
        assembly.close()
    context.exit(int(code))


class _Ear:
    """Passes notices on, and remembers whether the call was started: what never did has no output."""

    def __init__(self) -> None:
        self.started = False
        self._tell = notices_only(LateEcho(quiet=False, verbose=False))

    def __call__(self, event: Event) -> None:
        self.started = self.started or isinstance(event, CallStarted)
        self._tell(event)


def _arguments(values: Sequence[str], text: str | None) -> str:
    """The arguments as JSON text. Raises UsageError for a value without `=`, for both ways at once, for bytes."""
    if text is not None:
        if values:
            raise UsageError("Arguments come either as KEY=VALUE or with --args, not both.")
        return piped_text() if text == "-" else text
    given: dict[str, JSON] = {}
    for value in values:
        if not is_text(value):
            raise UsageError(f"`{value}` is not text in UTF-8.", "Give the value with --args, as JSON.")
        key, equals, rest = value.partition("=")
        if not equals or not key:
            named = f"The agent file is named with -a: -a {make_shell_word(value)}" if means_agent_file(value) else ""
            raise UsageError(f"`{value}` is no KEY=VALUE.", named or "Example: mm tools run status service=billing")
        if key not in given:
            given[key] = rest
        elif isinstance(given[key], list):
            given[key].append(rest)
        else:
            given[key] = [given[key], rest]
    return json.dumps(given, ensure_ascii=False)


def _run(assembly: Assembly, call: ToolCall, ear: _Ear) -> ExitCode:
    result = assembly.run_one(call)
    if ear.started:
        show(result.content.removesuffix("\n"))
    else:
        tell(_for_a_person(result.content))
    if result.outcome is Outcome.INTERRUPTED:
        return assembly.interrupt.exit_code
    return _EXIT_CODES.get(result.outcome, ExitCode.FAILED)


def _for_a_person(answer: str) -> str:
    """Why a call did not run, without the last line where that only tells a model to send the call again."""
    text, _, last = answer.rpartition("\n")
    return text if last.startswith("Send the call again ") else answer


def _show(assembly: Assembly, call: ToolCall) -> ExitCode:
    """The plan of a call, part by part, as the question for consent shows it, and what may still become of it."""
    from mm.app.dry_run import foresee

    try:
        seen = foresee(assembly, call)
    except ToolError as error:
        tell(_for_a_person(error.message))
        return ExitCode.FAILED if isinstance(error, CannotRunError) else ExitCode.USAGE
    show(f"{seen.tool.name} ({seen.tool.kind}) would run:")
    for part in seen.plan.shown:
        for number, entry in enumerate(part.entries):
            label = f"  {part.label}:" if number == 0 else ""
            show(f"{label:14} {make_visible(shlex.quote(entry) if part.look is Look.ARGV else entry)}")
    for note in seen.notes:
        show(f"({make_visible_line(note)})")
    for hook in seen.hooks:
        show(_hook_line(hook))
    if seen.denied:
        show("It would not run: a `deny` rule holds.")
    return ExitCode.DONE


def _hook_line(hook: Hook) -> str:
    command = " ".join(map(make_shell_word, hook.command))
    return f"A hook would see it first, and may change or deny it: {command} ({make_visible_line(str(hook.place))})"
