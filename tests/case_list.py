"""The failures that people met elsewhere, as data: `cases/arguments.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "cases" / "arguments.json"


@dataclass(frozen=True, slots=True)
class Case:
    """One call and what must come of it."""

    id: str
    schema: Any
    raw: str
    expect: dict[str, Any]
    alternative: dict[str, Any] | None
    why: str


def _read() -> list[Case]:
    entries = json.loads(_FILE.read_text(encoding="utf-8"))
    return [
        Case(
            entry["id"],
            entry["tool_schema"],
            entry["model_args_raw"] if "model_args_raw" in entry else json.dumps(entry["model_args"]),
            entry["expect"],
            entry.get("alt_expect"),
            entry["why"],
        )
        for entry in entries
        if "model_text" not in entry
    ]


CASES = _read()


def expected(case: Case, received: Any, reply: str) -> bool:
    """Whether a call came out as the case wants: the arguments that the tool received, or words of the reply."""
    return _fits(case.expect, received, reply) or (
        case.alternative is not None and case.id in _TAKES_ALTERNATIVE and _fits(case.alternative, received, reply)
    )


# Where a case allows two outcomes and the contract decides for the second.
_TAKES_ALTERNATIVE: frozenset[str] = frozenset()


def _fits(expect: dict[str, Any], received: Any, reply: str) -> bool:
    if "args" in expect:
        return received is not None and _same(received, expect["args"])
    return received is None and all(word in reply for word in expect.get("error_mentions", []))


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 3 and 3.0 are one number, true and 1 are not the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
