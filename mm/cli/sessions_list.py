"""`mm sessions list`: the sessions of this folder, or all."""

from __future__ import annotations

from pathlib import Path

import click

from mm.cli.streams import show, show_json, tell
from mm.session.export import day_and_time, session_facts
from mm.session.records import Session
from mm.session.store import Store, default_path
from mm.visible import make_visible_line


@click.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of all folders, not only of this one.")
@click.option("-n", "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(everywhere: bool, limit: int, as_json: bool) -> None:
    """List the sessions of this folder, the newest first."""
    store = Store(default_path())
    cwd = None if everywhere else str(Path.cwd())
    found = store.sessions(cwd=cwd, limit=limit)
    if as_json:
        show_json([session_facts(session) for session in found], indent=2)
        return
    for session in found:
        show(_line(session, with_folder=everywhere))
    if not found:
        elsewhere = len(store.sessions())
        hint = f" {elsewhere} of other folders: mm sessions list --all" if elsewhere else ""
        tell(f"No sessions{'' if everywhere else ' of this folder'}.{hint}")


def _line(session: Session, *, with_folder: bool) -> str:
    folder = f"  {make_visible_line(session.cwd)}" if with_folder else ""
    title = make_visible_line(session.title) or "(no title)"
    return f"{session.id}  {day_and_time(session.updated)}  {session.size:>5}{folder}  {title}"
