"""File name patterns: `*` and `?` within a name, `**` any folders, `{a,b}` either, `[abc]` one of.

Standard library only. Matching takes time linear in pattern and path, whatever the pattern.
"""

from __future__ import annotations

import fnmatch
import re

_MOST_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*)\}")


class Glob:
    """A pattern for paths relative to the searched folder. Without `/` it matches the name at any depth."""

    def __init__(self, pattern: str) -> None:
        whole = pattern.removeprefix("./").strip("/") or "*"
        self._alternatives = [_segments(text) for text in _expanded(whole)]

    def matches(self, path: str) -> bool:
        """Whether a relative path, with `/` between its names, fits."""
        names = path.split("/")
        return any(_fits(names, segments) for segments in self._alternatives)


def _segments(pattern: str) -> list[re.Pattern[str] | None]:
    """One expression per name; None stands for any number of folders."""
    names = pattern.split("/") if "/" in pattern else ["**", pattern]
    return [None if name == "**" else re.compile(fnmatch.translate(name)) for name in names]


def _fits(names: list[str], segments: list[re.Pattern[str] | None]) -> bool:
    reached = {0}  # how many names may have been matched so far
    for segment in segments:
        if not reached:
            return False
        if segment is None:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {place + 1 for place in reached if place < len(names) and segment.match(names[place])}
    return len(names) in reached


def _expanded(pattern: str) -> list[str]:
    """The patterns that braces stand for. Where they stand for too many, they stay as they are."""
    braces = _BRACES.search(pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    rest = _expanded(after)
    choices = braces[1].split(",")
    if len(choices) * len(rest) > _MOST_ALTERNATIVES:
        return [pattern]
    return [f"{before}{choice}{end}" for choice in choices for end in rest]
