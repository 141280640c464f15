"""What is wrong with arguments that could not be taken: one line a problem, by its path."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mm.counts import count
from mm.dispatch.convert import Conversion
from mm.dispatch.notes import MAX_NAME, brief, path_text
from mm.messages import JSON
from mm.schemas.compiled import ROOT, CompiledSchema
from mm.schemas.engine import first_error
from mm.schemas.keywords import Tokens
from mm.schemas.wire_names import NameClashError
from mm.schemas.words import value_text, values_text

MAX_FINDINGS = 12
SMALL = 20_000
"""Values in arguments up to which all errors are looked for; in larger ones, the first of each parameter."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: where, and a line that says what is wrong, what was sent and what is allowed."""

    path: Tokens
    line: str


def clash(schema: CompiledSchema, error: NameClashError) -> Finding:
    """Both spellings of one name."""
    path = path_text(schema.names.path((*error.path, error.author)))
    author = path_text((error.author,))
    line = f'`{path}` was sent twice, as "{error.wire}" and as "{author}": send "{error.wire}" alone.'
    return Finding(error.path, line)


def too_much() -> Finding:
    """Nothing was looked at in the end: only the model can mend it."""
    line = "The arguments do not fit, and there are too many values in them to be repaired: send every value in its "
    return Finding((), line + "declared type (numbers without quotes, lists as lists), or send fewer of them.")


def find_problems(
    schema: CompiledSchema, conversion: Conversion, sent: dict[str, JSON], attempt: JSON
) -> list[Finding]:
    """The problems of arguments after conversion, each once, in the author's order of parameters."""
    teller = _Teller(schema, conversion, sent, attempt)
    found: dict[tuple[Tokens, str], Finding] = {}
    for path, line in islice(teller.tell_all(), MAX_FINDINGS * 4):
        found.setdefault((path, line), Finding(path, line))
    return list(found.values())[:MAX_FINDINGS]


def _errors(schema: CompiledSchema, attempt: JSON) -> Iterator[Any]:
    if _count(attempt, SMALL) < SMALL:
        for validator in schema.validators(ROOT):
            yield from validator.iter_errors(attempt)
        return
    yield from (error for error in [first_error(schema.validators(ROOT)[0], attempt)] if error)


def _count(value: JSON, limit: int) -> int:
    """How many values there are within a value, counted up to a limit."""
    count, todo = 0, [value]
    while todo and count < limit:
        node = todo.pop()
        members = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        count += len(members)
        todo.extend(item for item in islice(members, limit) if isinstance(item, (dict, list)))
    return count


class _Teller:
    def __init__(self, schema: CompiledSchema, conversion: Conversion, sent: dict[str, JSON], attempt: JSON) -> None:
        self._schema = schema
        self._conversion = conversion
        self._sent = sent
        self._attempt = attempt

    def tell_all(self) -> Iterator[tuple[Tokens, str]]:
        for path, (one, other) in self._conversion.ambiguous.items():
            first, second = (brief(self._schema.names.spell_at(path, value)) for value in (one, other))
            yield path, f"{self._name(path)} can be read as {first} or as {second}: send the one that you mean."
        for error in _errors(self._schema, self._attempt):
            path = tuple(error.instance_path)
            if path in self._conversion.clashes:
                yield path, clash(self._schema, self._conversion.clashes[path]).line
            elif not any(path[: len(known)] == known for known in self._conversion.ambiguous):
                yield from self._tell(error)

    def _name(self, path: Tokens) -> str:
        return f"`{path_text(self._schema.names.path(path))}`" if path else "The arguments"

    def _key(self, path: Tokens, key: str) -> str:
        return path_text(self._schema.names.path((*path, key)))

    def _sent_at(self, path: Tokens) -> str:
        """What was sent at a path; of what was inside a text, the value that was read from it."""
        found, node = _follow(self._sent, path)
        if not found:
            found, inner = _follow(self._attempt, path)
            node = inner if found else node
        return brief(self._schema.names.spell_at(path, node))

    def _tell(self, error: Any) -> Iterator[tuple[Tokens, str]]:
        path = tuple(error.instance_path)
        keyword, details = error.kind.name, error.kind.as_dict()
        if keyword in ("anyOf", "oneOf") and details.get("context"):
            yield from self._tell_union(path, error)
        elif keyword == "required":
            yield path, f"`{self._key(path, details['property'])}` is missing: it is required."
        elif "unexpected" in details and all(isinstance(key, str) for key in details["unexpected"]):
            for key in details["unexpected"]:
                yield (*path, key), self._unexpected(path, key)
        else:
            wanted = self._wanted(keyword, details)
            yield path, f"{self._name(path)} {wanted}; you sent {self._sent_at(path)}.{self._advice(path, error)}"

    def _unexpected(self, path: Tokens, key: str) -> str:
        known = self._known_names(path)
        near = difflib.get_close_matches(key[:MAX_NAME], known, n=1)
        said = f" Did you mean `{near[0]}`?" if near else ""
        value = self._sent_at((*path, key))
        return f"`{self._key(path, key)}` is not known here (you sent {value}); leave it out.{said}"

    def _known_names(self, path: Tokens) -> list[str]:
        names: list[str] = []
        for way in self._schema.ways(ROOT) if not path else ():
            for properties in self._schema.gather(way, "properties"):
                names += properties
        return names

    def _tell_union(self, path: Tokens, error: Any) -> Iterator[tuple[Tokens, str]]:
        """Of several alternatives the one that comes nearest; if none has the right type, what all of them want."""
        branches = [branch for branch in error.kind.as_dict()["context"] if branch]
        if not branches:
            wanted = "fits more than one of the alternatives of which exactly one must fit"
            yield path, f"{self._name(path)} {wanted}; you sent {self._sent_at(path)}."
            return
        firsts = [branch[0] for branch in branches]
        if all(first.kind.name == "required" and tuple(first.instance_path) == path for first in firsts):
            names = dict.fromkeys(self._key(path, first.kind.as_dict()["property"]) for first in firsts)
            yield path, "One of these is missing: " + ", ".join(f"`{name}`" for name in names) + "."
            return
        near = [branch for branch in branches if not self._is_far(path, branch)]
        if len(near) == 1 or (near and len(branches) <= 8):
            for inner in min(near, key=len):
                yield from self._tell(inner)
            return
        wants = dict.fromkeys(self._wanted(first.kind.name, first.kind.as_dict()) for first in firsts)
        wanted = ", or ".join(list(wants)[:8])
        yield path, f"{self._name(path)} {wanted}; you sent {self._sent_at(path)}.{self._advice(path, firsts[0])}"

    def _is_far(self, path: Tokens, branch: list[Any]) -> bool:
        """Whether a branch asks for another type, or for another constant of a field that tells the kinds apart."""
        return any(
            (error.kind.name in ("type", "enum", "const") and tuple(error.instance_path) == path)
            or (error.kind.name == "const" and len(error.instance_path) == len(path) + 1)
            for error in branch
        )

    def _wanted(self, keyword: str, details: dict[str, Any]) -> str:
        return wanted_words(keyword, details)

    def _advice(self, path: Tokens, error: Any) -> str:
        reason = self._conversion.undecodable.get(path)
        _, sent = _follow(self._sent, path)
        if reason:
            return f" That text {reason}."
        types = error.kind.as_dict().get("types") or []
        return advice(sent, types) if error.kind.name == "type" else ""


def _follow(value: JSON, path: Tokens) -> tuple[bool, JSON]:
    """The value at a path and True, or the nearest value around it and False."""
    for token in path:
        if isinstance(value, dict) and token in value:
            value = value[str(token)]
        elif isinstance(value, list) and isinstance(token, int) and token < len(value):
            value = value[token]
        else:
            return False, value
    return True, value


_COUNTED = {
    "minLength": ("least", "character"),
    "maxLength": ("most", "character"),
    "minItems": ("least", "item"),
    "maxItems": ("most", "item"),
    "minProperties": ("least", "field"),
    "maxProperties": ("most", "field"),
}


def wanted_words(keyword: str, details: dict[str, Any]) -> str:
    """What a keyword wants of a value, continuing "`name` ..."."""
    limit: Any = details.get("limit")
    simple = {
        "minimum": f"must be at least {limit}",
        "maximum": f"must be at most {limit}",
        "exclusiveMinimum": f"must be above {limit}",
        "exclusiveMaximum": f"must be below {limit}",
        "uniqueItems": "must not hold an item twice",
        "contains": "must hold an item of the wanted kind",
        "falseSchema": "is not allowed here: leave it out",
        "not": "must not have this form",
        "propertyNames": "has a key that is not allowed",
        "pattern": _pattern_words(details.get("pattern")),
        "format": f"must have the format {details.get('format')}",
    }
    if keyword in _COUNTED:
        bound, noun = _COUNTED[keyword]
        return f"must have at {bound} {count(limit, noun)}"
    if keyword == "type":
        return "must be " + " or ".join(_article(name) for name in details["types"])
    if keyword == "enum":
        return "must be one of " + values_text(details["options"])
    if keyword == "const":
        return "must be " + value_text(details["expected_value"])
    if keyword == "multipleOf":
        return f"must be a multiple of {details['multiple_of']}"
    return simple.get(keyword, f"does not fit (`{keyword}`)")


def _pattern_words(pattern: str | None) -> str:
    """The library names no pattern where the search for it was given up."""
    return f"must match the pattern {pattern[:200]}" if pattern else "must match its pattern"


def _article(name: str) -> str:
    if name == "null":
        return name
    return f"an {name}" if name[0] in "aio" else f"a {name}"


def advice(sent: JSON, types: list[str]) -> str:
    """How to write a value of a type, told by what was sent instead."""
    if sent is None:
        return " Leave it out if you have no value." if "null" not in types else ""
    if isinstance(sent, str) and not sent.strip():
        return " An empty text is no value: leave it out if you have none."
    if "integer" in types and "number" not in types and _has_fraction(sent):
        return " Write a whole number, without a fraction."
    if "integer" in types or "number" in types:
        return " Write it in digits, without quotes, units or words."
    if "boolean" in types:
        return " Write true or false."
    if "string" in types:
        return " Send the whole text as one JSON string."
    if "array" in types:
        return " Send a JSON list, such as [...]."
    return " Send a JSON object, such as {...}." if "object" in types else ""


def _has_fraction(sent: JSON) -> bool:
    """Whether this is a number that is not whole, or the text of one."""
    try:
        return isinstance(sent, (str, float)) and not float(sent).is_integer() and math.isfinite(float(sent))
    except ValueError:
        return False
