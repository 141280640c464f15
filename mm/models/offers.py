"""A tool as the model is shown it: small, legal for strict servers, and the same bytes every time.

`required`, `enum` and all other limits are said in the descriptions and not sent as keywords, because servers that
enforce them end the turn on a slip. Only `type`, `description`, `properties`, `items`, `additionalProperties` and
`anyOf` are sent: forms that the grammars of llama.cpp and the checks of OpenAI accept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from mm.messages import JSON, ToolOffer
from mm.schemas.compiled import ROOT, CompiledSchema, Position, Way, compiled
from mm.schemas.mend import mend
from mm.schemas.schema import Schema
from mm.schemas.words import description as said
from mm.schemas.words import facts, kind_words

ASKS_FOR_FIELDS = "Pass each parameter as its own field."
MAX_DEPTH = 8
MAX_NODES = 200
"""Subschemas of one offer. What goes beyond is offered as a plain object or list, and still judged in full."""
MAX_ALTERNATIVES = 8

_SCALARS = ("string", "integer", "number", "boolean")
_FREE_OBJECT: dict[str, JSON] = {"type": "object", "properties": {}, "additionalProperties": True}
_FREE_ITEMS: list[JSON] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, _FREE_OBJECT]
_FREE_LIST: dict[str, JSON] = {"type": "array", "items": {"anyOf": _FREE_ITEMS}}
_ANYTHING: list[JSON] = [*_FREE_ITEMS, _FREE_LIST]


def offer(name: str, description: str, schema: Schema) -> ToolOffer:
    """The offer of one tool. A position whose schema cannot be used is offered as taking any value."""
    form = compiled(schema)
    if form.problems:
        form = CompiledSchema(mend(schema.document))
    parameters = _Drawing(form).parameters()
    text = description.strip()
    if parameters["properties"]:
        text = f"{_ended(text)} {ASKS_FOR_FIELDS}".strip()
    return ToolOffer(name, text, parameters)


def _ended(text: str) -> str:
    return text + "." if text and text[-1].isalnum() else text


class _Drawing:
    """One walk over a schema by its positions, references followed and unions laid out."""

    def __init__(self, schema: CompiledSchema) -> None:
        self._schema = schema
        self._nodes = 0

    def parameters(self) -> dict[str, JSON]:
        """The root: one object with the properties of all its ways, since unions are refused there."""
        ways = self._schema.ways(ROOT)
        if not ways:
            return {"type": "object", "properties": {}}
        return {"type": "object", "properties": self._properties(ways, (self._identity(ROOT),))}

    def _properties(self, ways: Sequence[Way], inside: tuple[Position, ...]) -> dict[str, JSON]:
        required = [{name for names in self._schema.gather(way, "required") for name in names} for way in ways]
        always = set.intersection(*required)
        positions: dict[str, list[Position]] = {}
        for way in ways:
            for properties in self._schema.gather(way, "properties"):
                for name in properties:
                    positions.setdefault(name, []).append(self._schema.property_position(way, name))
        drawn = {}
        for name, places in positions.items():
            unique = list(dict.fromkeys(places))
            shape = self._shape(unique, inside)
            if shape is not None:
                words = self._words(unique, required=name in always)
                drawn[self._wire(ways, name)] = {**shape, "description": words} if words else shape
        return drawn

    def _wire(self, ways: Sequence[Way], name: str) -> str:
        group = self._schema.names.group(ways[0][0])
        return str(group.renamed.get(name, name)) if group else name

    def _words(self, positions: Sequence[Position], *, required: bool) -> str:
        told = ["required"] if required else []
        told += facts(self._schema, *positions)
        if any("null" in self._schema.types(position) for position in positions):
            told.append("may be null")
        text = next((text for text in (said(self._schema, position) for position in positions) if text), "")
        extras = "; ".join(told)
        if not text or not extras:
            return text or extras
        return f"{text} ({extras})"

    def _shape(self, positions: Sequence[Position], inside: tuple[Position, ...]) -> dict[str, JSON] | None:
        """One schema for a value that any of the positions may judge; None where nothing is allowed."""
        self._nodes += 1
        shapes: list[JSON] = []
        for position in positions:
            again = self._identity(position) in inside or len(inside) >= MAX_DEPTH or self._nodes > MAX_NODES
            for way in self._schema.ways(position):
                for shape in self._alternatives(way, (*inside, self._identity(position)), again=again):
                    if shape not in shapes:
                        shapes.append(shape)
        if {"type": "number"} in shapes and {"type": "integer"} in shapes:
            shapes.remove({"type": "integer"})
        if len(shapes) > 1 and {"type": "null"} in shapes:
            shapes.remove({"type": "null"})
        if len(shapes) == 1:
            return dict(shapes[0])
        if len(shapes) > MAX_ALTERNATIVES or all(shape in shapes for shape in _ANYTHING):
            shapes = _by_type(shapes)
        return {"anyOf": shapes} if shapes else None

    def _identity(self, position: Position) -> Position:
        """What a position comes down to: equal for all references to one schema."""
        places = dict.fromkeys(place for way in self._schema.ways(position) for place in way)
        return tuple(place for place in places if "$ref" not in self._schema.schemas[place])

    def _alternatives(self, way: Way, inside: tuple[Position, ...], *, again: bool) -> list[dict[str, JSON]]:
        types = self._schema.way_types(way)
        if types is None:
            types = self._implied(way)
        if types is None:
            return list(_ANYTHING)
        shapes: list[dict[str, JSON]] = [{"type": name} for name in _SCALARS if name in types]
        if "array" in types:
            shapes.append(_FREE_LIST if again else self._list(way, inside))
        if "object" in types:
            shapes.append(_FREE_OBJECT if again else self._object(way, inside))
        return shapes + ([{"type": "null"}] if "null" in types else [])

    def _implied(self, way: Way) -> frozenset[str] | None:
        """The type that the author meant where only keywords of one type stand."""
        if any(self._schema.gather(way, word) for word in ("properties", "required")):
            return frozenset(("object",))
        if any(self._schema.gather(way, word) for word in ("items", "prefixItems")):
            return frozenset(("array",))
        return frozenset(("string",)) if self._schema.gather(way, "pattern") else None

    def _list(self, way: Way, inside: tuple[Position, ...]) -> dict[str, JSON]:
        length = min(self._schema.tuple_length(way), MAX_ALTERNATIVES)
        positions = [self._schema.item_position(way, index) for index in range(length)]
        rest = self._schema.item_position(way, length)
        if not positions or not self._closes(rest):
            positions.append(rest)
        positions = [position for position in dict.fromkeys(positions) if position]
        shape = self._shape(positions, inside) if positions else None
        if shape is None:
            return _FREE_LIST
        words = self._words(positions, required=False) if len(positions) == 1 else ""
        return {"type": "array", "items": {**shape, "description": words} if words else shape}

    def _object(self, way: Way, inside: tuple[Position, ...]) -> dict[str, JSON]:
        properties = self._properties([way], inside) if way else {}
        if properties:
            return {"type": "object", "properties": properties}
        others = self._others(way)
        if others is None:
            return _FREE_OBJECT
        shape = self._shape([others], inside)
        if shape is None:
            return {"type": "object", "properties": {}}
        if kind_words(self._schema, others) == "any value":
            return _FREE_OBJECT
        return {"type": "object", "properties": {}, "additionalProperties": shape}

    def _others(self, way: Way) -> Position | None:
        """The position of the values of a map, None if anything goes."""
        places = []
        for place in way:
            schema = self._schema.schemas[place]
            patterns = list(schema.get("patternProperties", ()))
            if len(patterns) == 1:
                places.append(f"{place}/patternProperties/{patterns[0].replace('~', '~0').replace('/', '~1')}")
            elif not patterns and "additionalProperties" in schema:
                places.append(f"{place}/additionalProperties")
        return tuple(places) or None

    def _closes(self, position: Position) -> bool:
        return bool(position) and not self._schema.ways(position)


def _by_type(shapes: Sequence[JSON]) -> list[JSON]:
    """One plain shape a type, for unions with too many members."""
    types = {shape["type"] for shape in shapes}
    plain = [shape for shape in _ANYTHING if shape["type"] in types]
    if "integer" in types and "number" not in types:
        plain.append({"type": "integer"})
    return plain


def size(parameters: JSON) -> int:
    """Bytes of a schema on the wire."""
    return len(json.dumps(parameters, ensure_ascii=False, separators=(",", ":")).encode())
