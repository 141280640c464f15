"""`mm sessions search`: full text over all sessions."""

from __future__ import annotations

from dataclasses import asdict

import click

from mm.cli.streams import show, show_json, tell
from mm.errors import UsageError
from mm.session.export import day_and_time
from mm.session.search import match_terms, search
from mm.session.store import Store, default_path
from mm.visible import make_visible_line


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many messages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search all sessions for messages with these words, the newest first.

    Words in quotes must follow each other; `relea*` is the beginning of a word.
    """
    query = " ".join(f'"{word}"' if " " in word and '"' not in word and len(words) > 1 else word for word in words)
    if not match_terms(query):
        raise UsageError(f"`{query}` holds nothing to search for.", "Give a word with a letter or a digit in it.")
    hits = search(Store(default_path()), query, limit)
    if as_json:
        show_json([asdict(hit) for hit in hits], indent=2)
        return
    for hit in hits:
        show(f"{hit.session_id}  {day_and_time(hit.created)}  {hit.role}  {make_visible_line(hit.title)}")
        show(f"    {make_visible_line(hit.snippet)}")
    if not hits:
        tell(f"No message holds `{make_visible_line(query)}`.")
