"""`mm sessions delete`: delete sessions by id or by age."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from mm.cli.complete import complete_session
from mm.cli.streams import show, tell
from mm.cli.values import NOT_EMPTY
from mm.errors import UsageError
from mm.session.lookup import find_session
from mm.session.records import Session
from mm.session.store import Store, default_path
from mm.visible import make_visible_line

_AGE = re.compile(r"([0-9]{1,6})\s*([hdw])")
_SECONDS = {"h": 3600, "d": 86_400, "w": 604_800}


@click.command("delete")
@click.argument("session_ids", type=NOT_EMPTY, nargs=-1, shell_complete=complete_session, metavar="[ID]...")
@click.option("--older-than", metavar="AGE", help="All sessions of all folders not used for so long: 12h, 30d, 8w.")
def command(session_ids: tuple[str, ...], older_than: str | None) -> None:
    """Delete sessions, with their text in the index. Nothing is deleted if one ID is wrong."""
    if not session_ids and older_than is None:
        raise UsageError("Nothing says which sessions to delete.", "Give ids, or --older-than 30d.")
    store = Store(default_path())
    chosen = {session.id: session for session in _chosen(store, session_ids, older_than)}
    if chosen:
        store.delete(list(chosen))
    for session in chosen.values():
        show(f"Deleted {session.id}  {make_visible_line(session.title)}".rstrip())
    if not chosen:
        tell("No session is that old.")


def _chosen(store: Store, session_ids: tuple[str, ...], older_than: str | None) -> list[Session]:
    chosen = [find_session(store, text, str(Path.cwd())) for text in session_ids]
    if older_than is not None:
        limit = time.time() - _seconds(older_than)
        chosen += [session for session in store.sessions() if session.updated < limit]
    return chosen


def _seconds(age: str) -> int:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise UsageError(f"`{age}` is not an age.", "Write a number and h, d or w: --older-than 30d")
    if int(found[1]) == 0:
        raise UsageError(f"`{age}` would delete every session of every folder.", "Give an age: --older-than 1h")
    return int(found[1]) * _SECONDS[found[2]]
