"""`mm doctor`: everything mm needs, one line a thing, each with what mends it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace

import click

from mm.cli import agent_checks, checks
from mm.cli.agent_file import agent_file
from mm.cli.agent_option import AGENT_OPTION, AgentCommand
from mm.cli.checks import Check, Status
from mm.cli.complete import complete_model
from mm.cli.streams import show, show_json
from mm.counts import count
from mm.errors import ExitCode, MMError
from mm.options import Options
from mm.terminal.palette import palette_for
from mm.visible import make_visible_line

_WIDEST = 14  # columns of a name


@click.command("doctor", cls=AgentCommand)
@AGENT_OPTION
@click.option("-m", "--model", metavar="MODEL", shell_complete=complete_model, help="Look at this model.")
@click.option("--mcp", is_flag=True, help="Start the MCP servers of the agent file, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(context: click.Context, /, agent_file: str | None, model: str | None, mcp: bool, as_json: bool) -> None:
    """Look at everything mm needs and say what is missing, with the command that mends it.

    Starts nothing but what --mcp asks for; the model's server is asked for its list of models. Exit code 1 if
    something is a problem; warnings leave it at 0.
    """
    options = context.find_object(Options)
    model = model or (options.model if options else None)
    found: list[Check] = []
    for check in _checks(context, agent_file, model, start=mcp):
        shown = replace(check, says=make_visible_line(check.says), remedy=make_visible_line(check.remedy))
        found.append(shown)
        if not as_json:
            _print(shown)
    problems = sum(check.status is Status.PROBLEM for check in found)
    warnings = sum(check.status is Status.WARNING for check in found)
    if as_json:
        facts = {"problems": problems, "warnings": warnings, "checks": [asdict(check) for check in found]}
        show_json(facts, indent=2)
    else:
        show(_summary(problems, warnings))
    context.exit(int(ExitCode.FAILED if problems else ExitCode.DONE))


def _checks(context: click.Context, named: str | None, model: str | None, *, start: bool) -> Iterator[Check]:
    yield from checks.installation()
    yield from checks.own_folders()
    config = None
    try:
        file, config = agent_checks.agent_file(agent_file(context, named))
        yield file
    except MMError as error:
        yield checks.broken("agent file", error)
    yield from agent_checks.model(config, model)
    yield from agent_checks.servers(config, start=start)
    yield from checks.wasm()
    yield from checks.compilers()
    yield from checks.stores()


def _print(check: Check) -> None:
    palette = palette_for(sys.stdout)
    paint = {Status.OK: palette.good, Status.WARNING: palette.warn, Status.PROBLEM: palette.bad}[check.status]
    show(f"  {check.name:<{_WIDEST}}  {check.says}", lead=paint(f"{check.status:<7}"))
    if check.remedy:
        show(f"{'':{_WIDEST + 11}}{check.remedy}")


def _summary(problems: int, warnings: int) -> str:
    parts = [count(number, noun) for number, noun in ((problems, "problem"), (warnings, "warning")) if number]
    return ", ".join(parts) if parts else "All is well."
