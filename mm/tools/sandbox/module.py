"""The bytes of a wasm module and their digest: what was hashed is what is run."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_SETTLED = 2_000_000_000
"""Nanoseconds. A file that changed later than this before it was read may change again within one tick of its clock."""

_LARGEST = 256 * 1024 * 1024
"""Bytes. No sensible module is larger, and reading one would fill the memory."""


class ModuleError(Exception):
    """A module that cannot be read or run. The text is a clause: "is a folder", "has no `_start`"."""


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """A module as read once. `digest` is the sha256 of `binary` in hexadecimal."""

    path: Path
    digest: str
    binary: bytes = field(repr=False)


class ModuleFiles:
    """Reads modules, and reads a file again only when it has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, ...], ModuleFile]] = {}
        self._lock = threading.Lock()

    def read(self, path: Path) -> ModuleFile:
        """Raises ModuleError if there is no such file, or it cannot be read."""
        try:
            stamp = _stamp(path)
            with self._lock:
                known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            found = _read(path)
        except OSError as error:
            raise ModuleError(f"cannot be read: {error.strerror}") from error
        if stamp[-1] < time.time_ns() - _SETTLED:
            with self._lock:
                self._known[path] = (stamp, found)
        return found


def _read(path: Path) -> ModuleFile:
    if not path.exists():
        raise ModuleError("does not exist")
    if not path.is_file():
        raise ModuleError("is not a file")
    if path.stat().st_size > _LARGEST:
        raise ModuleError(f"is larger than {_LARGEST // 2**20} MiB")
    binary = path.read_bytes()
    return ModuleFile(path, hashlib.sha256(binary).hexdigest(), binary)


def _stamp(path: Path) -> tuple[int, ...]:
    """Which file it is and when it last changed. The last item is the change time, which no program can set."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0,)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
