"""What the model is shown of a tool: small, legal, complete in words."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mm.models.offers import ASKS_FOR_FIELDS, offer
from mm.schemas.schema import Schema

SENT = {"type", "description", "properties", "items", "additionalProperties", "anyOf"}
NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}, "n n": {}}}
HOSTILE = {
    "empty": {},
    "bare": {"type": "object"},
    "text": {"properties": {"payload": "object", "n": {"type": "integer"}}},
    "boolean": {"properties": {"a": True, "b": False}},
    "recursive": {"properties": {"t": {"$ref": "#/$defs/N"}}, "$defs": {"N": NODE}},
    "root": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}},
    "odd": {"properties": {"a b": {"title": "T", "pattern": "x", "format": "uri"}, "é" * 80: {"const": 1}, "$ref": {}}},
    "unions": {"properties": {"a": {"type": ["number", "string", "null"]}, "b": {"oneOf": [{}, {"type": "null"}]}}},
}


def check_sent(node: Any) -> None:
    assert node.keys() <= SENT
    assert isinstance(node.get("type", "string"), str)
    assert ("anyOf" in node) != ("type" in node)
    assert node.get("description") != ""
    for name, inner in node.get("properties", {}).items():
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)
        check_sent(inner)
    for inner in node.get("anyOf", []):
        check_sent(inner)
    if node.get("type") == "array":
        check_sent(node["items"])
    if node.get("type") == "object":
        assert "properties" in node
    if isinstance(node.get("additionalProperties"), dict):
        check_sent(node["additionalProperties"])


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_schemas_are_sent_in_forms_that_strict_servers_accept(schema: dict[str, Any]) -> None:
    """(C29, C31, C32, C33, C35)"""
    sent = offer("t", "Does it", Schema(schema)).parameters
    assert sent["type"] == "object"
    check_sent(sent)
    assert json.dumps(sent) == json.dumps(offer("t", "Does it", Schema(schema)).parameters)


def test_required_and_allowed_values_are_said_and_not_sent() -> None:
    schema = {"properties": {"c": {"type": "string", "enum": ["a", "b"], "default": "a"}}, "required": ["c"]}
    shown = offer("t", "Does it", Schema(schema))
    assert shown.parameters["properties"]["c"] == {
        "type": "string",
        "description": 'required; one of "a", "b"; default "a"',
    }
    assert shown.description == f"Does it. {ASKS_FOR_FIELDS}"


def test_a_tool_without_parameters_keeps_its_description() -> None:
    shown = offer("t", "Does it.", Schema({"type": "object", "properties": {}}))
    assert (shown.description, shown.parameters) == ("Does it.", {"type": "object", "properties": {}})


def test_a_broken_parameter_costs_only_itself() -> None:
    assert offer("t", "", Schema(HOSTILE["text"])).parameters["properties"]["n"] == {"type": "integer"}
