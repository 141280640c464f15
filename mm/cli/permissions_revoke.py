"""`mm permissions revoke`: take back what was allowed always."""

from __future__ import annotations

import click

from mm.cli.streams import show
from mm.cli.values import NOT_EMPTY
from mm.config.grants import list_all, revoke
from mm.errors import UsageError
from mm.visible import make_visible_line


@click.command("revoke")
@click.argument("ids", type=NOT_EMPTY, nargs=-1, metavar="[ID|TOOL]...")
@click.option("--all", "everything", is_flag=True, help="Take back everything.")
def command(ids: tuple[str, ...], everything: bool) -> None:
    """Take back an "always": the tool is asked about again. ID as in `mm permissions list`, or the name of the tool."""
    if not ids and not everything:
        raise UsageError("Nothing says what to take back.", "Give ids or tools of `mm permissions list`, or --all.")
    if ids and everything:
        raise UsageError("Both ids and --all were given.", "Give one of the two.")
    for entry in revoke([entry.id for entry in list_all()] if everything else ids):
        agent = make_visible_line(entry.agent) or "the built-in defaults"
        show(f"Revoked {entry.id}: {make_visible_line(entry.tool)} of {agent}")
