"""Walks a folder tree by descriptors, so that a link planted meanwhile leads nowhere. Standard library only.

It also runs in the child process that searches files, which has nothing else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from mm.counts import count

UNENTERED = frozenset({".git", "node_modules", "__pycache__"})
KERNEL = ("/proc", "/sys", "/dev")  # made up by the kernel: environments and memory of processes, devices
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Entry:
    """Something below the root. `path` is relative to it, with `/`; `folder` an open descriptor of its folder."""

    path: str
    name: str
    folder: int
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)

    def target(self) -> str:
        """Where a link says that it leads."""
        try:
            return os.readlink(self.name, dir_fd=self.folder)
        except OSError:
            return "?"


@dataclass(slots=True)
class Passed:
    """What a walk passed by: hidden entries, folders that it does not enter, folders that it may not read."""

    hidden: int = 0
    unreadable: int = 0
    unentered: set[str] = field(default_factory=set)

    def told(self) -> str:
        """What the walk left out, in sentences; "" if nothing."""
        sentences = []
        if self.hidden:
            sentences.append(f"Hidden, not shown: {self.hidden} (hidden=true includes them).")
        if self.unentered:
            sentences.append(f"Not looked into: {', '.join(sorted(self.unentered))} (name one as path to do so).")
        if self.unreadable:
            sentences.append(f"Could not be read: {count(self.unreadable, 'folder or file', 'folders or files')}.")
        return " ".join(sentences)


def walk(root: int, depth: int, passed: Passed, *, hidden: bool = False) -> Iterator[Entry]:
    """Entries of an open folder and of those below, in order of names, `depth` levels deep. Links are not followed.

    What the kernel makes up is entered only by a walk that begins in it.
    """
    kernel = {status: path for path in KERNEL if (status := _identity(path))}
    return _walk(root, depth, passed, hidden, "", kernel)


def _walk(
    root: int, depth: int, passed: Passed, hidden: bool, prefix: str, kernel: Mapping[tuple[int, int], str]
) -> Iterator[Entry]:
    for entry in _entries(root, prefix, passed, hidden):
        yield entry
        if not entry.is_folder or depth <= 1:
            continue
        unentered = entry.name if entry.name in UNENTERED else kernel.get((entry.status.st_dev, entry.status.st_ino))
        if unentered:
            passed.unentered.add(unentered)
            continue
        try:
            below = os.open(entry.name, _FOLDER, dir_fd=root)
        except OSError:
            passed.unreadable += 1
            continue
        try:
            yield from _walk(below, depth - 1, passed, hidden, f"{entry.path}/", kernel)
        finally:
            os.close(below)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - a text is at hand
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _entries(folder: int, prefix: str, passed: Passed, hidden: bool) -> list[Entry]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        passed.unreadable += 1
        return []
    kept = [name for name in names if hidden or not name.startswith(".")]
    passed.hidden += len(names) - len(kept)
    entries = []
    for name in kept:
        with suppress(OSError):  # gone since it was listed
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            entries.append(Entry(prefix + name, name, folder, status))
    return entries
