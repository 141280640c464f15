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
    try:
        named = _named(store, session_ids)
        old, kept = _old(store, older_than) if older_than is not None else ([], [])
        chosen = {session.id: session for session in (*named, *old)}
        if chosen:
            store.delete(list(chosen))
    finally:
        store.holds.close()
    for session in chosen.values():
        show(f"Deleted {session.id}  {make_visible_line(session.title)}".rstrip())
    for session in kept:
        tell(f"Kept {session.id}: it is open in another mm.")
    if not chosen and not kept:
        tell("No session is that old.")


def _named(store: Store, session_ids: tuple[str, ...]) -> list[Session]:
    """The sessions with these ids, each held. Raises UsageError for one that is open in another mm."""
    named = [find_session(store, text, str(Path.cwd())) for text in session_ids]
    for session in named:
        if not store.holds.take(session.id):
            raise UsageError(f"Session {session.id} is open in another mm, so it cannot be deleted.", _LEAVE)
    return named


def _old(store: Store, older_than: str) -> tuple[list[Session], list[Session]]:
    """The sessions that are so old: those that are free, and those that are open in another mm.

    They are not held, as they may be more than files that a process may have open.
    """
    limit = time.time() - _seconds(older_than)
    old: tuple[list[Session], list[Session]] = ([], [])
    for session in store.sessions():
        if session.updated < limit:
            old[0 if store.holds.take(session.id) else 1].append(session)
            store.holds.release(session.id)
    return old


def _seconds(age: str) -> int:
    found = _AGE.fullmatch(age.strip().lower())
    if found is None:
        raise UsageError(f"`{age}` is not an age.", "Write a number and h, d or w: --older-than 30d")
    if int(found[1]) == 0:
        raise UsageError(f"`{age}` would delete every session of every folder.", "Give an age: --older-than 1h")
    return int(found[1]) * _SECONDS[found[2]]


_LEAVE = "Leave that chat (/exit) or begin a new session in it (/clear), then try again."
