"""What a value may be taken for, and what it takes to get there. Named tuples: one call can need a hundred thousand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from mm.dispatch.json_text import canonical
from mm.messages import JSON
from mm.schemas.keywords import Tokens


class Rank(IntEnum):
    """What was done to a value, the most far-reaching step of it. Lower ranks win."""

    KEPT = 0
    DECODED = 1
    NUMBER_AS_TEXT = 2
    LEFT_OUT = 3
    WRAPPED = 4


class Repair(NamedTuple):
    """One step of a conversion: what was sent at a path, and what it was taken for (LEFT_OUT: for nothing)."""

    path: Tokens
    sent: JSON
    taken: JSON
    rank: Rank


class Reading(NamedTuple):
    """A value that validates, and what it took to get there."""

    value: JSON
    rank: Rank = Rank.KEPT
    repairs: tuple[Repair, ...] = ()


class Readings(NamedTuple):
    """All valid readings of the lowest rank: exactly one is an answer. `attempt` is the value, repaired so far."""

    found: tuple[Reading, ...]
    attempt: JSON


@dataclass(frozen=True, slots=True)
class Source:
    """The JSON text that a value was read from, where in the arguments that value stands, and the `#/pointer` of the
    subschema whose names it uses. `is_item`: it was sent in place of a list there, and uses the names of its items."""

    text: str
    path: Tokens = ()
    place: str = "#"
    is_item: bool = False


def distinct(readings: list[Reading]) -> tuple[Reading, ...]:
    """Readings of different values, the first of each."""
    if len(readings) < 2:
        return tuple(readings)
    return tuple({canonical(reading.value): reading for reading in reversed(readings)}.values())[::-1]
