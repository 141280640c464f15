"""Full-text search over all sessions, safe for any text that a person or a model sends."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mm.session.database import Row
from mm.session.heal import heal_text
from mm.session.records import sound_time
from mm.session.store import Store

_LONGEST_QUERY = 1000  # characters
_TERM = re.compile(r'"([^"]*)"|(\S+)')

_SEARCH = """
SELECT sessions.id, sessions.title, messages.number, messages.role, messages.created,
  snippet(messages_text, 0, '', '', ' … ', 24)
FROM messages_text
JOIN messages ON messages.number = messages_text.rowid
JOIN sessions ON sessions.id = messages.session
WHERE messages_text MATCH ? AND sessions.id <> ?
ORDER BY messages_text.rowid DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that holds the words. `snippet` is the text around them, on one line."""

    session_id: str
    title: str
    number: int
    role: str
    created: float  # seconds since 1970
    snippet: str


def search(store: Store, query: str, limit: int = 20, *, without: str = "") -> list[Hit]:
    """Messages that hold all words of `query`, else any of them; the newest first.

    "Words in quotes" must follow each other; `word*` is a beginning. `without` is a session to leave out.
    """
    terms = match_terms(query)
    if not terms or not store.path.exists():
        return []

    def find() -> list[Row]:
        every = _rows(store, " AND ".join(terms), without, limit)
        return every or _rows(store, " OR ".join(terms), without, limit)

    rows = store.database.with_sound_index(find)
    return [
        Hit(str(row[0]), str(row[1]), row[2], str(row[3]), sound_time(row[4]), " ".join(str(row[5]).split()))
        for row in rows
    ]


def _rows(store: Store, match: str, without: str, limit: int) -> list[Row]:
    return store.database.read(_SEARCH, (match, without, limit))


def match_terms(query: str) -> list[str]:
    """The words and phrases of a query, each as a quoted FTS5 string: nothing in them is an operator."""
    terms = []
    for phrase, word in _TERM.findall(heal_text(query[:_LONGEST_QUERY]).replace("\0", " ")):
        text = phrase or word
        if any(character.isalnum() for character in text):
            star = "*" if not phrase and text.endswith("*") else ""
            terms.append('"' + text.replace('"', '""') + '"' + star)
    return terms
