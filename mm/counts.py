"""Numbers with their nouns, for people and for models."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 line`, `20,000 lines`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
