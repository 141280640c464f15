"""Whether judging deep values by a schema can double in cost with each level of the value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mm.messages import JSON
from mm.schemas.keywords import How, parts
from mm.schemas.references import escape, find, pointer

SAFE_DEPTH = 12
"""Levels of data at which two recursive alternatives a level still cost little."""


def branches(document: JSON, schemas: Mapping[str, JSON]) -> bool:
    """Whether two alternatives of one union lead back to that union through a member of one name."""
    steps = {place: _steps(document, place, schema) for place, schema in schemas.items()}
    for place, schema in schemas.items():
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema, dict) and len(schema.get(keyword, ())) > 1:
                members: Counter[str] = Counter()
                for index in range(len(schema[keyword])):
                    inner = f"{place}/{keyword}/{index}"
                    members.update({name for name, start in _members(inner, steps) if place in _reached(start, steps)})
                if any(count > 1 for count in members.values()):
                    return True
    return False


def _steps(document: JSON, place: str, schema: JSON) -> list[tuple[str, str]]:
    """Subschemas that a schema applies: the member they judge ("" for the same value), and their place."""
    steps = []
    for part in parts(schema):
        inner = place + "".join(f"/{escape(token)}" for token in part.tokens)
        if part.how is How.IN_PLACE:
            steps.append(("", inner))
        elif part.how is How.INSIDE:
            steps.append((str(part.tokens[-1]) if part.keyword == "properties" else "*", inner))
    if isinstance(schema, dict) and "$ref" in schema:
        steps.append(("", pointer(find(document, schema["$ref"]))))
    return steps


def _members(place: str, steps: Mapping[str, list[tuple[str, str]]]) -> set[tuple[str, str]]:
    found, seen, todo = set(), set[str](), [place]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            found |= {(name, inner) for name, inner in steps[here] if name}
            todo += [inner for name, inner in steps[here] if not name]
    return found


def _reached(place: str, steps: Mapping[str, list[tuple[str, str]]]) -> set[str]:
    seen, todo = set[str](), [place]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += [inner for _, inner in steps[here]]
    return seen
