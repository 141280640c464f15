"""Which sessions an mm has open, so that no two write into one: a lock on a file for each, dropped by the system."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from mm.folders import open_private, private_folder

_ILLEGAL = re.compile(r"[^A-Za-z0-9-]")
_FOLDER = "open-sessions"


@dataclass(slots=True)
class _Hold:
    path: Path
    descriptor: int
    count: int = 1


class Holds:
    """The sessions that this process has open, by id. May be used from several threads.

    The lock goes when its process does, however that ends. Where a file system knows no locks, every session is free.
    """

    def __init__(self, beside: Path) -> None:
        self._parent = beside.parent
        self._held: dict[str, _Hold] = {}
        self._lock = threading.RLock()

    def take(self, session_id: str) -> bool:
        """Hold a session, as often as it is released. False: another mm has it open."""
        with self._lock:
            if session_id in self._held:
                self._held[session_id].count += 1
                return True
            path = private_folder(self._parent, _FOLDER) / _ILLEGAL.sub("_", session_id)[:100]
            try:
                self._held[session_id] = _Hold(path, _locked(path))
            except BlockingIOError:
                return False
            except OSError:
                return True
            return True

    def release(self, session_id: str) -> None:
        """Undo one `take`; one that is not held is none."""
        with self._lock:
            hold = self._held.get(session_id)
            if hold is None:
                return
            hold.count -= 1
            if hold.count == 0:
                self._let_go(session_id)

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            for session_id in list(self._held):
                self._let_go(session_id)

    def _let_go(self, session_id: str) -> None:
        """The file goes first, while it is still locked: whoever has opened it meanwhile sees that it is gone."""
        hold = self._held.pop(session_id)
        with contextlib.suppress(OSError):  # an empty file that stays is no lock
            hold.path.unlink(missing_ok=True)
        os.close(hold.descriptor)


def _locked(path: Path) -> int:
    """A descriptor that holds the lock of `path`. A file that its last holder has just removed is not it."""
    while True:
        descriptor = open_private(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
