"""Defaults that their own schema refuses: the model would be told of a value that no call may have."""

from __future__ import annotations

from collections.abc import Iterator

from mm.messages import JSON
from mm.schemas.compiled import CompiledSchema
from mm.schemas.engine import compile_whole, first_error
from mm.schemas.keywords import Tokens
from mm.schemas.mend import Mended, SchemaProblem
from mm.schemas.weight import MAX_WEIGHT

MOST_WORK = 5_000_000
"""How often, at most, a subschema may look at a value of a default, over all defaults of one schema."""


def refused_defaults(mended: Mended) -> Iterator[SchemaProblem]:
    """The defaults of a sound schema that can never be valid. `null` stands for none, as mm leaves it out.

    What could take for ever is not judged: a list or mapping with something in it, where there are references below.
    """
    schema = CompiledSchema(mended)
    left, looks = MOST_WORK, max(MAX_WEIGHT, len(schema.schemas))
    for place, holder in schema.schemas.items():
        value = holder.get("default") if isinstance(holder, dict) else None
        refers = value is not None and "$ref" in repr(holder)
        if value is None or (refers and isinstance(value, (dict, list)) and value):
            continue
        left -= _count(value) * looks
        if left < 0:
            return
        # By itself where that is possible: to compile all parts of a large schema takes long.
        alone = {**holder, "$schema": mended.dialect.uri}
        validator = schema.validators((place,))[0] if refers else compile_whole(alone)
        error = first_error(validator, value)
        if error is not None:
            message = f"the default does not fit `{error.kind.name}`"
            yield SchemaProblem((*_tokens(place), "default"), message, "change one of the two")


def _count(value: JSON) -> int:
    """How many values a value is made of, itself included."""
    count, todo = 0, [value]
    while todo:
        node = todo.pop()
        count += 1
        todo.extend(node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
    return count


def _tokens(place: str) -> Tokens:
    """What a `#/pointer` is made of; indices stay text."""
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in place.split("/")[1:])
