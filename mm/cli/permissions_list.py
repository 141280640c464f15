"""`mm permissions list`: what was allowed always."""

from __future__ import annotations

from dataclasses import asdict

import click

from mm.cli.streams import show, show_json, tell
from mm.config.grants import list_all
from mm.visible import make_visible_line


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(as_json: bool) -> None:
    """List every "always" that was written down, for all agent files."""
    entries = list_all()
    if as_json:
        show_json([asdict(entry) for entry in entries], indent=2)
        return
    for entry in entries:
        agent = make_visible_line(entry.agent) or "(built-in defaults)"
        show(f"{make_visible_line(entry.id)}  {make_visible_line(entry.tool)}  {entry.added[:10]}  {agent}")
        show(f"    {make_visible_line(entry.shown)}")
    if not entries:
        tell("Nothing is allowed always.")
