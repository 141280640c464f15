"""`mm tools check`: everything that is wrong in an agent file, or likely to go wrong."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import click

from mm.cli.agent_file import needed_file
from mm.cli.agent_option import AGENT_OPTION
from mm.cli.streams import show
from mm.config.findings import Severity, findings
from mm.config.load import load
from mm.config.problems import ConfigProblems
from mm.counts import count
from mm.errors import ExitCode


@click.command("check")
@AGENT_OPTION
@click.pass_context
def command(context: click.Context, agent_file: str | None) -> None:
    """Find what is wrong in an agent file, and how to mend it.

    Starts nothing. Exit code 2 if something has to be mended; warnings alone leave it at 0.
    """
    path = needed_file(context, agent_file).path
    try:
        config = load(path, environ=os.environ)
    except ConfigProblems as problems:
        for problem in problems.problems:
            show(str(problem))
        show(count(len(problems.problems), "problem"))
        context.exit(int(ExitCode.USAGE))
    found = findings(config, inspect_module=_inspect)
    for line in (*config.warnings, *map(str, found)):
        show(line)
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    warnings = sum(finding.severity is Severity.WARNING for finding in found) + len(config.warnings)
    parts = [count(len(config.tools), "tool")]
    parts += [count(errors, "problem")] if errors else []
    parts += [count(warnings, "warning")] if warnings else []
    show(", ".join(parts if len(parts) > 1 else [*parts, "no problems"]))
    if errors:
        context.exit(int(ExitCode.USAGE))


def _inspect(module: Path, memory: int) -> str | None:
    """Loads the wasm runtime only when there is a module to look at."""
    reason: str | None = importlib.import_module("mm.tools.wasm_inspect").inspect_module(module, memory)
    return reason
