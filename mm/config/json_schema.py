"""The JSON Schema of the agent file, for editors: made from the table of keys that the loader checks by."""

from __future__ import annotations

from mm.config import keys
from mm.config.shapes import TEXT, Section, section
from mm.messages import JSON


def json_schema() -> dict[str, JSON]:
    """A draft 2020-12 document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent file of mm",
        **_section(keys.ROOT),
        "$defs": {
            **{table.name: _section(table) for table in keys.SECTIONS},
            "parameters": _parameters(),
            "entry": _entry(),
        },
    }


def _section(table: Section) -> dict[str, JSON]:
    properties = {
        name: {**key.shape, "description": key.says} for key in table.keys for name in (key.name, *key.aliases)
    }
    document: dict[str, JSON] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [key.name for key in table.keys if key.required]
    if required:
        document["required"] = required
    if table.one_of:
        document["oneOf"] = [{"required": [name]} for name in table.one_of]
    if table is keys.PARAMETER:
        document["allOf"] = [_values(kind) for kind in keys.PARAMETER_TYPES]
    return document


def _values(kind: str) -> dict[str, JSON]:
    """What `default` and `enum` hold where the type is said. In a text, numbers keep their spelling."""
    value = TEXT if kind == "string" else {"type": kind}
    return {
        "if": {"required": ["type"], "properties": {"type": {"const": kind}}},
        "then": {"properties": {"default": value, "enum": {"items": value}}},
    }


def _parameters() -> dict[str, JSON]:
    """A whole JSON Schema if it has `type: object` as text; else the short form."""
    return {
        "type": ["object", "null"],
        "if": {"type": "object", "required": ["type"], "properties": {"type": {"const": "object"}}},
        "else": {"additionalProperties": section("parameter")},
    }


def _entry() -> dict[str, JSON]:
    """One element of `command`: a text, a group, or a flag."""
    return {"anyOf": [TEXT, {"type": "array", "minItems": 1, "items": TEXT}, section("flag")]}
