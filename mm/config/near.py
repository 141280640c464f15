"""The known name that is written most like another."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """`Did you mean `x`?`, or nothing if no known name is near."""
    near = nearest(text, known)
    return f"Did you mean `{near}`?" if near else ""


def nearest(text: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known name that is written most like `text`, or "" if none is near."""
    folded = {name.lower().replace("-", "_"): name for name in known}
    near = difflib.get_close_matches(text.lower().replace("-", "_"), folded, n=1, cutoff=cutoff)
    return folded[near[0]] if near else ""
