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


@pytest.mark.parametrize(
    ("schema", "place", "keyword"),
    [
        ({"properties": {"a": {"type": "integer", "default": "x"}}}, ("properties", "a"), "type"),
        ({"properties": {"a": {"pattern": "^[0-9]+$", "default": "latest"}}}, ("properties", "a"), "pattern"),
        ({"properties": {"a/b": {"enum": [1], "default": 2}}}, ("properties", "a/b"), "enum"),
        (
            {"properties": {"a": {"$ref": "#/$defs/one", "default": "x"}}, "$defs": {"one": {"type": "integer"}}},
            ("properties", "a"),
            "type",
        ),
        ({"$defs": {"one": {"maximum": 1, "default": 2}}}, ("$defs", "one"), "maximum"),
        ({"properties": {"a": {"items": {"type": "integer"}, "default": ["x"]}}}, ("properties", "a"), "type"),
        ({"properties": {"a": {"anyOf": [{"minLength": 2}], "default": "x"}}}, ("properties", "a"), "anyOf"),
        ({"items": {"allOf": [{"minimum": 2, "default": 1}]}}, ("items", "allOf", "0"), "minimum"),
    ],
)
def test_a_default_that_can_never_be_valid_is_a_mistake(
    schema: dict[str, Any], place: tuple[str, ...], keyword: str
) -> None:
    (found,) = problems(schema)
    assert found.pointer == (*place, "default")
    assert found.message == f"the default does not fit `{keyword}`"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "default": 3},
        {"type": "string", "default": None},
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        {"$ref": "#/$defs/list", "default": []},
        {"type": "number", "default": 10**400},
        {"format": "date", "default": "soon"},
    ],
)
def test_a_default_that_may_be_sent_or_stands_for_none_is_fine(schema: dict[str, Any]) -> None:
    assert problems({"properties": {"a": schema}, "$defs": {"list": {"type": "array"}}}) == []


def test_a_default_that_would_take_for_ever_is_not_judged() -> None:
    """Twelve levels of which each is judged in forty ways."""
    levels = {f"d{n}": {"anyOf": [{"items": {"$ref": f"#/$defs/d{n + 1}"}}] * 40} for n in range(12)}
    default: Any = "x"
    for _ in range(12):
        default = [default]
    document = {"$defs": {**levels, "d12": {"type": "integer"}}}
    assert problems({**document, "properties": {"a": {"$ref": "#/$defs/d0", "default": default}}}) == []


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
