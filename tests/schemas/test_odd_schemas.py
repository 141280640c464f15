"""Schemas of random keywords with odd values, seeded: what a server sends costs a position or a tool, never more."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest

from mm.dispatch.arguments import check, parse
from mm.errors import ToolError
from mm.models.offers import offer
from mm.schemas.engine import BrokenSchemaError
from mm.schemas.problems import problems
from mm.schemas.repair import repaired
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool

ROUNDS = 60
KEYWORDS = [
    "type",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicRef",
    "$recursiveRef",
    "title",
    "description",
    "default",
    "examples",
    "nullable",
    "$vocabulary",
]
MAPS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
USUAL = {
    "type": ["string", "integer", "object", "array", "null", "number"],
    "$ref": ["#", "#/$defs/a", "#/properties/a", "#/definitions/b"],
    "$schema": ["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema"],
}
NUMBERS = [0, -1, 1, 10**400, -(10**400), 1.5, float("inf"), float("nan"), 1e308, 5e-324, 2**64]
TEXTS = ["", "x", "\ud800", "string", "#/$defs/a", "^(a", "object"]
ODD = [None, True, False, [], {}, ["string", "integer"], ["a"], *NUMBERS, *TEXTS]
CALLS = ['{"a": "5"}', '{"a": 1, "b": [1, "2"]}', '{"a": {"a": "1"}, "a b": null}', '{"a": 1e300, "b": 1e23}', "{}"]


def schema(chance: random.Random, depth: int = 3) -> dict[str, Any]:
    return {keyword: value_of(keyword, chance, depth) for keyword in chance.sample(KEYWORDS, chance.randrange(1, 6))}


def value_of(keyword: str, chance: random.Random, depth: int) -> Any:
    if depth == 0 or chance.random() < 0.6:
        return chance.choice(ODD)
    if keyword in MAPS:
        return {name: schema(chance, depth - 1) for name in chance.sample(["a", "b", "^a", "\ud800", "a b", ""], 2)}
    if keyword in LISTS:
        return [schema(chance, depth - 1), schema(chance, depth - 1)]
    return chance.choice(USUAL[keyword]) if keyword in USUAL else schema(chance, depth - 1)


@pytest.mark.parametrize("seed", range(3))
def test_an_odd_schema_is_reported_and_never_a_crash(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        document = {"type": "object", "properties": {"a": schema(chance), "b": schema(chance)}}
        problems(document)
        judge_by(document)
        with contextlib.suppress(BrokenSchemaError):
            usable, warnings = repaired(document)
            "".join(warnings).encode()
            judge_by(usable)


def judge_by(document: Any) -> None:
    tool = Tool("tool", Kind.MCP, "A tool.", Schema(document), spec=None)
    with contextlib.suppress(BrokenSchemaError):
        json.dumps(offer("tool", "A tool.", tool.schema).parameters, ensure_ascii=False, allow_nan=False).encode()
    for text in CALLS:
        try:
            check(tool, parse(text))
        except ToolError as error:
            error.message.encode()
