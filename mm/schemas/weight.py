"""How much work one value costs a schema: references that fan out can double it with each step."""

from __future__ import annotations

from mm.messages import JSON
from mm.schemas.keywords import Dialect, How, Tokens, parts
from mm.schemas.references import find

MAX_WEIGHT = 5_000
"""Subschemas that may judge one and the same value. Schemas made by people or generators stay far below."""
MAX_CHAIN = 64
"""Steps of references and unions from a subschema to the last one that judges the same value."""

_Weights = dict[Tokens, tuple[int, int]]


def too_heavy(document: JSON, dialect: Dialect) -> Tokens | None:
    """The innermost subschema that weighs too much, None if there is none. For schemas without cycles in place."""
    weights: _Weights = {}
    todo: list[Tokens] = [()]
    seen: set[Tokens] = set()
    while todo:
        start = todo.pop()
        if start in seen:
            continue
        seen.add(start)
        heavy = _weigh(document, dialect, start, weights)
        if heavy is not None:
            return heavy
        schema = _at(document, start)
        todo.extend((*start, *part.tokens) for part in parts(schema))
        todo.extend(_targets(document, schema))
    return None


def _weigh(document: JSON, dialect: Dialect, start: Tokens, weights: _Weights) -> Tokens | None:
    stack = [start]
    while stack:
        tokens = stack[-1]
        schema = _at(document, tokens)
        steps = _targets(document, schema)
        if not (steps and dialect.is_old):
            steps += [(*tokens, *part.tokens) for part in parts(schema) if part.how is How.IN_PLACE]
        missing = [step for step in steps if step not in weights]
        if missing:
            stack.extend(missing)
            continue
        weight = 1 + sum(weights[step][0] for step in steps)
        chain = 1 + max((weights[step][1] for step in steps), default=0)
        weights[tokens] = (weight, chain)
        if weight > MAX_WEIGHT or chain > MAX_CHAIN:
            return tokens
        stack.pop()
    return None


def _targets(document: JSON, schema: JSON) -> list[Tokens]:
    return [find(document, schema["$ref"])] if isinstance(schema, dict) and "$ref" in schema else []


def _at(document: JSON, tokens: Tokens) -> JSON:
    node = document
    for token in tokens:
        node = node[token]
    return node
