"""Where subschemas stand in a schema, and which dialect it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from mm.messages import JSON

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
Tokens = tuple[str | int, ...]


class How(StrEnum):
    """How a subschema meets the value of the schema around it."""

    IN_PLACE = "in place"  # it judges the same value
    INSIDE = "inside"  # it judges something within the value
    APART = "apart"  # it is only there to be referred to


class Dialect(StrEnum):
    DRAFT_4 = "draft-04"
    DRAFT_6 = "draft-06"
    DRAFT_7 = "draft-07"
    DRAFT_2019 = "2019-09"
    DRAFT_2020 = "2020-12"

    @property
    def is_old(self) -> bool:
        """Whether `items` may be a list and keywords beside `$ref` are ignored."""
        return self in (Dialect.DRAFT_4, Dialect.DRAFT_6, Dialect.DRAFT_7)

    @property
    def uri(self) -> str:
        if self.is_old:
            return f"http://json-schema.org/{self}/schema#"
        return f"https://json-schema.org/draft/{self}/schema"


_SCHEMA_URI = re.compile(r"https?://json-schema\.org/(?:draft/)?(draft-0[467]|2019-09|2020-12)/schema#?")


def dialect_of(document: JSON) -> Dialect | None:
    """The dialect that `$schema` names, 2020-12 without one, None if it names something unknown."""
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is None:
        return Dialect.DRAFT_2020
    match = _SCHEMA_URI.fullmatch(named) if isinstance(named, str) else None
    return Dialect(match[1]) if match else None


_ONE = {
    "not": How.IN_PLACE,
    "if": How.IN_PLACE,
    "then": How.IN_PLACE,
    "else": How.IN_PLACE,
    "items": How.INSIDE,
    "additionalItems": How.INSIDE,
    "additionalProperties": How.INSIDE,
    "contains": How.INSIDE,
    "propertyNames": How.INSIDE,
    "unevaluatedItems": How.INSIDE,
    "unevaluatedProperties": How.INSIDE,
}
_LISTS = {"allOf": How.IN_PLACE, "anyOf": How.IN_PLACE, "oneOf": How.IN_PLACE, "prefixItems": How.INSIDE}
_MAPS = {
    "properties": How.INSIDE,
    "patternProperties": How.INSIDE,
    "dependentSchemas": How.IN_PLACE,
    "dependencies": How.IN_PLACE,
    "$defs": How.APART,
    "definitions": How.APART,
}
_APPLICATORS = frozenset(_ONE) | frozenset(_LISTS) | frozenset(_MAPS)


@dataclass(frozen=True, slots=True)
class Part:
    """Something that stands where a subschema belongs. `tokens` lead to it from the schema around it."""

    how: How
    tokens: Tokens
    schema: JSON

    @property
    def keyword(self) -> str:
        return str(self.tokens[0])


def parts(schema: JSON) -> Iterator[Part]:
    """Everything in a schema that stands where a subschema belongs, whether it is a schema or not."""
    if not isinstance(schema, dict):
        return
    for keyword in schema:
        if keyword in _APPLICATORS:
            yield from _parts_of(keyword, schema[keyword])


def _parts_of(keyword: str, value: JSON) -> Iterator[Part]:
    if keyword in _MAPS:
        if isinstance(value, dict):
            for name, item in value.items():
                if keyword != "dependencies" or not isinstance(item, list):
                    yield Part(_MAPS[keyword], (keyword, name), item)
    elif keyword in _LISTS or (keyword == "items" and isinstance(value, list)):
        if isinstance(value, list):
            how = _LISTS.get(keyword, How.INSIDE)
            for index, item in enumerate(value):
                yield Part(how, (keyword, index), item)
    else:
        yield Part(_ONE[keyword], (keyword,), value)


def declared_types(schema: JSON) -> frozenset[str] | None:
    """The types that a schema's own `type`, `enum` or `const` admits; None if it says nothing of them."""
    if not isinstance(schema, dict):
        return None
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset((named,))
    if isinstance(named, list):
        return frozenset(name for name in named if isinstance(name, str))
    if "const" in schema:
        return frozenset((type_of(schema["const"]),))
    if isinstance(schema.get("enum"), list):
        return frozenset(type_of(value) for value in schema["enum"])
    return None


def type_of(value: JSON) -> str:
    """The JSON Schema type of a value: an integer is said to be one, a float is a number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
