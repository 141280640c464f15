"""Where mm keeps things of the user's own: private folders (0700) and files (0600), refused if another's.

`MM_HOME`, if set, holds all of them; else the platform's folders for configuration, data and caches.
"""

from __future__ import annotations

import importlib
import os
import stat
from pathlib import Path

from mm.errors import MMError


def config_folder() -> Path:
    """The user's own agent file, trust, permissions."""
    return _private(_platform("config"))


def data_folder() -> Path:
    """Sessions, memory, weights, history of the chat."""
    return _private(_platform("data"))


def cache_folder() -> Path:
    """Compiled modules, spilled output: may be deleted at any time."""
    return _private(_platform("cache"))


def own_folders() -> tuple[Path, ...]:
    """The three folders above, without making or checking them."""
    return tuple(_platform(kind) for kind in ("config", "data", "cache"))


def private_folder(parent: Path, *names: str) -> Path:
    """A folder below one of the above, made private if it is new."""
    folder = parent
    for name in names:
        folder = _private(folder / name)
    return folder


def refuse_if_not_ours(path: Path) -> None:
    """Raise MMError if `path` exists and belongs to another user, or others may write to it."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if status.st_uid != os.getuid():
        raise MMError(f"`{path}` belongs to another user, so mm does not use it.", "Remove it, or set MM_HOME.")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(status.st_mode):
        raise MMError(f"Others may write to `{path}`, so mm does not use it.", f"Run: chmod go-w '{path}'")


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file of the user's own, made 0600 if new; a link in its place is refused. Returns a descriptor."""
    refuse_if_not_ours(path)
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _private(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        refuse_if_not_ours(path)
    except OSError as error:
        hint = "Set MM_HOME to a folder that you may write to."
        raise MMError(f"`{path}` cannot be made: {error.strerror}.", hint) from error
    return path


def _platform(kind: str) -> Path:
    """MM_HOME's folder of this kind, else the platform's. platformdirs is loaded only where it decides."""
    home = os.environ.get("MM_HOME", "")
    if home:
        return Path(home).expanduser().absolute() / kind
    folders = importlib.import_module("platformdirs").PlatformDirs("mm", appauthor=False)
    return Path(getattr(folders, f"user_{kind}_path"))
