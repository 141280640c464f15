"""Schemas with mistakes: all of them reported in one go, and mended where they come from a server."""

from __future__ import annotations

from typing import Any

import pytest

from mm.schemas.engine import BrokenSchemaError
from mm.schemas.problems import problems
from mm.schemas.repair import repaired

MISTAKES = {
    "text for a schema": ({"properties": {"a": "object"}}, ("properties", "a")),
    "misspelt type": ({"properties": {"a": {"type": "int"}}}, ("properties", "a", "type")),
    "bad pattern": ({"properties": {"a": {"pattern": "("}}}, ("properties", "a", "pattern")),
    "remote": ({"properties": {"a": {"$ref": "https://example.com/a"}}}, ("properties", "a", "$ref")),
    "dangling": ({"properties": {"a": {"$ref": "#/$defs/No"}}}, ("properties", "a", "$ref")),
    "anchor": ({"properties": {"a": {"$ref": "#name"}}}, ("properties", "a", "$ref")),
    "bad escape": ({"properties": {"a": {"$ref": "#/a~2"}}}, ("properties", "a", "$ref")),
    "bound beyond any float": ({"properties": {"a": {"minimum": 10**400}}}, ("properties", "a", "minimum")),
    "bound that is not finite": ({"properties": {"a": {"maximum": float("-inf")}}}, ("properties", "a", "maximum")),
    "half a character": ({"properties": {"a": {"description": "x\ud800"}}}, ("properties", "a", "description")),
    "bytes": ({"properties": {"a": {"default": b"x"}}}, ("properties", "a", "default")),
    "circle": ({"properties": {"a": {"$ref": "#/properties/a"}}}, ("properties", "a", "$ref")),
}


@pytest.mark.parametrize(("schema", "place"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_reported_at_its_place_with_a_hint(schema: dict[str, Any], place: tuple[str, ...]) -> None:
    """(C28, C32, C37)"""
    found = problems(schema)
    assert [problem.pointer for problem in found] == [place]
    assert found[0].hint


@pytest.mark.parametrize("schema", [schema for schema, _ in MISTAKES.values()], ids=MISTAKES.keys())
def test_a_servers_schema_loses_only_the_broken_position(schema: dict[str, Any]) -> None:
    document, warnings = repaired({**schema, "required": ["b"]})
    assert len(warnings) == 1
    assert document["required"] == ["b"]
    assert not problems(document)


def test_all_mistakes_come_in_one_go() -> None:
    assert len(problems({"properties": {"a": "object", "b": {"type": "str"}, "c": {"minLength": -1}}})) == 3


def test_a_required_name_without_a_property_is_no_mistake() -> None:
    assert problems({"type": "object", "required": ["ghost"]}) == []


@pytest.mark.parametrize("schema", ["object", [], {"type": "array"}, None])
def test_what_is_no_schema_of_an_object_drops_the_tool(schema: Any) -> None:
    with pytest.raises(BrokenSchemaError):
        repaired(schema)


def test_a_schema_that_contains_itself_is_reported() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["not"] = schema
    assert problems(schema)


def test_a_schema_whose_references_fan_out_is_reported() -> None:
    twice = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(40)}
    assert problems({"$ref": "#/$defs/a0", "$defs": {**twice, "a40": {"type": "object"}}})
