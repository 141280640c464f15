"""`mm sessions export`: one session as Markdown or JSON."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mm.cli.complete import complete_session
from mm.cli.streams import show, show_json_text, tell
from mm.cli.values import NOT_EMPTY
from mm.errors import MMError, UsageError
from mm.session.export import to_json, to_markdown
from mm.session.lookup import find_session
from mm.session.store import Store, default_path
from mm.visible import make_visible_line


@click.command("export")
@click.argument("session_id", type=NOT_EMPTY, shell_complete=complete_session, metavar="ID")
@click.option("--format", "form", type=click.Choice(["md", "json"]), help="Default: md, or what the name of FILE says.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE (private, 0600) instead of stdout.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def command(session_id: str, form: str | None, output: str | None, force: bool) -> None:
    """Write a session as Markdown (to read) or JSON (everything)."""
    store = Store(default_path())
    session = find_session(store, session_id, str(Path.cwd()))
    records, warnings = store.records(session.id)
    for warning in warnings:
        tell(f"mm: {make_visible_line(warning)}")
    as_json = form == "json" or (form is None and (output or "").endswith(".json"))
    text = to_json(session, records) if as_json else to_markdown(session, records)
    if output and output != "-":
        _write(Path(output), text, force=force)
    else:
        show_json_text(text) if as_json else show(text, end="")


def _write(path: Path, text: str, *, force: bool) -> None:
    """A transcript may hold secrets, so a new file is the user's own."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if force else os.O_EXCL)
    try:
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"`{path}` is there already.", "Give another name, or --force to replace it.") from error
    except OSError as error:
        raise MMError(f"`{path}` cannot be written: {error.strerror}.", "Give a file with -o.") from error
    tell(f"Wrote {path}.")
