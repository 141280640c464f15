"""The JSON Schema of the agent file, for editors: made from the table of keys that the loader checks by."""

from __future__ import annotations

from mm.config import keys
from mm.messages import JSON


def json_schema() -> dict[str, JSON]:
    """A draft 2020-12 document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent file of mm",
        **_section(keys.ROOT),
        "$defs": {
            **{section.name: _section(section) for section in keys.SECTIONS},
            "parameters": _parameters(),
            "entry": _entry(),
        },
    }


def _section(section: keys.Section) -> dict[str, JSON]:
    properties = {
        name: {**key.shape, "description": key.says} for key in section.keys for name in (key.name, *key.aliases)
    }
    document: dict[str, JSON] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [key.name for key in section.keys if key.required]
    if required:
        document["required"] = required
    if section.one_of:
        document["oneOf"] = [{"required": [name]} for name in section.one_of]
    return document


def _parameters() -> dict[str, JSON]:
    """A whole JSON Schema if it has `type: object` as text; else the short form."""
    return {
        "type": ["object", "null"],
        "if": {"type": "object", "required": ["type"], "properties": {"type": {"const": "object"}}},
        "else": {"additionalProperties": keys.section("parameter")},
    }


def _entry() -> dict[str, JSON]:
    """One element of `command`: a text, a group, or a flag."""
    return {"anyOf": [keys.TEXT, {"type": "array", "minItems": 1, "items": keys.TEXT}, keys.section("flag")]}
