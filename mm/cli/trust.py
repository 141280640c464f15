"""`mm trust`: lets an agent file that came with a folder work."""

from __future__ import annotations

import os

import click

from mm.cli.agent_file import needed_file
from mm.cli.agent_option import AGENT_OPTION
from mm.cli.streams import show
from mm.cli.values import NOT_EMPTY
from mm.config.load import load
from mm.config.summary import summary
from mm.config.trust import trust
from mm.errors import UsageError
from mm.visible import make_visible_line


@click.command("trust")
@click.argument("file", type=NOT_EMPTY, required=False)
@AGENT_OPTION
@click.pass_context
def command(context: click.Context, file: str | None, agent_file: str | None) -> None:
    """Trust FILE (or -a FILE, as everywhere), or else the agent file of this folder, as it is now.

    Says what the file would start, allow and send where. When it, its skills or its hooks change, mm asks again.
    """
    if file and agent_file:
        raise UsageError("FILE and `-a` both name an agent file.", "Name one at a time.")
    path = needed_file(context, file or agent_file).path
    config = load(path, environ=os.environ)
    for line in summary(config):
        show(make_visible_line(line))
    trust(config)
    show(f"Trusted: {make_visible_line(str(path))}")
