"""`mm permissions list`: what was allowed always."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from mm.config.grants import list_all
from mm.visible import make_visible_line


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(as_json: bool) -> None:
    """List every "always" that was written down, for all agent files."""
    entries = list_all()
    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
        return
    for entry in entries:
        agent = make_visible_line(entry.agent) or "(built-in defaults)"
        click.echo(f"{make_visible_line(entry.id)}  {make_visible_line(entry.tool)}  {entry.added[:10]}  {agent}")
        click.echo(f"    {make_visible_line(entry.shown)}")
    if not entries:
        click.echo("Nothing is allowed always.", err=True)
