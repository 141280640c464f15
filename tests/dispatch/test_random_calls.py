"""Random schemas and random calls, seeded and few: what holds for every call whatever is sent."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from mm.dispatch.arguments import canonical, check, parse
from mm.errors import ToolError
from mm.schemas.compiled import compiled
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool

ROUNDS = 40
NAMES = ("a", "b", "A", "a b", "é")
SCALARS: list[Any] = [
    *({"type": name} for name in ("string", "integer", "number", "boolean", "null")),
    {},
    {"type": "integer", "minimum": 0},
    {"type": "string", "pattern": "^a"},
    {"type": "number", "maximum": 1.5},
    {"type": ["string", "integer"]},
    {"enum": ["1", 2, None]},
    {"const": "[1]"},
    {"$ref": "#/$defs/n"},
]
TEXTS = ["a", "", "1", "1.10", " 5 ", "null", "TRUE", "[1]", '{"a": "1"}', '["1", "x"]', "1,2", "1e400", "[", "007"]
LITERALS = ["1", "1.0", "1.10", "-0", "1e23", "9007199254740993.0", "true", "null", "1e-5"]


def schema(chance: random.Random, depth: int = 3) -> Any:
    inner = lambda: schema(chance, depth - 1)  # noqa: E731 - one line of a grammar
    match chance.randrange(7) if depth else 6:
        case 0:
            return {"type": "array", "items": inner()}
        case 1:
            return {"type": "array", "prefixItems": [inner()], "items": inner()}
        case 2 | 3:
            names = chance.sample(NAMES, 2)
            return {
                "type": "object",
                "properties": {name: inner() for name in names},
                **chance.choice([{}, {"required": names[:1]}]),
            }
        case 4:
            return {chance.choice(["anyOf", "oneOf"]): [inner(), inner()]}
        case 5:
            return {"allOf": [inner()], "additionalProperties": inner()}
    return chance.choice(SCALARS)


def text(chance: random.Random, depth: int = 3) -> str:
    match chance.randrange(6) if depth else 5:
        case 0:
            return "[" + ", ".join(text(chance, depth - 1) for _ in range(chance.randrange(3))) + "]"
        case 1 | 2:
            names = chance.sample(NAMES, chance.randrange(3))
            return "{" + ", ".join(f"{json.dumps(name)}: {text(chance, depth - 1)}" for name in names) + "}"
        case 3:
            return json.dumps(text(chance, depth - 1))
    return chance.choice(LITERALS) if chance.random() < 0.5 else json.dumps(chance.choice(TEXTS))


@pytest.mark.parametrize("seed", range(3))
def test_every_call_is_taken_as_valid_or_answered_in_words_and_soon(seed: int) -> None:
    chance = random.Random(seed)
    taken = 0
    for _ in range(ROUNDS):
        members = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}
        properties = {name: schema(chance) for name in NAMES}
        document = {"type": "object", "properties": properties, "$defs": {"n": members}}
        for _ in range(3):
            sent = "{" + ", ".join(f"{json.dumps(name)}: {text(chance)}" for name in chance.sample(NAMES, 1)) + "}"
            start = time.process_time()
            taken += holds(document, sent)
            assert time.process_time() - start < 2, (document, sent)
    assert taken > 5


def holds(document: Any, sent: str) -> bool:
    """Whether the call is taken; whatever comes instead is a ToolError that can be sent."""
    tool = Tool("tool", Kind.COMMAND, "A tool.", Schema(document), spec=None)
    form = compiled(tool.schema)
    given = json.loads(sent)
    try:
        arguments = check(tool, parse(sent)).arguments
    except ToolError as error:
        assert len(error.message.encode()) < 16_000
        assert not form.is_valid(form.names.restore_quietly(given)), (document, sent)
        return False
    assert form.is_valid(arguments), (document, sent, arguments)
    if form.is_valid(given):
        exact = json.loads(canonical(arguments), parse_int=float)
        assert canonical(exact) == canonical(json.loads(canonical(given), parse_int=float)), (document, sent)
    return True
