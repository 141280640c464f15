"""A schema ready for use: it judges values at any position and tells which subschemas describe their members."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from mm.messages import JSON
from mm.schemas.branching import SAFE_DEPTH, branches
from mm.schemas.engine import Validator, compile_parts, compile_whole, pattern_validator
from mm.schemas.keywords import Tokens, declared_types, parts
from mm.schemas.mend import Mended, mend
from mm.schemas.references import escape, find, pointer
from mm.schemas.schema import Schema
from mm.schemas.wire_names import WireNames, wire_names

Position = tuple[str, ...]
"""`#/pointers` of subschemas that all judge one value. The empty position accepts anything."""

Way = tuple[str, ...]
"""`#/pointers` of subschemas that describe a value together, with references followed and unions decided."""

ROOT: Position = ("#",)
MAX_WAYS = 64
MAX_STEPS = 100
MAX_REMEMBERED = 10_000
_UNIONS = ("anyOf", "oneOf")
_NUMBERS = frozenset(("number", "integer"))


def compiled(schema: Schema) -> CompiledSchema:
    """The compiled form of a schema, made once. A position that cannot be used accepts nothing."""
    form = schema.compiled_form
    if not isinstance(form, CompiledSchema):
        form = schema.compiled_form = CompiledSchema(mend(schema.document, broken=False))
    return form


class CompiledSchema:
    def __init__(self, mended: Mended) -> None:
        self.document = mended.document
        self.problems = mended.problems
        self._dialect = mended.dialect
        self._ways: dict[Position, tuple[Way, ...]] = {}
        self._expansions: dict[str, list[Way]] = {}
        self._validators: dict[Position, list[Validator]] = {}
        self._types: dict[Position, frozenset[str]] = {}
        self._way_types: dict[Way, frozenset[str] | None] = {}
        self._lengths: dict[Way, int] = {}
        self._properties: dict[tuple[Way, str], Position] = {}
        self._items: dict[tuple[Way, int], Position] = {}

    @cached_property
    def _whole(self) -> Validator:
        return compile_whole(self.document)

    @cached_property
    def _parts(self) -> Any:
        return compile_parts(self.document)

    @cached_property
    def names(self) -> WireNames:
        return wire_names(self.document)

    @cached_property
    def schemas(self) -> Mapping[str, JSON]:
        """Every subschema by its `#/pointer`, those included that only a reference leads to."""
        found: dict[str, JSON] = {}
        todo: list[Tokens] = [()]
        while todo:
            tokens = todo.pop()
            place = pointer(tokens)
            if place in found:
                continue
            schema: JSON = self.document
            for token in tokens:
                schema = schema[token]
            found[place] = schema
            todo.extend((*tokens, *part.tokens) for part in parts(schema))
            if isinstance(schema, dict) and "$ref" in schema:
                todo.append(find(self.document, schema["$ref"]))
        return found

    @cached_property
    def max_depth(self) -> int | None:
        """Levels of data beyond which judging could take for ever; None if it cannot."""
        recursive = "$ref" in repr(self.document) and branches(self.document, self.schemas)
        return SAFE_DEPTH if recursive else None

    def is_valid(self, value: JSON, position: Position = ROOT) -> bool:
        """Whether all subschemas of a position accept the value. Raises BrokenSchemaError."""
        validators = self._validators.get(position) or self.validators(position)
        if len(validators) == 1:
            return validators[0].is_valid(value)
        return all(validator.is_valid(value) for validator in validators)

    def validators(self, position: Position) -> list[Validator]:
        if position not in self._validators:
            self._validators[position] = [self._whole if place == "#" else self._parts[place] for place in position]
        return self._validators[position]

    def ways(self, position: Position) -> tuple[Way, ...]:
        """The ways to read a position, at most MAX_WAYS: each alternative of its unions is one of its own."""
        if position not in self._ways:
            ways: list[Way] = [()]
            for place in position:
                ways = _combined(ways, self._expanded(place))
            self._ways[position] = tuple(ways)
        return self._ways[position]

    def _expanded(self, place: str, depth: int = 0) -> list[Way]:
        """The ways of one subschema. Beyond MAX_STEPS of references and unions nothing more is known of it."""
        if place not in self._expansions:
            self._expansions[place] = self._expand(place, depth + 1) if depth < MAX_STEPS else [()]
        return self._expansions[place]

    def _expand(self, place: str, depth: int) -> list[Way]:
        schema = self.schemas[place]
        if not isinstance(schema, dict):
            return [()] if schema else []
        ways: list[Way] = [()]
        if "$ref" in schema:
            ways = self._expanded(pointer(find(self.document, schema["$ref"])), depth)
            if self._dialect.is_old:
                return ways
        ways = _combined(ways, [(place,)])
        for index in range(len(schema.get("allOf", ()))):
            ways = _combined(ways, self._expanded(f"{place}/allOf/{index}", depth))
        for keyword in _UNIONS:
            if keyword in schema:
                inner = [self._expanded(f"{place}/{keyword}/{index}", depth) for index in range(len(schema[keyword]))]
                ways = _combined(ways, [way for alternative in inner for way in alternative])
        for alternatives in self._conditions(place, schema, depth):
            ways = _combined(ways, alternatives)
        return ways

    def _conditions(self, place: str, schema: dict[str, JSON], depth: int) -> list[list[Way]]:
        """What may or may not apply: `then` and `else` are two alternatives, a dependent schema and none likewise."""
        conditions = []
        if "if" in schema and ("then" in schema or "else" in schema):
            yes: list[Way] = self._expanded(f"{place}/then", depth) if "then" in schema else [()]
            no: list[Way] = self._expanded(f"{place}/else", depth) if "else" in schema else [()]
            conditions.append(_combined(self._expanded(f"{place}/if", depth), yes) + no)
        for name in schema.get("dependentSchemas", {}):
            none: list[Way] = [()]
            conditions.append(self._expanded(f"{place}/dependentSchemas/{escape(name)}", depth) + none)
        return conditions

    def types(self, position: Position) -> frozenset[str]:
        """All types that some way of a position names."""
        if position not in self._types:
            named = [self.way_types(way) or frozenset() for way in self.ways(position)]
            self._types[position] = frozenset[str]().union(*named)
        return self._types[position]

    def way_types(self, way: Way) -> frozenset[str] | None:
        """The types that a way names, None if it says nothing of them."""
        if way not in self._way_types:
            self._way_types[way] = self._types_of(way)
        return self._way_types[way]

    def _types_of(self, way: Way) -> frozenset[str] | None:
        types: frozenset[str] | None = None
        for place in way:
            declared = declared_types(self.schemas[place])
            if declared is not None:
                types = declared if types is None else _both(types, declared)
        return types

    def property_position(self, way: Way, name: str) -> Position:
        """The position of a property in an object that is read this way."""
        key = (way, name)
        if key not in self._properties:
            position = self._property_position(way, name)
            if len(self._properties) >= MAX_REMEMBERED:
                return position
            self._properties[key] = position
        return self._properties[key]

    def _property_position(self, way: Way, name: str) -> Position:
        found = []
        for place in way:
            found += self._property_places(place, name)
        if not found:
            found = [f"{place}/unevaluatedProperties" for place in way if self._has(place, "unevaluatedProperties")]
        return tuple(dict.fromkeys(found))

    def _property_places(self, place: str, name: str) -> list[str]:
        schema = self.schemas[place]
        found = []
        if name in schema.get("properties", ()):
            found.append(f"{place}/properties/{escape(name)}")
        for pattern in schema.get("patternProperties", ()):
            if pattern_validator(pattern).is_valid(name):
                found.append(f"{place}/patternProperties/{escape(pattern)}")
        if not found and "additionalProperties" in schema:
            found.append(f"{place}/additionalProperties")
        return found

    def item_position(self, way: Way, index: int) -> Position:
        """The position of an item in a list that is read this way."""
        key = (way, min(index, self.tuple_length(way)))
        if key not in self._items:
            self._items[key] = self._item_position(*key)
        return self._items[key]

    def _item_position(self, way: Way, index: int) -> Position:
        found = []
        for place in way:
            schema = self.schemas[place]
            tuple_keyword, rest = "prefixItems", "items"
            if isinstance(schema.get("items"), list):
                tuple_keyword, rest = "items", "additionalItems"
            if index < len(schema.get(tuple_keyword, ())):
                found.append(f"{place}/{tuple_keyword}/{index}")
            elif rest in schema:
                found.append(f"{place}/{rest}")
        if not found:
            found = [f"{place}/unevaluatedItems" for place in way if self._has(place, "unevaluatedItems")]
        return tuple(dict.fromkeys(found))

    def tuple_length(self, way: Way) -> int:
        """How many first items have a position of their own."""
        if way not in self._lengths:
            self._lengths[way] = self._tuple_length(way)
        return self._lengths[way]

    def _tuple_length(self, way: Way) -> int:
        lengths = [0]
        for place in way:
            schema = self.schemas[place]
            items = schema.get("items")
            lengths.append(len(items if isinstance(items, list) else schema.get("prefixItems", ())))
        return max(lengths)

    def _has(self, place: str, keyword: str) -> bool:
        return keyword in self.schemas[place]

    def gather(self, way: Way, keyword: str) -> list[JSON]:
        """The values of a keyword along a way, in order."""
        return [self.schemas[place][keyword] for place in way if keyword in self.schemas[place]]


def _combined(ways: list[Way], alternatives: list[Way]) -> list[Way]:
    combined = [tuple(dict.fromkeys(way + other)) for way in ways for other in alternatives[:MAX_WAYS]]
    return list(dict.fromkeys(combined))[:MAX_WAYS]


def _both(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    """The types that both name; an integer is a number too."""
    numbers = frozenset(("integer",)) if {"number", "integer"} <= one | other else frozenset[str]()
    return one & other | (numbers if one & _NUMBERS and other & _NUMBERS else frozenset())
