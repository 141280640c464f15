"""The names under which tools of MCP servers are offered: `mcp__server__tool`, legal, short and distinct."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 64  # characters that every model server accepts
_LONGEST_SERVER = 28
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


def server_prefixes(names: Iterable[str]) -> dict[str, str]:
    """`mcp__server__` for each server of the agent file."""
    return {name: f"mcp__{legal}__" for name, legal in _distinct([*names], _LONGEST_SERVER).items()}


def tool_names(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """The server's own names -> the names that the model sees, each at most 64 characters.

    A name that is legal is kept, so that a rule about it never comes to mean another tool. One that had to be
    changed gets some digits of its own where it could be mixed up with another one.
    """
    return {name: prefix + legal for name, legal in _distinct([*names], LONGEST - len(prefix)).items()}


def _distinct(names: list[str], longest: int) -> dict[str, str]:
    looks = Counter(_folded(_ILLEGAL.sub("_", name)) for name in dict.fromkeys(names))
    return {name: _legal(name, longest, alone=looks[_folded(_ILLEGAL.sub("_", name))] == 1) for name in names}


def _legal(name: str, longest: int, *, alone: bool) -> str:
    legal = _ILLEGAL.sub("_", name)
    if len(legal) <= longest and (legal == name or (alone and legal.strip("_-"))):
        return legal
    digits = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{legal[: longest - 7]}_{digits}"


def _folded(name: str) -> str:
    """What is left of a name for a model that mixes up case, `-` and `_`."""
    return name.lower().replace("-", "_")
