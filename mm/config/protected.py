"""Refuses write grants that reach what the agent file itself trusts.

That is its modules, hooks, programs, skills and instructions, and mm's own folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mm import folders
from mm.config.lookups import lookups
from mm.config.reader import Reader
from mm.config.schema import Config
from mm.config.started import started
from mm.config.wasm_entry import WrittenGrant, is_inside

_HINT = "Grant a folder of its own for data, and keep programs and instructions elsewhere."
_MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class _Trusted:
    """A file or folder: every name on the way to it. In `closed`, nothing may be granted for writing."""

    what: str
    steps: tuple[Path, ...]
    closed: Path | None

    def is_reached_by(self, folder: Path) -> bool:
        """Whether it, or a name on the way to it, lies in `folder`."""
        return self.steps[-1] == folder or any(folder in step.parents for step in self.steps)


def check_write_grants(reader: Reader, config: Config, grants: Iterable[WrittenGrant]) -> None:
    """Report each write grant that contains what is trusted, or lies inside a folder that holds such files.

    The agent file's own folder may hold both a program and a granted folder, so it (and what is above it) closes
    nothing by itself.
    """
    written = [one for one in grants if one.grant.writable]
    if not written:
        return
    trusted = [_Trusted("the agent file", lookups(reader.file), None), *_trusted(config)]
    linked = _hard_linked(trusted)
    for one in written:
        reached = _reached(one, trusted) or _linked_in(one.resolved, linked)
        if reached:
            reader.problem(one.node, f"`write: {one.node.text}` {reached}", _HINT)


def _reached(one: WrittenGrant, trusted: Iterable[_Trusted]) -> str:
    for item in trusted:
        if item.is_reached_by(one.resolved):
            return f"contains {item.what}"
        if item.closed is not None and is_inside(one.resolved, item.closed):
            return f"lies in the folder of {item.what}"
    return ""


def _trusted(config: Config) -> Iterator[_Trusted]:
    home = Path(os.path.realpath(config.folder))
    for folder in folders.own_folders():
        yield _Trusted("a folder of mm's own", lookups(folder), Path(os.path.realpath(folder)))
    for told in config.instructions_files:
        yield _Trusted(f"`{told.name}` of `instructions_files`", lookups(told), None)
    for skills in config.skills:
        path = Path(os.path.realpath(skills))
        yield _Trusted("skills", lookups(skills), path if path != home else None)
    for one in started(config, _here(config)):
        steps = lookups(one.path)
        yield _Trusted(one.what, steps, None)
        for folder in {steps[-1].parent, one.path.absolute().parent} if one.sure else ():
            if not is_inside(home, folder):
                yield _Trusted(one.what, steps, folder)


def _here(config: Config) -> Path:
    try:
        return Path.cwd()
    except OSError:  # it is gone: nothing can be named from there
        return config.folder


def _hard_linked(trusted: Iterable[_Trusted]) -> dict[tuple[int, int], str]:
    """The trusted files that have a second name somewhere."""
    found = {}
    for item in trusted:
        status = _status(item.steps[-1])
        if status is not None and not os.path.isdir(item.steps[-1]) and status.st_nlink > 1:  # noqa: PTH112
            found[status.st_dev, status.st_ino] = item.what
    return found


def _linked_in(folder: Path, linked: dict[tuple[int, int], str]) -> str:
    """Whether a granted folder holds a second name of a trusted file. Looked for only if there is one somewhere."""
    if not linked:
        return ""
    count = 0
    for top, _, names in os.walk(folder):
        for name in names:
            count += 1
            status = _status(Path(top, name))
            what = linked.get((status.st_dev, status.st_ino)) if status else None
            if what:
                return f"contains {what}, under the name `{Path(top, name).relative_to(folder)}` (a hard link)"
            if count > _MOST_FILES:
                return f"holds too many files to be searched for hard links to {next(iter(linked.values()))}"
    return ""


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (OSError, ValueError):
        return None
