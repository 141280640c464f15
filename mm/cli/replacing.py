"""A file that takes another's place in one step, or leaves everything as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mm.errors import UsageError


class Draft:
    """The new content of `target`, in a file beside it (so that relative paths mean the same). Gone at the end.

    `manual` says what the user can do instead where the folder cannot be written to.
    """

    def __init__(self, target: Path, data: bytes, manual: str = "") -> None:
        self.target = target
        self.path = target.with_name(f".mm-{os.getpid()}.yaml")
        self._data = data
        self._manual = manual

    def __enter__(self) -> Draft:
        try:
            if not os.access(self.target, os.W_OK):
                raise self._cannot("it is read-only")
            mode = stat.S_IMODE(self.target.stat().st_mode)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(self.path, flags, mode), "wb") as file:
                file.write(self._data)
                os.fchmod(file.fileno(), mode)
        except OSError as error:
            raise self._cannot(error.strerror or str(error)) from error
        return self

    def __exit__(self, *error: object) -> None:
        self.path.unlink(missing_ok=True)

    def replace(self, expected: bytes) -> None:
        """Take the target's place, if that still holds what was read."""
        try:
            if self.target.read_bytes() != expected:
                raise UsageError(f"`{self.target}` changed in between; nothing was changed.", "Try again.")
            self.path.replace(self.target)
        except OSError as error:
            raise self._cannot(error.strerror or str(error)) from error

    def _cannot(self, why: str) -> UsageError:
        return UsageError(f"`{self.target}` cannot be changed: {why}. Nothing was changed.", self._manual)
