"""The user's own permissions file: every "always" that a person wrote down, for which agent file and definition."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mm.errors import MMError, UsageError
from mm.folders import config_folder, open_private, refuse_if_not_ours
from mm.messages import JSON

FILE_NAME = "permissions.json"
VERSION = 1

_TEXTS = ("id", "agent_file", "tool", "definition", "shown", "added")

_NARROW = frozenset({"bash", "read_file", "write_file", "edit_file", "list_files", "search_files"})
"""Tools whose "always" means one exact command, or one place: elsewhere they are new, not changed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the file. `agent` is the agent file's path, "" for the built-in defaults; `added` is ISO 8601.

    `parts` are the digests of what `definition` is made of, by name; {} where none were written down.
    """

    id: str
    agent: str
    tool: str
    definition: str
    shown: str
    added: str
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Granted:
    """The person allowed exactly this definition."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Changed:
    """The person allowed this tool, but it was another then. `shown` is what they were shown, `parts` as in Entry."""

    shown: str
    parts: Mapping[str, str] = field(default_factory=dict)

    def names(self, parts: Mapping[str, str]) -> tuple[str, ...]:
        """What is not as it was, if the parts are known now and were then."""
        return tuple(name for name, digest in parts.items() if self.parts.get(name, digest) != digest)


class Grants:
    """What was allowed always for one agent file (None: the built-in defaults).

    The file is read again whenever it has changed. While it cannot be read, nothing is granted and it is never
    written; `problem` says why.
    """

    def __init__(self, agent_file: Path | None, path: Path | None = None) -> None:
        self._agent = str(agent_file) if agent_file else ""
        self._given_path = path
        self._signature: tuple[int, ...] | None = None
        self._entries: tuple[Entry, ...] = ()
        self.problem = ""

    def find(self, tool: str, definition: str) -> Granted | Changed | None:
        """Whether this definition of a tool was allowed, or an earlier one, or none. Never raises."""
        self._refresh()
        mine = [entry for entry in self._entries if entry.agent == self._agent and entry.tool == tool]
        for entry in mine:
            if entry.definition == definition:
                return Granted(entry)
        return Changed(mine[-1].shown, mine[-1].parts) if mine and tool not in _NARROW else None

    def entries(self) -> list[Entry]:
        """What was allowed always for this agent file. Never raises."""
        self._refresh()
        return [entry for entry in self._entries if entry.agent == self._agent]

    def add(self, tool: str, definition: str, shown: str, parts: Mapping[str, str] | None = None) -> None:
        """Append an entry, unless it is there. Raises MMError if the file cannot be read or written."""
        path = self._path()
        entry = Entry(
            id=_id(self._agent, tool, definition),
            agent=self._agent,
            tool=tool,
            definition=definition,
            shown=shown,
            added=datetime.now(UTC).isoformat(timespec="seconds"),
            parts=dict(parts or {}),
        )
        with _locked(path):
            document = _load(path)
            if all(known.id != entry.id for known in _entries(document, path)):
                document["grants"].append(_as_json(entry))
                _replace(path, document)

    def _path(self) -> Path:
        return self._given_path or config_folder() / FILE_NAME

    def _refresh(self) -> None:
        try:
            path = self._path()
            signature = _signature(path)
            if signature != self._signature or self.problem:
                self._entries = _entries(_load(path), path)
                self._signature = signature
            self.problem = ""
        except MMError as error:
            self._entries = ()
            self.problem = f"{error.message} Nothing is granted from it. {error.hint}".rstrip()


def list_all(path: Path | None = None) -> list[Entry]:
    """Every entry, in the order of the file. Raises MMError if it cannot be read."""
    path = path or config_folder() / FILE_NAME
    return list(_entries(_load(path), path))


def revoke(ids: Sequence[str], path: Path | None = None) -> list[Entry]:
    """Remove the entries of these ids (beginnings are enough) or tools and nothing else; all are found first."""
    path = path or config_folder() / FILE_NAME
    with _locked(path):
        document = _load(path)
        entries = _entries(document, path)
        chosen = {_find(entries, text).id for text in ids}
        kept = [item for item in document["grants"] if item["id"] not in chosen]
        if chosen:
            _replace(path, {**document, "grants": kept})
    return [entry for entry in entries if entry.id in chosen]


def _find(entries: Sequence[Entry], text: str) -> Entry:
    found = [entry for entry in entries if text and (entry.id.startswith(text.lower()) or entry.tool == text)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(f"`{entry.id}` ({entry.agent or 'the built-in defaults'})" for entry in found)
        hint = f"Give one of the ids, or all: mm permissions revoke {' '.join(entry.id for entry in found)}"
        raise UsageError(f"`{text}` fits several permissions: {ids}.", hint)
    raise UsageError(f"No permission has the id or the tool `{text}`.", "See them all: mm permissions list")


def _id(agent: str, tool: str, definition: str) -> str:
    key = json.dumps([agent, tool, definition])
    return hashlib.sha256(key.encode()).hexdigest()[:10]


def _as_json(entry: Entry) -> dict[str, JSON]:
    return {
        "id": entry.id,
        "agent_file": entry.agent,
        "tool": entry.tool,
        "definition": entry.definition,
        "shown": entry.shown,
        "added": entry.added,
        **({"parts": dict(entry.parts)} if entry.parts else {}),
    }


def _load(path: Path) -> dict[str, JSON]:
    """The file as it stands. Missing is empty; anything else that is not such a file is an MMError that names it."""
    try:
        refuse_if_not_ours(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, encoding="utf-8") as file:
            document = json.load(file)
    except FileNotFoundError:
        return {"version": VERSION, "grants": []}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("grants"), list):
        raise _unreadable(path, "it is not an object with a list `grants`")
    if document.get("version") != VERSION:
        raise _unreadable(path, f"its `version` is {document.get('version')!r}, this mm knows {VERSION}")
    return document


def _entries(document: dict[str, JSON], path: Path) -> tuple[Entry, ...]:
    return tuple(_entry(item, position, path) for position, item in enumerate(document["grants"]))


def _entry(item: JSON, position: int, path: Path) -> Entry:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in _TEXTS):
        raise _unreadable(
            path, f"entry {position + 1} of `grants` needs the texts {', '.join(f'`{key}`' for key in _TEXTS)}"
        )
    parts = item.get("parts", {})
    if not isinstance(parts, dict) or not all(isinstance(digest, str) for digest in parts.values()):
        raise _unreadable(path, f"`parts` of entry {position + 1} of `grants` must be names and texts")
    identity, agent, tool, definition, shown, added = (item[key] for key in _TEXTS)
    return Entry(identity, agent, tool, definition, shown, added, parts)


def _unreadable(path: Path, why: str) -> MMError:
    return MMError(
        f"The permissions file `{path}` cannot be read: {why}.", f"Mend it, or move it away: mv '{path}' '{path}.old'"
    )


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = path.lstat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time. The lock is a file of its own, since the permissions file is replaced as a whole."""
    try:
        descriptor = open_private(path.with_name(path.name + ".lock"))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, document: dict[str, JSON]) -> None:
    """Write the whole file beside the old one and put it in its place in one step."""
    new = path.with_name(path.name + ".new")
    try:
        descriptor = open_private(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> MMError:
    return MMError(
        f"The permissions file `{path}` cannot be written: {error.strerror}.",
        "Check that you may write there, or set MM_HOME.",
    )
