"""What an agent remembers from one session to the next: one small text file for each agent file.

The file is Markdown, so that a person can read and mend it: one `- ` item an entry, its further lines indented.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mm.errors import MMError, ToolError
from mm.folders import data_folder, open_private, private_folder
from mm.interrupt import Interrupted
from mm.tools.open_files import replace_file

LIMIT = 4000  # characters: all of it is part of every request
_WAIT = 5.0  # seconds for another process to let go of the lock


def memory_file(agent_file: Path | None) -> Path:
    """Where the memory of an agent is kept, by its file as `Config` gives it; None for the built-in defaults."""
    folder = private_folder(data_folder(), "memory")
    if agent_file is None:
        return folder / "default.md"
    digest = hashlib.sha256(os.fsencode(agent_file)).hexdigest()[:16]
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", agent_file.parent.name)[:40]
    return folder / f"{name}-{digest}.md"


@dataclass(frozen=True, slots=True)
class Memory:
    """The entries in one file. Every change takes a lock, reads the file anew and replaces it in one step."""

    file: Path
    limit: int = LIMIT

    def entries(self) -> list[str]:
        """What is remembered. Raises MMError, naming the file, if it cannot be read."""
        try:
            with os.fdopen(open_private(self.file, os.O_RDONLY), "rb") as file:
                return _parsed(file.read().decode("utf-8-sig"))
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error.strerror).lower()
            hint = f"Mend it, or move it away: mv '{self.file}' '{self.file}.old'"
            raise MMError(f"The memory file `{self.file}` cannot be read: {reason}.", hint) from error

    def snapshot(self) -> str:
        """For the system text, taken once when a session starts; "" if nothing is remembered. Raises MMError."""
        entries = self.entries()
        return f"What you remembered in earlier sessions:\n{_written(entries)}" if entries else ""

    def add(self, text: str, stop: threading.Event) -> list[str]:
        """Remember a text; returns all entries. Raises ToolError when there is no room."""

        def change(entries: list[str]) -> list[str]:
            return entries if text.strip() in entries else [*entries, text.strip()]

        return self._change(change, stop)

    def replace(self, old: str, text: str, stop: threading.Event) -> list[str]:
        """Put a text in the place of the one entry that contains `old`."""

        def change(entries: list[str]) -> list[str]:
            place = _place(entries, old)
            return [*entries[:place], text.strip(), *entries[place + 1 :]]

        return self._change(change, stop)

    def remove(self, old: str, stop: threading.Event) -> list[str]:
        """Forget the one entry that contains `old`."""

        def change(entries: list[str]) -> list[str]:
            place = _place(entries, old)
            return [*entries[:place], *entries[place + 1 :]]

        return self._change(change, stop)

    def _change(self, change: Callable[[list[str]], list[str]], stop: threading.Event) -> list[str]:
        try:
            with self._locked(stop):
                entries = self.entries()
                changed = change(entries)
                text = _written(changed)
                if len(text) > max(self.limit, len(_written(entries))):
                    raise ToolError(_full(entries, len(text), self.limit))
                if changed != entries:
                    replace_file(self.file.resolve(), text.encode(), private=True)
                return changed
        except MMError as error:
            raise ToolError(f"{error.message} Nothing was changed. Tell the user.") from error

    @contextmanager
    def _locked(self, stop: threading.Event) -> Iterator[None]:
        """One process, one thread at a time. The lock is a file of its own, as the other one is replaced."""
        until = time.monotonic() + _WAIT
        descriptor = open_private(self.file.with_suffix(".lock"))
        try:
            while not _try_lock(descriptor):
                if stop.wait(0.02):
                    raise Interrupted
                if time.monotonic() > until:
                    raise ToolError("The memory is being changed by another mm. Try again later.")
            yield
        finally:
            os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _parsed(text: str) -> list[str]:
    """Lines that start with `- ` begin an entry; what stands before the first is an entry too."""
    entries: list[list[str]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("- "):
            entries.append([line[2:]])
        elif entries:
            entries[-1].append(line.removeprefix("  "))
        elif line.strip():
            entries.append([line])
    return [entry for lines in entries if (entry := "\n".join(lines).strip())]


def _written(entries: Sequence[str]) -> str:
    return "".join("- " + entry.replace("\n", "\n  ") + "\n" for entry in entries)


def _place(entries: Sequence[str], old: str) -> int:
    """The one entry that equals `old`, or else contains it."""
    found = [place for place, entry in enumerate(entries) if entry == old.strip()]
    found = found or [place for place, entry in enumerate(entries) if old.strip() in entry]
    if len(found) == 1:
        return found[0]
    if not entries:
        raise ToolError("Nothing is remembered yet, so there is nothing to replace or remove.")
    problem = f"is part of {len(found)} entries" if found else "is not part of any entry"
    raise ToolError(f"`old_text` {problem}. Send a part of exactly one of these:\n{_written(entries)}".rstrip())


def _full(entries: Sequence[str], needed: int, limit: int) -> str:
    return (
        f"The memory is full: this would make {needed:,} characters, and {limit:,} is the most. Nothing was changed. "
        f"Replace entries by shorter ones or remove some first. Remembered now:\n{_written(entries)}"
    ).rstrip()
