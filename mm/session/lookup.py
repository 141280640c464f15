"""Finds the session that a person means: by its id, the beginning of it, its word, or `latest`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from mm.errors import UsageError
from mm.session.records import Session
from mm.session.store import Store

LATEST = "latest"


def find_session(store: Store, text: str, cwd: str | None = None) -> Session:
    """The one session that `text` names. `latest` prefers `cwd`. Raises UsageError naming the nearest ids."""
    sessions = store.sessions()
    if not sessions:
        raise UsageError("There are no sessions yet.", 'Begin one: mm -p "..."')
    if text == LATEST:
        return next((session for session in sessions if session.cwd == cwd), sessions[0])
    found = _matching(sessions, text)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"`{text}` fits {len(found)} sessions: {_list(found)}.", "Give more of the id.")
    near = _nearest(sessions, text)
    hint = "List them all: mm sessions list --all"
    raise UsageError(f"No session `{text}`." + (f" Nearest: {_list(near)}." if near else ""), hint)


def _matching(sessions: Sequence[Session], text: str) -> list[Session]:
    wanted = text.strip().lower()
    exact = [session for session in sessions if session.id == wanted]
    if exact or not wanted:
        return exact
    return [session for session in sessions if session.id.startswith(wanted) or _word(session).startswith(wanted)]


def _nearest(sessions: Sequence[Session], text: str) -> list[Session]:
    names = {name: session for session in reversed(sessions) for name in (session.id, _word(session))}
    near = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.5)
    return list({names[name].id: names[name] for name in near}.values())


def _word(session: Session) -> str:
    return session.id.partition("-")[2]


def _list(sessions: Sequence[Session]) -> str:
    shown = ", ".join(f"`{session.id}`" for session in sessions[:5])
    return shown + (f" and {len(sessions) - 5} more" if len(sessions) > 5 else "")
