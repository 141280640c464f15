"""`mm tools check`: everything that is wrong in an agent file, or likely to go wrong."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import click

from mm.cli.agent_file import needed_file
from mm.cli.agent_option import AGENT_OPTION, AgentCommand
from mm.cli.streams import show
from mm.config.findings import Finding, Severity, findings
from mm.config.load import examine
from mm.config.problems import Problem
from mm.counts import count
from mm.errors import ExitCode


@click.command("check", cls=AgentCommand)
@AGENT_OPTION
@click.pass_context
def command(context: click.Context, agent_file: str | None) -> None:
    """Find what is wrong in an agent file, and how to mend it.

    Starts nothing. Exit code 2 if something has to be mended; warnings alone leave it at 0.
    """
    path = needed_file(context, agent_file).path
    examined = examine(path, environ=os.environ)
    config, problems = examined.config, examined.problems
    found = [Finding(one.place, Severity.WARNING, one.message, one.hint) for one in examined.warnings]
    if config:
        found += findings(config, inspect_module=_inspect, beside=[one.place for one in problems])
    lines: list[Problem | Finding] = sorted([*problems, *found], key=lambda one: (one.place.line, one.place.column))
    for line in lines:
        show(str(line))
    errors = sum(finding.severity is Severity.ERROR for finding in found) + len(problems)
    warnings = sum(finding.severity is Severity.WARNING for finding in found)
    parts = [count(len(config.tools), "tool")] if config and not problems else []
    parts += [count(errors, "problem")] if errors else []
    parts += [count(warnings, "warning")] if warnings else []
    show(", ".join(parts if errors or warnings else [*parts, "no problems"]))
    if errors:
        context.exit(int(ExitCode.USAGE))


def _inspect(module: Path, memory: int) -> str | None:
    """Loads the wasm runtime only when there is a module to look at."""
    reason: str | None = importlib.import_module("mm.tools.wasm_inspect").inspect_module(module, memory)
    return reason
