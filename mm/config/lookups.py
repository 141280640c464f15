"""Which names are looked up on the way to a path: whoever may change one of them decides where the path leads."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

_MOST_LINKS = 40  # as in Linux


def lookups(path: Path) -> tuple[Path, ...]:
    """Every name on the way to `path`, links followed, each in its real folder; the last is where it leads.

    What is missing counts as if it were there. A path without an end (links in a circle) breaks off.
    """
    found: list[Path] = []
    names = deque(path.absolute().parts[1:])
    here, links = Path("/"), 0
    while names and links <= _MOST_LINKS:
        name = names.popleft()
        if name == "..":
            here = here.parent
            continue
        found.append(here / name)
        target = _target(here / name)
        if target is None:
            here /= name
            continue
        links += 1
        here = Path("/") if target.is_absolute() else here
        names.extendleft(reversed([part for part in target.parts if part != "/"]))
    return (*found, here)


def passes(path: Path, folder: Path) -> bool:
    """Whether a name on the way to `path` lies in `folder` (resolved), links followed."""
    return any(folder in step.parents for step in lookups(path))


def _target(path: Path) -> Path | None:
    try:
        return Path(os.readlink(path))  # noqa: PTH115 - a link may lead to ""
    except (OSError, ValueError):
        return None
