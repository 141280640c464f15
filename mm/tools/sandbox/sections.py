"""Counts what a module imports and exports before it is compiled: setting up each of them takes time."""

from __future__ import annotations

from collections.abc import Iterator

_KINDS = {2: "imports", 7: "exports"}  # ids of sections, see the WebAssembly specification, "Modules" in 5.5
_HEADER_SIZE = 8
_MOST_SECTIONS = 10_000
_MOST = 10_000


def describe_counts(binary: bytes) -> str | None:
    """What a module has too much of, as a clause. None: nothing, or bytes that the compiler will refuse."""
    for number, (kind, count) in enumerate(_sections(binary)):
        if number >= _MOST_SECTIONS:
            return f"has more than {_MOST_SECTIONS:,} sections"
        if kind in _KINDS and count > _MOST:
            return f"has {count:,} {_KINDS[kind]}, and mm takes {_MOST:,} at most: each costs time in every call"
    return None


def _sections(binary: bytes) -> Iterator[tuple[int, int]]:
    """The id of each section, and the number that its content begins with."""
    place = _HEADER_SIZE
    while place < len(binary):
        kind = binary[place]
        size, place = _read_number(binary, place + 1)
        yield kind, _read_number(binary, place)[0]
        place += size


def _read_number(binary: bytes, place: int) -> tuple[int, int]:
    """An unsigned LEB128 number of up to 32 bits, and the place behind it."""
    number = 0
    for shift, byte in zip(range(0, 35, 7), binary[place : place + 5], strict=False):
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            break
    return number, place
