"""The option `-a`, the same for every command that takes an agent file. Loads nothing that reads one."""

from __future__ import annotations

import click

from mm.cli.complete import complete_file
from mm.cli.values import NOT_EMPTY

AGENT_OPTION = click.option(
    "-a",
    "--agent",
    "agent_file",
    metavar="FILE",
    type=NOT_EMPTY,
    shell_complete=complete_file,
    help="The agent file; naming it trusts it for this run.",
)
