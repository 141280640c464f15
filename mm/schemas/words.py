"""A schema told in a few words, for replies to the model and for the descriptions that it is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mm.counts import count
from mm.messages import JSON
from mm.schemas.compiled import CompiledSchema, Position, Way

MAX_VALUES = 40
MAX_TEXT = 400
_ORDER = ("string", "integer", "number", "boolean", "array", "object", "null")


def kind_words(schema: CompiledSchema, position: Position, depth: int = 2) -> str:
    """The types that a position accepts: "integer", "array of string", "string or null", "any value"."""
    words: list[str] = []
    for way in schema.ways(position):
        for word in _way_kinds(schema, way, depth):
            if word not in words:
                words.append(word)
    if "any value" in words:
        return "any value"
    return " or ".join(words) or "nothing"


def _way_kinds(schema: CompiledSchema, way: Way, depth: int) -> list[str]:
    types = schema.way_types(way)
    if types is None:
        return ["any value"]
    named = [name for name in _ORDER if name in types]
    if "array" in named and depth and not schema.tuple_length(way):
        items = schema.item_position(way, 0)
        words = kind_words(schema, items, depth - 1) if items else "any value"
        named[named.index("array")] = "array" if words == "any value" else f"array of {words}"
    return named


def description(schema: CompiledSchema, position: Position) -> str:
    """What the author says of a position: the nearest description, in one line."""
    for place in position:
        own = schema.schemas[place]
        if isinstance(own, dict) and isinstance(own.get("description"), str) and own["description"].strip():
            return " ".join(own["description"].split())
    for way in schema.ways(position):
        for text in schema.gather(way, "description"):
            if isinstance(text, str) and text.strip():
                return " ".join(text.split())
    return ""


def facts(schema: CompiledSchema, *positions: Position) -> list[str]:
    """What positions allow beyond their types: values, bounds, patterns, default. Alternatives are joined by "or"."""
    ways = [way for position in positions for way in schema.ways(position)]
    defaults = [f"default {value_text(value)}" for way in ways for value in schema.gather(way, "default")]
    allowed = [_allowed_values(schema, way) for way in ways]
    if len(ways) > 1 and all(allowed):
        values = {value_text(value): value for values in allowed for value in values}
        return ["one of " + values_text(list(values.values())), *defaults[:1]]
    alternatives = dict.fromkeys(", ".join(_way_facts(schema, way)) for way in ways)
    told = " or ".join(text for text in alternatives if text)
    return ([told] if told else []) + defaults[:1]


def _allowed_values(schema: CompiledSchema, way: Way) -> list[JSON]:
    listed = [value for values in schema.gather(way, "enum") for value in values]
    return listed + schema.gather(way, "const")


def _way_facts(schema: CompiledSchema, way: Way) -> list[str]:
    told = []
    for values in schema.gather(way, "enum"):
        told.append("one of " + values_text(values))
    for value in schema.gather(way, "const"):
        told.append("always " + value_text(value))
    told += _number_facts(schema, way)
    told += _size_facts(_bounds(schema, way, "Length"), "character")
    told += _size_facts(_bounds(schema, way, "Items"), "item")
    told += _size_facts(_bounds(schema, way, "Properties"), "field")
    length = schema.tuple_length(way)
    if length:
        kinds = [kind_words(schema, schema.item_position(way, index), 1) for index in range(min(length, 10))]
        told.append(f"{count(length, 'item')}: " + ", ".join(kinds))
    if any(unique is True for unique in schema.gather(way, "uniqueItems")):
        told.append("no item twice")
    told += [f"matching {pattern}" for pattern in schema.gather(way, "pattern") if len(pattern) <= 200]
    told += [f"format {name}" for name in schema.gather(way, "format") if len(name) <= 40]
    return told


def _bounds(schema: CompiledSchema, way: Way, what: str) -> tuple[Any, Any]:
    least, most = schema.gather(way, f"min{what}"), schema.gather(way, f"max{what}")
    return (max(least) if least else None, min(most) if most else None)


def _number_facts(schema: CompiledSchema, way: Way) -> list[str]:
    least, most = schema.gather(way, "minimum"), schema.gather(way, "maximum")
    told = []
    if least and most:
        told.append(f"{value_text(max(least))} to {value_text(min(most))}")
    elif least or most:
        told.append(f"at least {value_text(max(least))}" if least else f"at most {value_text(min(most))}")
    for keyword, word in (("exclusiveMinimum", "above"), ("exclusiveMaximum", "below")):
        told += [f"{word} {value_text(bound)}" for bound in schema.gather(way, keyword) if not isinstance(bound, bool)]
    return told + [f"a multiple of {value_text(step)}" for step in schema.gather(way, "multipleOf")]


def _size_facts(bounds: tuple[Any, Any], unit: str) -> list[str]:
    least, most = bounds
    if not least and most is None:
        return []
    if least == most:
        return [f"exactly {count(least, unit)}"]
    if most is None:
        return ["not empty"] if least == 1 else [f"at least {count(least, unit)}"]
    if not least:
        return [f"at most {count(most, unit)}"]
    return [f"{least} to {most} {unit}s"]


def value_text(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def values_text(values: Sequence[JSON]) -> str:
    """Values as JSON, separated by commas; a long list is cut and says how many there are."""
    shown: list[str] = []
    for value in values[:MAX_VALUES]:
        if sum(map(len, shown)) > MAX_TEXT:
            break
        shown.append(value_text(value))
    rest = len(values) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
