"""Reads `enum` and `default` of a parameter: each has to be a value that a call may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mm.config import meant
from mm.config.flow import flow, flow_of, quoted
from mm.config.nodes import Node, Scalar, SequenceNode, kind_of, to_json
from mm.config.reader import Fields, Reader
from mm.messages import JSON
from mm.schemas.engine import BrokenSchemaError, compile_whole, first_error

_JUDGED = ("pattern", "multipleOf", "uniqueItems", "items", "properties", "additionalProperties")
"""What is left to the validator: it takes as long to load as all of mm, so the rest is compared here."""


def read_values(reader: Reader, fields: Fields, kind: str, name: str, document: Mapping[str, JSON]) -> dict[str, JSON]:
    """`enum` and `default` for the schema, as far as they are there. `document` is what it says besides."""
    found: dict[str, JSON] = {}
    if "enum" in fields:
        found["enum"] = _allowed(reader, fields["enum"], kind, name, document)
    if "default" in fields:
        value, fits = _value(reader, fields["default"], kind, "default")
        if fits:
            listed = value in found["enum"] if "enum" in found else True
            wrong = _violation(value, document) if listed else "is not in `enum`"
            if wrong:
                reader.problem(fields["default"], f"the default of `{name}` {wrong}", "Change one of the two.")
            found["default"] = value
    return found


def _allowed(reader: Reader, node: Node, kind: str, name: str, document: Mapping[str, JSON]) -> list[JSON]:
    """The values of `enum` that are of the type. One that the rest of the schema refuses could never be sent."""
    items = reader.items(node, "enum")
    values: list[JSON] = []
    for item in items:
        value, fits = _value(reader, item, kind, "enum")
        if not fits:
            continue
        values.append(value)
        wrong = _violation(value, document)
        if wrong:
            reader.problem(item, f"`{flow_of(item)}` in `enum` of `{name}` {wrong}", "Remove it, or change the other.")
    if not items and isinstance(node, SequenceNode):
        reader.problem(node, f"`enum` of `{name}` is empty: no value fits", "Remove it.")
    if len({repr(value) for value in values}) < len(values):
        reader.problem(node, f"`enum` of `{name}` has a value twice", "Remove one.")
    return values


def _value(reader: Reader, node: Node, kind: str, key: str) -> tuple[JSON, bool]:
    """A value of the parameter's type, and whether it is one. In a text, numbers keep their spelling."""
    if kind == "string" and isinstance(node, Scalar) and not node.is_null:
        return node.text, True
    value = to_json(node)
    if not _FIT_TYPE[kind](value):
        hint = _value_edit(node, kind, key)
        reader.problem(node, f"this value of `{key}` is {kind_of(node)}, and the type is `{kind}`", hint)
        return value, False
    return value, True


def _value_edit(node: Node, kind: str, key: str) -> str:
    """How to write a value of `default` or `enum` in the type of its parameter."""
    before = "" if key == "enum" else f"{key}: "
    text = node.text.strip().lower() if isinstance(node, Scalar) else ""
    if key == "default" and (text in meant.NOTHING or not text) and kind != "boolean" and isinstance(node, Scalar):
        return "Leave `default` out, and write `required: false`."
    number, truth = meant.number(node), meant.boolean(node)
    if kind in ("integer", "number") and number is not None and (kind == "number" or number == int(number)):
        return f"Write `{before}{flow(number)}`."
    if kind == "boolean" and truth is not None:
        return f"Write `{before}{flow(truth)}`."
    if kind == "array" and not isinstance(node, SequenceNode):
        return f"Write `{before}[{', '.join(map(flow_of, meant.items(node)))}]`."
    if kind == "string" and meant.text(node):
        return f"Write `{before}{quoted(meant.text(node))}`."
    fitting = next((one for one, fits in _FIT_TYPE.items() if fits(to_json(node))), "string")
    return f"Write `type: {fitting}`, or change the value."


def _is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: JSON) -> bool:
    return _is_number(value) and value == int(value)


_FIT_TYPE: dict[str, Callable[[JSON], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _violation(value: JSON, document: Mapping[str, JSON]) -> str:
    """What keeps a value from being one of its parameter; "" if nothing does."""
    checks: tuple[tuple[str, Callable[[JSON], bool], str], ...] = (
        ("minimum", lambda limit: value < limit, "is below `minimum`"),
        ("maximum", lambda limit: value > limit, "is above `maximum`"),
        ("exclusiveMinimum", lambda limit: value <= limit, "is not above `exclusiveMinimum`"),
        ("exclusiveMaximum", lambda limit: value >= limit, "is not below `exclusiveMaximum`"),
        ("minLength", lambda limit: len(value) < limit, "is shorter than `minLength`"),
        ("maxLength", lambda limit: len(value) > limit, "is longer than `maxLength`"),
        ("minItems", lambda limit: len(value) < limit, "has fewer items than `minItems`"),
        ("maxItems", lambda limit: len(value) > limit, "has more items than `maxItems`"),
    )
    found = next((words for key, breaks, words in checks if key in document and breaks(document[key])), "")
    return found or (_judged(value, document) if any(key in document for key in _JUDGED) else "")


def _judged(value: JSON, document: Mapping[str, JSON]) -> str:
    try:
        error = first_error(compile_whole(dict(document)), value)
    except BrokenSchemaError:
        return ""  # what is wrong with the schema itself is told where it stands
    return f"does not fit `{'.'.join(map(str, error.schema_path))}`" if error is not None else ""
