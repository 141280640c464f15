"""`mm sessions show`: one session, to read."""

from __future__ import annotations

from pathlib import Path

import click

from mm.cli.complete import complete_session
from mm.cli.streams import show, tell
from mm.cli.values import NOT_EMPTY
from mm.session.export import to_markdown
from mm.session.lookup import find_session
from mm.session.store import Store, default_path
from mm.visible import make_visible, make_visible_line


@click.command("show")
@click.argument("session_id", type=NOT_EMPTY, shell_complete=complete_session, metavar="ID")
def command(session_id: str) -> None:
    """Print a session: its id, the beginning of it, its word, or `latest`."""
    store = Store(default_path())
    session = find_session(store, session_id, str(Path.cwd()))
    records, warnings = store.records(session.id)
    for warning in warnings:
        tell(f"mm: {make_visible_line(warning)}")
    show(make_visible(to_markdown(session, records)), end="")
