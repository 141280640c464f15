"""The conversion rule: what a value that does not validate may be taken for, led by the author's schema.

A value that validates is never changed. Otherwise readings are tried rank by rank (decode, number to text, leave out,
wrap); one that validates is taken, two at the same rank are ambiguous, and none leaves the value as it was sent.

    _read        valid: as it is, else
    _repaired    within the bounds of depth and work, by its kind, and if nothing fits `_wrapped` into a list
      _decoded     text: `_read` of what it holds
      _as_text     a number: its literal
      _inside      a list or object: `_by_way` for each way, with each member that is not valid `_repaired`

A position is the subschemas that judge one value, a way those that describe it together, unions decided
(`mm.schemas.compiled`); an attempt is a value repaired as far as it could be, for the reply (`Readings`).
"""

from __future__ import annotations

from mm.dispatch.json_text import Literal, UnreadableError, read, read_number
from mm.dispatch.readings import Rank, Reading, Readings, Repair, Source, distinct
from mm.dispatch.spelling import Spelling
from mm.messages import JSON
from mm.schemas.compiled import ROOT, CompiledSchema, Position, Way
from mm.schemas.keywords import Tokens
from mm.schemas.wire_names import NameClashError

MAX_DEPTH = 64
"""Levels of data that the pass goes into. What lies deeper is judged, but not repaired."""


MAX_WORK = 200_000
"""Values and alternatives that one pass tries to repair: over a megabyte of numbers sent as text."""
WAY = 3
"""Steps that one alternative for a list or object costs, its members apart."""
NATIVE = 16
"""Members of a list or object that the validator judges in the time of one step of the pass."""


class TooMuchError(Exception):
    """The values that would have to be repaired are too many for one call."""


class Conversion:
    """One pass over the arguments of one call. `ambiguous` collects paths with two readings, for the reply, and
    `clashes` those of single values that hold both spellings of one name of the items of a list.

    `run` raises TooMuchError instead of taking for ever.
    """

    def __init__(self, schema: CompiledSchema, source: Source | None) -> None:
        self._schema = schema
        self._source = source
        self._known: dict[tuple[Tokens, Position, bool, Source | None], Readings] = {}
        self._spelling = Spelling(schema.names)
        self._left = MAX_WORK
        self.ambiguous: dict[Tokens, tuple[JSON, JSON]] = {}
        self.undecodable: dict[Tokens, str] = {}
        self.clashes: dict[Tokens, NameClashError] = {}

    def run(self, arguments: dict[str, JSON]) -> Readings:
        """The readings of whole arguments, which already carry the author's names."""
        return self._read(arguments, ROOT, (), self._source)

    def _read(
        self, value: JSON, position: Position, path: Tokens, source: Source | None, *, wrap: bool = True
    ) -> Readings:
        if self._schema.is_valid(value, position):
            return Readings((Reading(value),), value)
        return self._repaired(value, position, path, source, wrap=wrap)

    def _repaired(
        self, value: JSON, position: Position, path: Tokens, source: Source | None, *, wrap: bool
    ) -> Readings:
        """The readings of a value that is not valid as it is."""
        self._spend(value)
        if len(path) > MAX_DEPTH:
            return Readings((), value)
        if not isinstance(value, (dict, list)):
            return self._by_kind(value, position, path, source, wrap)
        key = (path, position, wrap, source)
        if key not in self._known:
            self._known[key] = self._by_kind(value, position, path, source, wrap)
        return self._known[key]

    def _spend(self, value: JSON, steps: int = 1) -> None:
        size = len(value) // NATIVE if isinstance(value, (dict, list)) else 0
        self._left -= steps + size
        if self._left < 0:
            raise TooMuchError

    def _by_kind(self, value: JSON, position: Position, path: Tokens, source: Source | None, wrap: bool) -> Readings:
        if isinstance(value, (dict, list)):
            result = self._inside(value, position, path, source)
        elif isinstance(value, str):
            result = self._decoded(value, position, path)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            result = self._as_text(value, position, path, source)
        else:
            result = Readings((), value)
        if wrap and value is not None and not any(reading.rank < Rank.WRAPPED for reading in result.found):
            result = self._wrapped(value, position, path, source, result)
        if len(result.found) > 1:
            self.ambiguous[path] = (result.found[0].value, result.found[1].value)
            return Readings(result.found, value)
        return result

    def _decoded(self, text: str, position: Position, path: Tokens) -> Readings:
        try:
            value = self._decode(text, position, path)
        except (UnreadableError, NameClashError) as error:
            self.undecodable[path] = getattr(error, "reason", "has both spellings of one name")
            return Readings((), text)
        if isinstance(value, str):
            return Readings((), text)
        # A scalar is not wrapped here but as the text it came from, and a number not turned back into that text.
        if not isinstance(value, (dict, list)):
            if self._schema.is_valid(value, position):
                reading = Reading(value, Rank.DECODED, (Repair(path, text, value, Rank.DECODED),))
                return Readings((reading,), value)
            return Readings((), value if _type_fits(value, self._schema.types(position)) else text)
        inner = self._read(value, position, path, Source(text, path, _first(position)))
        repair = Repair(path, text, value, Rank.DECODED)
        readings = tuple(
            Reading(each.value, max(each.rank, Rank.DECODED), (repair, *each.repairs)) for each in inner.found
        )
        fits = _type_fits(value, self._schema.types(position))
        return Readings(readings, inner.attempt if fits else text)

    def _decode(self, text: str, position: Position, path: Tokens) -> JSON:
        """What a text holds: a number, boolean, null, list or object. The text itself if it holds none of these."""
        stripped = text.strip(" \t\r\n")
        if stripped[:1] in ("[", "{"):
            return self._spelling.under_own_names(read(stripped), _first(position), path)
        word = stripped.lower() if len(stripped) < 6 else ""
        if word in ("true", "false"):
            return word == "true"
        if stripped == "null":
            return None
        types = self._schema.types(position)
        number = read_number(stripped, exact="integer" in types or "number" not in types)
        return text if number is None else number

    def _as_text(self, number: int | float, position: Position, path: Tokens, source: Source | None) -> Readings:
        if "string" in self._schema.types(position):
            text = self._spelling.literal(number, path, source)
            if self._schema.is_valid(text, position):
                repair = Repair(path, Literal(text), text, Rank.NUMBER_AS_TEXT)
                return Readings((Reading(text, Rank.NUMBER_AS_TEXT, (repair,)),), text)
            if not self._schema.types(position) & {"integer", "number"}:
                return Readings((), text)
        return Readings((), number)

    def _wrapped(
        self, value: JSON, position: Position, path: Tokens, source: Source | None, before: Readings
    ) -> Readings:
        if "array" not in self._schema.types(position) or (isinstance(value, str) and _looks_like_json(value)):
            return before
        if isinstance(value, list) and not self._holds_lists(position):
            return before  # it is no single value: `[]` where something is wanted does not mean `[[]]`
        try:
            item, item_source = self._spelling.as_item(value, _first(position), path, source)
        except NameClashError as error:
            self.clashes[path] = error
            return before
        inner = self._inside([item], position, path, item_source, wrapping=True)
        if self._schema.is_valid([item], position):
            inner = Readings((Reading([item]),), [item])
        readings = [*before.found]
        for reading in inner.found:
            repairs = [repair for repair in reading.repairs if repair.path != path]
            repair = Repair(path, self._spelling.as_spelt(value, path, source), reading.value, Rank.WRAPPED)
            readings.append(Reading(reading.value, Rank.WRAPPED, (repair, *repairs)))
        wants_only_lists = self._schema.types(position) == {"array"}
        attempt = inner.attempt if wants_only_lists and not isinstance(value, (dict, list)) else before.attempt
        return Readings(distinct(readings), readings[0].value if readings else attempt)

    def _holds_lists(self, position: Position) -> bool:
        """Whether the items of a list here have to be lists themselves."""
        firsts = [self._schema.item_position(way, 0) for way in self._schema.ways(position)]
        return any(self._schema.types(first) == {"array"} for first in firsts)

    def _inside(
        self, value: JSON, position: Position, path: Tokens, source: Source | None, *, wrapping: bool = False
    ) -> Readings:
        """The readings of an object or list by its members, each way of the position for itself."""
        readings: list[Reading] = []
        attempt = value
        kind = "object" if isinstance(value, dict) else "array"
        for way in self._schema.ways(position):
            types = self._schema.way_types(way)
            if types is not None and kind not in types:
                continue
            self._spend(value, WAY)
            tried = self._by_way(value, way, path, source, wrapping)
            if self._schema.is_valid(tried.value, position):
                readings.append(tried)
            elif attempt is value:
                attempt = tried.value
        best = min((reading.rank for reading in readings), default=Rank.KEPT)
        best_ones = distinct([reading for reading in readings if reading.rank == best])
        return Readings(best_ones, best_ones[0].value if best_ones else attempt)

    def _by_way(self, value: JSON, way: Way, path: Tokens, source: Source | None, wrapping: bool) -> Reading:
        if isinstance(value, dict):
            return self._object_by_way(value, way, path, source)
        length = self._schema.tuple_length(way)
        first = [self._schema.item_position(way, index) for index in range(min(length, len(value)))]
        rest = self._schema.item_position(way, length)
        items: list[JSON] = []
        rank, repairs = Rank.KEPT, list[Repair]()
        for index, item in enumerate(value):
            position = first[index] if index < length else rest
            if self._schema.is_valid(item, position):
                items.append(item)
                continue
            place = path if wrapping else (*path, index)
            result = self._repaired(item, position, place, source, wrap=not wrapping)
            reading = result.found[0] if len(result.found) == 1 else Reading(result.attempt)
            items.append(reading.value)
            rank = max(rank, reading.rank)
            repairs += reading.repairs
        return Reading(items, rank, tuple(repairs))

    def _object_by_way(self, value: dict[str, JSON], way: Way, path: Tokens, source: Source | None) -> Reading:
        made: dict[str, JSON] = {}
        rank, repairs = Rank.KEPT, list[Repair]()
        for key, item in value.items():
            position = self._schema.property_position(way, key)
            if self._schema.is_valid(item, position):
                made[key] = item
                continue
            result = self._repaired(item, position, (*path, key), source, wrap=True)
            if not result.found and item is None and self._may_be_left_out(way, key):
                rank = max(rank, Rank.LEFT_OUT)
                repairs.append(Repair((*path, key), None, None, Rank.LEFT_OUT))
                continue
            reading = result.found[0] if len(result.found) == 1 else Reading(result.attempt)
            made[key] = reading.value
            rank = max(rank, reading.rank)
            repairs += reading.repairs
        return Reading(made, rank, tuple(repairs))

    def _may_be_left_out(self, way: Way, key: str) -> bool:
        declared = any(key in properties for properties in self._schema.gather(way, "properties"))
        return declared and not any(key in names for names in self._schema.gather(way, "required"))


def _first(position: Position) -> str:
    """The subschema that names the members of a position; "" if nothing is known of it."""
    return position[0] if position else ""


def _type_fits(value: JSON, types: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, (int, float)):
        return bool(types & {"integer", "number"})
    return {type(None): "null", list: "array", dict: "object"}.get(type(value), "string") in types


def _looks_like_json(text: str) -> bool:
    """Whether a text is nothing, or is or is meant to be a JSON list, object, string or null: no single item."""
    stripped = text.strip()
    if stripped in ("", "null") or stripped[0] in ("[", '"'):
        return True
    if stripped[0] != "{":
        return False
    try:
        read(stripped)
    except UnreadableError:
        return stripped[1:].lstrip()[:1] in ('"', "'")
    return True
