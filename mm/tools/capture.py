"""What a program writes, kept in bounded memory: first and last bytes, and a private file with the rest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

from mm.folders import open_private
from mm.tools.spec import Captured

HEAD = 128 * 1024  # bytes kept of the beginning
TAIL = 128 * 1024  # bytes kept of the end
SPILL_LIMIT = 64 * 1024 * 1024  # bytes of the file
_KEPT_FOR = 7 * 24 * 3600  # seconds that a file is kept
_KEPT_IN_ALL = 1024 * 1024 * 1024  # bytes of all files of a folder; the oldest go first


class Capture:
    """A stream as it comes in. The file is only made once the output is longer than `HEAD`; `spill` None: never."""

    def __init__(self, spill: Path | None) -> None:
        self._spill = spill
        self._file: SpillFile | None = None
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._hash = hashlib.sha256()  # processors have it built in, which matters for long output

    def write(self, data: bytes) -> None:
        """Take the next bytes. Cost is linear in `data`, whatever came before."""
        self._hash.update(data)
        self._keep_on_file(data)
        self._size += len(data)
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def finish(self) -> Captured:
        """Close the file and return what came out."""
        file = self._file.finish() if self._file else None
        return Captured(
            head=bytes(self._head),
            tail=bytes(self._tail[-TAIL:]),
            size=self._size,
            file=file,
            digest=self._hash.hexdigest(),
        )

    def _keep_on_file(self, data: bytes) -> None:
        if self._spill is None or self._size + len(data) <= HEAD:
            return
        try:
            if self._file is None:
                self._file = SpillFile(self._spill)
                self._file.write(bytes(self._head))
            self._file.write(data)
        except OSError:  # a full disk costs the file, never the call
            self._spill = None
            if self._file is not None:
                self._file.discard()
                self._file = None


class SpillFile:
    """A new private file (0600) in `folder` that keeps at most the last `SPILL_LIMIT` bytes written to it."""

    def __init__(self, folder: Path) -> None:
        self._path, self._descriptor = _create(folder)
        self._written = 0

    def write(self, data: bytes) -> None:
        """Write at the end, or over the oldest bytes once the file is full."""
        view = memoryview(data)[-SPILL_LIMIT:]
        self._written += len(data) - len(view)
        while view:
            place = self._written % SPILL_LIMIT
            count = os.pwrite(self._descriptor, view[: SPILL_LIMIT - place], place)
            self._written += count
            view = view[count:]

    def finish(self) -> Path | None:
        """Bring the bytes into order and close. Returns the path, or None if the disk is full."""
        try:
            if self._written > SPILL_LIMIT:
                self._straighten()
        except OSError:
            self.discard()
            return None
        os.close(self._descriptor)
        return self._path

    def discard(self) -> None:
        """Close and remove the file."""
        os.close(self._descriptor)
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _straighten(self) -> None:
        oldest = self._written % SPILL_LIMIT
        path, descriptor = _create(self._path.parent)
        try:
            _copy(self._descriptor, descriptor, oldest, SPILL_LIMIT)
            _copy(self._descriptor, descriptor, 0, oldest)
            path.replace(self._path)
        except OSError:
            os.close(descriptor)
            path.unlink()
            raise
        os.close(self._descriptor)
        self._descriptor = descriptor


def spill_text(folder: Path, data: bytes) -> Path | None:
    """Keep `data` in a new private file of `folder`. Returns None if that cannot be done."""
    try:
        file = SpillFile(folder)
    except OSError:
        return None
    try:
        file.write(data)
    except OSError:
        file.discard()
        return None
    return file.finish()


def _create(folder: Path) -> tuple[Path, int]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_room(folder)
    path = folder / f"output-{os.urandom(6).hex()}.txt"
    return path, open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)


def _make_room(folder: Path) -> None:
    """Remove what earlier runs left, so that the folder cannot grow for ever."""
    files = []
    for path in folder.glob("output-*.txt"):
        with contextlib.suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    total, oldest_kept = 0, time.time() - _KEPT_FOR
    for changed, size, path in sorted(files, reverse=True):
        total += size
        if changed < oldest_kept or total > _KEPT_IN_ALL:
            with contextlib.suppress(OSError):
                path.unlink()


def _copy(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        data = os.pread(source, min(1 << 20, end - start), start)
        if not data:
            raise OSError("the spill file became shorter")
        start += len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]
