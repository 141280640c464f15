"""What each keyword of a schema may hold, told in words: a check without a validator or a dialect's metaschema."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterator

from mm.messages import JSON
from mm.schemas.engine import is_pattern
from mm.schemas.keywords import TYPES, Dialect

Shape = tuple[Callable[[JSON], bool], str, str]
"""Whether a value fits, what is wrong if it does not, and the edit that mends it."""


_LARGEST = int(sys.float_info.max)
"""The validator compares with bounds as floats: a larger one could not be told apart from any other."""


def _is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def _is_count(value: JSON) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_texts(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_type(value: JSON) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _is_filled_list(value: JSON) -> bool:
    return isinstance(value, list) and bool(value)


def _is_boolean(value: JSON) -> bool:
    return isinstance(value, bool)


_COUNT: Shape = (_is_count, "must be a whole number that is not negative", "write a number such as 1")
_NUMBER: Shape = (_is_number, "must be a number", "write a number, without quotes")
_MAP: Shape = (lambda value: isinstance(value, dict), "must be a mapping", "write one entry a name")
_TEXT: Shape = (lambda value: isinstance(value, str), "must be a text", "put it in quotes")
_SCHEMAS: Shape = (_is_filled_list, "must be a list of schemas with at least one", "list the schemas, or remove it")
_SHAPES: dict[str, Shape] = {
    "type": (_is_type, "is not a type of JSON", "allowed: " + ", ".join(TYPES)),
    "required": (_is_texts, "must be a list of property names", 'write it as ["name", ...] beside `properties`'),
    "enum": (_is_filled_list, "must be a list of values with at least one", 'write it as ["a", "b"]'),
    "properties": _MAP,
    "patternProperties": _MAP,
    "$defs": _MAP,
    "definitions": _MAP,
    "dependentSchemas": _MAP,
    "dependentRequired": _MAP,
    "dependencies": _MAP,
    "allOf": _SCHEMAS,
    "anyOf": _SCHEMAS,
    "oneOf": _SCHEMAS,
    "prefixItems": _SCHEMAS,
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _NUMBER,
    "exclusiveMaximum": _NUMBER,
    "multipleOf": (lambda value: _is_number(value) and value > 0, "must be a number above 0", "write a number"),
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "minProperties": _COUNT,
    "maxProperties": _COUNT,
    "minContains": _COUNT,
    "maxContains": _COUNT,
    "uniqueItems": (_is_boolean, "must be true or false", "write true or false, without quotes"),
    "title": _TEXT,
    "description": _TEXT,
    "format": _TEXT,
    "$comment": _TEXT,
    "pattern": (
        lambda value: isinstance(value, str) and is_pattern(value),
        "is not a regular expression that can be used",
        "correct the expression (ECMA 262 syntax)",
    ),
}
_NEAR_TYPES = {"int": "integer", "float": "number", "double": "number", "str": "string", "text": "string"}
_NEAR_TYPES |= {"bool": "boolean", "list": "array", "dict": "object", "map": "object", "none": "null"}


def misshapen(schema: dict[str, JSON], dialect: Dialect) -> Iterator[tuple[str, str, str]]:
    """Keywords of one schema (not of its subschemas) that hold what they may not: keyword, problem, hint."""
    for keyword, value in schema.items():
        if keyword in ("exclusiveMinimum", "exclusiveMaximum") and dialect is Dialect.DRAFT_4:
            if not isinstance(value, bool):
                yield keyword, f"`{keyword}` must be true or false in {dialect}", "write true or false"
        elif keyword == "items" and isinstance(value, list) and not dialect.is_old:
            hint = f'rename it to `prefixItems`, or say `"$schema": "{Dialect.DRAFT_7.uri}"` at the top'
            yield keyword, f"`items` may not be a list in {dialect}", hint
        elif keyword in _SHAPES and not _SHAPES[keyword][0](value):
            _, wrong, hint = _SHAPES[keyword]
            yield keyword, f"`{keyword}`: {_shown(value)} {wrong}", _near_type(value) if keyword == "type" else hint


def not_a_schema(value: JSON) -> tuple[str, str]:
    """Problem and hint for something that stands where a schema belongs and is none."""
    if isinstance(value, str):
        if value in TYPES or value in _NEAR_TYPES:
            return f"{_shown(value)} is not a schema", f"write it as {{type: {_NEAR_TYPES.get(value, value)}}}"
        return f"{_shown(value)} is not a schema", f"write it as {{type: string, description: {_shown(value)}}}"
    return f"{_shown(value)} is not a schema", "write it as {type: ...}"


def _near_type(value: JSON) -> str:
    name = value if isinstance(value, str) else ""
    near = _NEAR_TYPES.get(name.lower()) or next(iter(difflib.get_close_matches(name.lower(), TYPES, n=1)), "")
    allowed = "allowed: " + ", ".join(TYPES)
    return f"did you mean `{near}`? ({allowed})" if near else allowed


def _shown(value: JSON) -> str:
    if isinstance(value, str):
        return f'"{value[:60]}"'
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return {"None": "null", "True": "true", "False": "false"}.get(str(value), str(value)[:60])
