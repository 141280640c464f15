"""Finds the agent file of a folder: in it, in a folder above it, or the user's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mm import folders

NAMES = ("agent.yaml", ".mm/agent.yaml")


@dataclass(frozen=True, slots=True)
class Found:
    """An agent file. `own` says that it is the user's own, from the folder of mm's configuration: no trust needed."""

    path: Path
    own: bool


def find(start: Path, environ: Mapping[str, str]) -> Found | None:
    """The nearest agent file from `start` upwards, else the user's own, else None.

    Never above the home folder, across a mount, or a file (or its folder) that belongs to somebody else.
    """
    for path in _candidates(start, environ):
        if _is_ours(path):
            return Found(path, own=False)
    own = folders.own_folders()[0] / "agent.yaml"
    if own.is_file():
        folders.refuse_if_not_ours(own)
        return Found(own, own=True)
    return None


def passed_over(start: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Agent files on the way that `find` does not use, since they belong to another user."""
    return tuple(path for path in _candidates(start, environ) if not _is_ours(path))


def _candidates(start: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    folder = Path(os.path.realpath(start))
    home = Path(os.path.realpath(environ["HOME"])) if environ.get("HOME") else None
    device = folder.stat().st_dev
    for here in (folder, *folder.parents):
        try:
            if here.stat().st_dev != device:
                return
        except OSError:
            return
        for name in NAMES:
            path = here / name
            if _is_regular(path):
                yield path
        if here == home:
            return


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _is_ours(path: Path) -> bool:
    """Whether the file, the link to it and the folder it stands in belong to the user."""
    user = os.getuid()
    try:
        owners = {path.lstat().st_uid, path.stat().st_uid, path.parent.stat().st_uid}
    except OSError:
        return False
    return owners == {user}
