"""A file that takes another's place in one step, or leaves everything as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mm.errors import UsageError


class Draft:
    """The new content of `target`, in a file beside it (so that relative paths mean the same). Gone at the end.

    Where `target` is a link, the content goes through it: the link stays. `manual` says what the user can do instead
    where a folder cannot be written to.
    """

    def __init__(self, target: Path, data: bytes, manual: str = "") -> None:
        self.target = target
        self.path = target.with_name(f".mm-{os.getpid()}.yaml")
        self._real = Path(os.path.realpath(target))
        # What replaces a file in one step has to lie in its own folder: another may be on another file system.
        self._beside_real = self._real.with_name(self.path.name)
        self._data = data
        self._manual = manual

    def __enter__(self) -> Draft:
        try:
            if not os.access(self.target, os.W_OK):
                raise self._cannot("it is read-only")
            for path in dict.fromkeys((self.path, self._beside_real)):
                self._write(path)
        except OSError as error:
            self.__exit__()
            raise self._cannot(error.strerror or str(error)) from error
        return self

    def __exit__(self, *error: object) -> None:
        for path in (self.path, self._beside_real):
            path.unlink(missing_ok=True)

    def replace(self, expected: bytes) -> None:
        """Take the target's place, if that still holds what was read."""
        try:
            if self.target.read_bytes() != expected:
                raise UsageError(f"`{self.target}` changed in between; nothing was changed.", "Try again.")
            self._beside_real.replace(self._real)
        except OSError as error:
            raise self._cannot(error.strerror or str(error)) from error

    def _write(self, path: Path) -> None:
        mode = stat.S_IMODE(self._real.stat().st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            file.write(self._data)
            os.fchmod(file.fileno(), mode)

    def _cannot(self, why: str) -> UsageError:
        return UsageError(f"`{self.target}` cannot be changed: {why}. Nothing was changed.", self._manual)
