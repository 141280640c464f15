"""Which agent an agent file is: the one path by which trust, permissions, sessions and memory know it."""

from __future__ import annotations

import os
from pathlib import Path


def identity(file: Path) -> Path:
    """The agent file's name in its real folder: absolute, without `..`, links among the folders followed.

    Whatever else leads to that folder is another spelling of the same agent. A file that is itself a link stands
    where the link stands, as its relative paths start there: the same text in another folder starts other programs,
    so it is another agent, with its own trust, permissions, sessions and memory.
    """
    absolute = file.absolute()
    return Path(os.path.realpath(absolute.parent), absolute.name)
