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


def with_home(text: str) -> Path:
    """A path with its `~` filled in. `~nobody` stays as written: then there is no such file, which can be said."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - that of Path raises where there is no such user


def private_folder(parent: Path, *names: str) -> Path:
    """A folder below one of the above, made private if it is new."""
    folder = parent
    for name in names:
        folder = _private(folder / name)
    return folder


def refuse_if_not_ours(path: Path) -> None:
    """Raise MMError if `path` exists and belongs to another user, or others may write to it.

    A link has to be the user's own, and so has what it leads to; that may also be the system's, as where a whole
    configuration is kept by a package manager.
    """
    try:
        link, status = path.lstat(), path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise MMError(f"`{path}` cannot be used: {error.strerror}.", "Mend that, or set MM_HOME.") from error
    linked = stat.S_ISLNK(link.st_mode)
    shown = f"`{path}`, which leads to `{os.path.realpath(path)}`," if linked else f"`{path}`"
    if link.st_uid != os.getuid() or status.st_uid not in {os.getuid(), 0 if linked else os.getuid()}:
        raise MMError(f"{shown} belongs to another user, so mm does not use it.", "Remove it, or set MM_HOME.")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise MMError(
            f"Others may write to {shown.removesuffix(',')}, so mm does not use it.", f"Run: chmod go-w '{path}'"
        )


def open_private(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file of the user's own, made 0600 if new; a link in its place is refused. Returns a descriptor."""
    refuse_if_not_ours(path)
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _private(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
    except FileExistsError as error:
        refuse_if_not_ours(path)
        if not path.is_dir():
            raise _unmade(path, error) from error
    except OSError as error:
        raise _unmade(path, error) from error
    return path


def _unmade(path: Path, error: OSError) -> MMError:
    return MMError(f"`{path}` cannot be made: {error.strerror}.", "Set MM_HOME to a folder that you may write to.")


def _platform(kind: str) -> Path:
    """MM_HOME's folder of this kind, else the platform's. platformdirs is loaded only where it decides."""
    home = os.environ.get("MM_HOME", "")
    if home:
        try:
            return Path(home).expanduser().absolute() / kind
        except RuntimeError as error:
            raise MMError(f"`MM_HOME` is `{home}`, and there is no such user.", "Give it an absolute path.") from error
    folders = importlib.import_module("platformdirs").PlatformDirs("mm", appauthor=False)
    return Path(getattr(folders, f"user_{kind}_path"))
