"""Numbers with a point or an exponent that a float cannot hold: kept exact where the author's schema wants integers.

`read` gives them as integers. Where the schema asks for numbers and not for integers they become the floats that they
would be anywhere else; everywhere else the exact integer stays, and that is said.
"""

from __future__ import annotations

import re

from mm.dispatch.json_text import Literal, read_literals
from mm.dispatch.readings import Rank, Repair
from mm.messages import JSON
from mm.schemas.compiled import ROOT, CompiledSchema, Position
from mm.schemas.keywords import Tokens

_Positions = frozenset[Position]
_CANDIDATE = re.compile(r"[0-9.]{16}|[0-9][eE]\+?[0-9]")
"""Anything shorter is exact as a float."""


def settle(schema: CompiledSchema, text: str, value: dict[str, JSON]) -> tuple[dict[str, JSON], tuple[Repair, ...]]:
    """Valid arguments that were read from a text, each such number in the form that its position asks for."""
    if not _CANDIDATE.search(text):
        return value, ()
    settling = _Settling(schema)
    literals = schema.names.restore_quietly(read_literals(text))
    settled = settling.settle(value, literals, frozenset((ROOT,)), ())
    if not settling.is_changed:
        return value, tuple(settling.repairs)
    return (settled if schema.is_valid(settled) else value), tuple(settling.repairs)


class _Settling:
    """One walk over a value, its literals and its positions, all three side by side."""

    def __init__(self, schema: CompiledSchema) -> None:
        self._schema = schema
        self._members: dict[tuple[_Positions, str | int], _Positions] = {}
        self.repairs: list[Repair] = []
        self.is_changed = False

    def settle(self, value: JSON, spelt: JSON, positions: _Positions, path: Tokens) -> JSON:
        if isinstance(value, dict) and isinstance(spelt, dict):
            return {key: self._member(item, spelt.get(key), positions, path, key) for key, item in value.items()}
        if isinstance(value, list) and isinstance(spelt, list) and len(value) == len(spelt):
            return [self._member(item, spelt[index], positions, path, index) for index, item in enumerate(value)]
        if type(value) is not int or not isinstance(spelt, Literal) or spelt.lstrip("-").isdecimal():
            return value
        types = frozenset[str]().union(*(self._schema.types(position) for position in positions))
        if "number" in types and "integer" not in types:
            self.is_changed = True
            return float(value)
        self.repairs.append(Repair(path, spelt, value, Rank.DECODED))
        return value

    def _member(self, item: JSON, spelt: JSON, positions: _Positions, path: Tokens, token: str | int) -> JSON:
        if spelt is None or (type(item) is not int and not isinstance(item, (dict, list))):
            return item
        return self.settle(item, spelt, self._inside(positions, token), (*path, token))

    def _inside(self, positions: _Positions, token: str | int) -> _Positions:
        ways = {way for position in positions for way in self._schema.ways(position)}
        if isinstance(token, int):
            token = min(token, max(map(self._schema.tuple_length, ways), default=0))
        key = (positions, token)
        if key not in self._members:
            self._members[key] = frozenset(
                self._schema.property_position(way, token)
                if isinstance(token, str)
                else self._schema.item_position(way, token)
                for way in ways
            )
        return self._members[key]
