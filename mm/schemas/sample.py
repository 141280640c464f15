"""Example values that a schema accepts, for the one correct call that a reply shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mm.messages import JSON
from mm.schemas.compiled import ROOT, CompiledSchema, Position, Way
from mm.schemas.sample_text import matching

MAX_DEPTH = 6
MAX_WAYS = 8
_NONE = object()
_FORMATS = {
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "date-time": "2026-01-31T12:00:00Z",
    "email": "name@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "duration": "PT1H",
}


def example(schema: CompiledSchema, wanted: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """Arguments that validate, or None if none were found.

    `wanted` is what was sent: its values are kept where they fit, its other known names get a value that does.
    """
    for way in schema.ways(ROOT)[:MAX_WAYS]:
        names = _declared(schema, way)
        for keep, extra in ((wanted, [name for name in names if name in wanted]), (wanted, []), ({}, [])):
            made = _object(schema, way, keep, extra, 0)
            if schema.is_valid(made):
                return made
    return None


def _declared(schema: CompiledSchema, way: Way) -> list[str]:
    return list(dict.fromkeys(name for properties in schema.gather(way, "properties") for name in properties))


def _object(
    schema: CompiledSchema, way: Way, keep: Mapping[str, JSON], extra: list[str], depth: int
) -> dict[str, JSON]:
    required = dict.fromkeys(name for names in schema.gather(way, "required") for name in names)
    order = [name for name in _declared(schema, way) if name in required or name in extra]
    made = {}
    for name in [*order, *(name for name in required if name not in order)]:
        position = schema.property_position(way, name)
        if name in keep and keep[name] is not None and _is_short(keep[name]) and schema.is_valid(keep[name], position):
            made[name] = keep[name]
            continue
        value = _value(schema, position, name, depth + 1)
        if value is not _NONE:
            made[name] = value
    return made


def _is_short(value: JSON) -> bool:
    if isinstance(value, str):
        return len(value) <= 80
    return not isinstance(value, (list, dict)) or (len(value) <= 5 and all(map(_is_short, _members(value))))


def _members(value: JSON) -> list[JSON]:
    return list(value.values() if isinstance(value, dict) else value)


def _value(schema: CompiledSchema, position: Position, name: str, depth: int) -> JSON:
    """A value that a position accepts, or _NONE."""
    if not position:
        return f"<{name}>"
    for way in schema.ways(position)[:MAX_WAYS]:
        for candidate in _candidates(schema, way, name, depth):
            if schema.is_valid(candidate, position):
                return candidate
    return _NONE


def _candidates(schema: CompiledSchema, way: Way, name: str, depth: int) -> Iterator[JSON]:
    yield from schema.gather(way, "const")
    for keyword in ("examples", "enum"):
        for values in schema.gather(way, keyword):
            yield from values[:20] if isinstance(values, list) else []
    yield from schema.gather(way, "default")
    types = schema.way_types(way)
    for kind in ("string", "integer", "number", "boolean", "array", "object", "null"):
        if types is None or kind in types:
            yield from _of_kind(schema, way, kind, name, depth)


def _of_kind(schema: CompiledSchema, way: Way, kind: str, name: str, depth: int) -> Iterator[JSON]:
    if kind == "string":
        yield from _texts(schema, way, name)
    elif kind in ("integer", "number"):
        yield from _numbers(schema, way)
    elif kind == "boolean":
        yield from (True, False)
    elif kind == "null":
        yield None
    elif kind == "array":
        yield from _lists(schema, way, name, depth)
    else:
        yield _object(schema, way, {}, [], depth) if depth < MAX_DEPTH else {}


def _texts(schema: CompiledSchema, way: Way, name: str) -> Iterator[str]:
    for word in schema.gather(way, "format"):
        if word in _FORMATS:
            yield _FORMATS[word]
    placeholder = f"<{name}>"
    least = max(schema.gather(way, "minLength"), default=0)
    most = min(schema.gather(way, "maxLength"), default=len(placeholder))
    for pattern in schema.gather(way, "pattern"):
        yield from matching(pattern)
    yield placeholder
    if least <= 1000:
        yield "x" * max(int(least), min(int(most), 1))


def _numbers(schema: CompiledSchema, way: Way) -> Iterator[int | float]:
    low = [value for word in ("minimum", "exclusiveMinimum") for value in schema.gather(way, word)]
    high = [value for word in ("maximum", "exclusiveMaximum") for value in schema.gather(way, word)]
    steps = schema.gather(way, "multipleOf")
    bounds = [bound for bound in low + high if not isinstance(bound, bool)]
    yield from (1, 10, 0)
    for step in steps:
        yield step
        yield from (step * (bound // step + extra) for bound in bounds for extra in (0, 1))
    for bound in bounds:
        yield from (bound, int(bound), int(bound) + 1, int(bound) - 1)
    for one in bounds:
        yield from ((one + other) / 2 for other in bounds)


def _lists(schema: CompiledSchema, way: Way, name: str, depth: int) -> Iterator[JSON]:
    least = int(max(schema.gather(way, "minItems"), default=0))
    length = schema.tuple_length(way)
    if depth >= MAX_DEPTH or max(least, length) > 20:
        yield []
        return
    for count in dict.fromkeys((max(least, length, 1), least, 0)):
        items = [_value(schema, schema.item_position(way, index), name, depth + 1) for index in range(count)]
        if _NONE not in items:
            yield items
            yield [_numbered(item, index) for index, item in enumerate(items)]


def _numbered(item: JSON, index: int) -> JSON:
    """An item made different from its neighbours, for lists that hold none twice."""
    if isinstance(item, str):
        return f"{item}{index + 1}"
    return item + index if isinstance(item, (int, float)) and not isinstance(item, bool) else item
