"""The real `mm` in a terminal: what is typed, what is seen, and what is left behind."""

from __future__ import annotations

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mm.messages import Message
from mm.session.history import resume
from mm.session.records import Record
from mm.session.store import Store
from tests.cli.running import MM, Place
from tests.session.strict import assert_strict
from tests.terminal.pty import Terminal, terminal

GREETING = "/help"


@contextmanager
def mm_chat(
    place: Place,
    *arguments: str,
    columns: int = 100,
    rows: int = 40,
    status: str = "scripted:",
    errors: Path | None = None,
    **environ: str,
) -> Iterator[Terminal]:
    """`mm` with the agent file of the place, at its first prompt. Its stderr goes to the file `errors`, if given."""

    def program() -> int:
        os.chdir(place.folder)
        if errors is not None:
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT, 0o600), 2)
        argv = [*MM, "-a", "agent.yaml", *arguments]
        os.execve(argv[0], argv, place.environment(**environ))

    with terminal(program, place.folder, columns=columns, rows=rows, **environ) as it:
        it.wait_for(GREETING)
        it.wait_for("> " if environ.get("TERM") == "dumb" else status)
        yield it


def modes(it: Terminal) -> list[Any]:
    return termios.tcgetattr(it.descriptor)


def leave(it: Terminal) -> int:
    it.type("\x04")
    return it.end()


def left_behind(place: Place) -> list[str]:
    """The processes that mm or something it started has left: all of them have its MM_HOME in their environment."""
    mark = f"MM_HOME={place.home}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0") and int(folder.name) != os.getpid():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except (OSError, ValueError):
            continue
    return found


def store_of(place: Place) -> Store:
    return Store(place.home / "data" / "sessions.db")


def records(place: Place) -> tuple[Record, ...]:
    """What is stored of the newest session."""
    store = store_of(place)
    session = store.sessions(limit=1)[0]
    found, warnings = store.records(session.id)
    store.close()
    assert not warnings
    return tuple(found)


def resumed(place: Place) -> list[Message]:
    """The conversation of the newest session as a model would be sent it next, checked as a strict server does."""
    store = store_of(place)
    history = resume(store, store.sessions(limit=1)[0])
    history.add_user("go on")
    messages = history.messages()
    history._records.clear()
    store.close()
    assert_strict(messages)
    return messages


def sleeping_tool(place: Place, name: str, **keys: Any) -> dict[str, Any]:
    """A tool that says that it runs, and then sleeps in a process of its own."""
    place.write(f"{name}.sh", f'#!/bin/sh\necho "{name} runs"\nsleep 600 &\nsleep 600\n', 0o755)
    return {"name": name, "description": "Sleeps.", "command": [f"./{name}.sh"], **keys}


def answers(place: Place) -> list[str]:
    """The outcome of each call in the newest session, in order."""
    return [record.outcome for record in records(place) if record.call_id]
