"""`mm tools run`: one tool, run by a person, the whole way that a model's call goes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import click

from mm.app.agent_file import chosen_config
from mm.app.assembly import Assembly
from mm.app.voices import LateEcho, line_person, notices_only
from mm.cli.agent_option import AGENT_OPTION
from mm.cli.complete import complete_tool, complete_values
from mm.cli.piped import piped_text
from mm.cli.streams import show, tell
from mm.cli.values import NOT_EMPTY
from mm.dispatch.extract import new_call_id
from mm.errors import ExitCode, ToolError, UsageError
from mm.interrupt import Interrupt
from mm.messages import JSON, Outcome, ToolCall
from mm.options import Options
from mm.tools.spec import Look
from mm.visible import make_visible

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
@click.option("--dry-run", is_flag=True, help="Print exactly what would run, and run nothing.")
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
    is a list. Exit codes: 0 it succeeded, 1 it failed, 2 the call is invalid, 3 a limit, 4 refused.
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
    assembly = Assembly(
        chosen_config(options),
        options,
        interrupt=interrupt,
        listen=notices_only(LateEcho(quiet=False, verbose=False)),
        person=line_person(interrupt),
    )
    try:
        code = _show(assembly, call) if dry_run else _run(assembly, call)
    finally:
        assembly.close()
    context.exit(int(code))


def _arguments(values: Sequence[str], text: str | None) -> str:
    """The arguments as JSON text. Raises UsageError for a value without `=`, for both ways at once, for bytes."""
    if text is not None:
        if values:
            raise UsageError("Arguments come either as KEY=VALUE or with --args, not both.")
        return piped_text() if text == "-" else text
    given: dict[str, JSON] = {}
    for value in values:
        if not _is_text(value):
            raise UsageError(f"`{value}` is not text in UTF-8.", "Give the value with --args, as JSON.")
        key, equals, rest = value.partition("=")
        if not equals or not key:
            raise UsageError(f"`{value}` is no KEY=VALUE.", "Example: mm tools run status service=billing")
        if key not in given:
            given[key] = rest
        elif isinstance(given[key], list):
            given[key].append(rest)
        else:
            given[key] = [given[key], rest]
    return json.dumps(given, ensure_ascii=False)


def _is_text(value: str) -> bool:
    """Whether the bytes that a shell gave were text: those that were not came as halves of surrogate pairs."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _run(assembly: Assembly, call: ToolCall) -> ExitCode:
    result = assembly.run_one(call)
    if result.outcome.ran:
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
    """The plan of a call, part by part, as the question for consent shows it."""
    try:
        tool, plan = assembly.plan_one(call)
    except ToolError as error:
        tell(error.message)
        return ExitCode.USAGE
    show(f"{tool.name} ({tool.kind}) would run:")
    for part in plan.shown:
        for number, entry in enumerate(part.entries):
            label = f"  {part.label}:" if number == 0 else ""
            show(f"{label:14} {make_visible(shlex.quote(entry) if part.look is Look.ARGV else entry)}")
    return ExitCode.DONE
