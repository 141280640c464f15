"""A schema made usable: every problem found in one walk, and a copy in which each broken position accepts anything."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mm.messages import JSON
from mm.schemas.cycles import cut_cycles
from mm.schemas.engine import is_pattern
from mm.schemas.keywords import Dialect, Tokens, dialect_of, parts
from mm.schemas.references import BadReferenceError, find, reference
from mm.schemas.shapes import misshapen, not_a_schema
from mm.schemas.weight import MAX_CHAIN, MAX_WEIGHT, too_heavy

MAX_DEPTH = 100
"""Containers within one another. The validator refuses deeper schemas, and no parameter list needs them."""
MAX_NODES = 100_000
MAX_HEAVY = 4
"""Positions that weigh too much before the whole schema is given up."""
_TOO_LONG = 10**4_300
"""Python turns no longer number into text."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_IDENTITY = ("$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary")


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Something wrong in a schema: the path to it from the root, what is wrong, and the edit that mends it."""

    pointer: Tokens
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Mended:
    """`document` is a copy without `$id` and anchors, whose references are canonical and all lead somewhere."""

    document: JSON
    problems: tuple[SchemaProblem, ...]
    dialect: Dialect


def mend(document: JSON, *, broken: bool = True) -> Mended:
    """Copy a schema, mending what cannot be used. The author's document is not touched.

    A position that cannot be used accepts anything, or nothing if `broken` is False.
    """
    dialect = dialect_of(document)
    problems = []
    if dialect is None:
        hint = "remove `$schema` (2020-12 is then meant), or name one of " + ", ".join(each.uri for each in Dialect)
        problems.append(SchemaProblem(("$schema",), "`$schema` names a dialect that is not known", hint))
    try:
        copying = _Copying()
        copy = copying.copy(document, ())
    except _TooBigError as error:
        message = f"it is nested more than {MAX_DEPTH} deep, contains itself, or has over {MAX_NODES:,} values"
        too_big = SchemaProblem(error.path[:6], message, "refer to repeated parts with `$ref`")
        return Mended(broken, (*problems, too_big), Dialect.DRAFT_2020)
    problems += copying.problems
    mending = _Mending(copy, dialect or Dialect.DRAFT_2020, broken)
    mending.run()
    told = {problem.pointer for problem in copying.problems}
    problems += [problem for problem in mending.problems if problem.pointer not in told]
    return Mended(mending.root, tuple(problems), mending.dialect)


class _Copying:
    """Copies a schema; what is no JSON in it, or no text that can be sent, is replaced and reported."""

    def __init__(self) -> None:
        self._nodes = 0
        self.problems: list[SchemaProblem] = []

    def copy(self, value: JSON, path: Tokens) -> JSON:
        self._nodes += 1
        if len(path) > MAX_DEPTH or self._nodes > MAX_NODES:
            raise _TooBigError(path)
        if isinstance(value, dict):
            return {self._text(key, path): self.copy(item, (*path, _plain(key))) for key, item in value.items()}
        if isinstance(value, list):
            return [self.copy(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, str):
            return self._text(value, path)
        if value is None or (isinstance(value, (bool, int, float)) and _is_sendable(value)):
            return value
        self.problems.append(SchemaProblem(path, "this value is not JSON", "write a text, a plain number or a list"))
        return None

    def _text(self, text: object, path: Tokens) -> str:
        if isinstance(text, str) and (text.isascii() or not _SURROGATE.search(text)):
            return text
        self.problems.append(
            SchemaProblem(path, "there is half of a surrogate pair, or a key that is no text", "remove it")
        )
        return _plain(text)


def _plain(text: object) -> str:
    return _SURROGATE.sub("\ufffd", str(text))


def _is_sendable(number: float) -> bool:
    return math.isfinite(number) if isinstance(number, float) else abs(number) < _TOO_LONG


class _TooBigError(Exception):
    def __init__(self, path: Tokens) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True, slots=True)
class _Spot:
    """A subschema by the container that holds it, so that it can be replaced."""

    tokens: Tokens
    holder: JSON
    key: str | int


class _Mending:
    """One walk over all subschemas of a copy, those included that only a reference leads to."""

    def __init__(self, copy: JSON, dialect: Dialect, broken: bool) -> None:
        self.dialect = dialect
        self._broken = broken
        self._own_id = _own_id(copy)
        self.problems: list[SchemaProblem] = []
        self._holder = [copy]
        self._seen: set[Tokens] = set()

    @property
    def root(self) -> JSON:
        return self._holder[0]

    def run(self) -> None:
        todo = [_Spot((), self._holder, 0)]
        while todo:
            spot = todo.pop()
            if spot.tokens not in self._seen:
                self._seen.add(spot.tokens)
                todo.extend(reversed(list(self._mend(spot))))
        self._cut_cycles()
        self._lighten()
        if isinstance(self.root, dict) and self.dialect is not Dialect.DRAFT_2020:
            self.root["$schema"] = self.dialect.uri

    def _mend(self, spot: _Spot) -> Iterator[_Spot]:
        schema = spot.holder[spot.key]
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            self._report(spot.tokens, *not_a_schema(schema))
            spot.holder[spot.key] = self._broken
            return
        if self._mend_keywords(schema, spot.tokens) and not self._broken:
            spot.holder[spot.key] = False
            return
        for part in parts(schema):
            holder = schema
            for token in part.tokens[:-1]:
                holder = holder[token]
            yield _Spot((*spot.tokens, *part.tokens), holder, part.tokens[-1])
        if "$ref" in schema:
            yield from self._mend_reference(schema, spot)

    def _mend_keywords(self, schema: dict[str, JSON], path: Tokens) -> bool:
        """Remove what one schema may not hold; whether there was such a thing."""
        known = len(self.problems)
        for keyword, message, hint in list(misshapen(schema, self.dialect)):
            self._report((*path, keyword), message, hint)
            value = schema.pop(keyword)
            if keyword == "items":
                _as_tuple(schema, value)
        for pattern in [text for text in schema.get("patternProperties", {}) if not is_pattern(text)]:
            message = f"`{pattern[:60]}` is not a regular expression that can be used"
            self._report((*path, "patternProperties", pattern), message, "correct the expression (ECMA 262 syntax)")
            del schema["patternProperties"][pattern]
        for keyword in _IDENTITY:
            schema.pop(keyword, None)
        if self.dialect is Dialect.DRAFT_4:
            schema.pop("id", None)
        for keyword in ("$recursiveRef", "$dynamicRef"):
            if keyword in schema:
                schema.setdefault("$ref", schema.pop(keyword))
        return len(self.problems) > known

    def _mend_reference(self, schema: dict[str, JSON], spot: _Spot) -> Iterator[_Spot]:
        try:
            tokens = find(self.root, schema["$ref"], self._own_id)
        except BadReferenceError as error:
            self._report((*spot.tokens, "$ref"), error.reason, error.hint)
            spot.holder[spot.key] = _anything(schema) if self._broken else False
            return
        schema["$ref"] = reference(tokens)
        holder: JSON = self._holder
        for token in (0, *tokens[:-1]):
            holder = holder[token]
        yield _Spot(tokens, holder, tokens[-1]) if tokens else _Spot((), self._holder, 0)

    def _cut_cycles(self) -> None:
        for circle in cut_cycles(self.root, self.dialect, broken=self._broken):
            message = "this reference leads back to itself without describing anything"
            self._report((*circle, "$ref"), message, "refer to a schema that says what the value is")

    def _lighten(self) -> None:
        for attempt in range(MAX_HEAVY + 1):
            heavy = too_heavy(self.root, self.dialect)
            if heavy is None:
                return
            heavy = heavy if attempt < MAX_HEAVY else ()
            holder: JSON = self._holder
            for token in (0, *heavy)[:-1]:
                holder = holder[token]
            holder[heavy[-1] if heavy else 0] = self._broken
            message = f"over {MAX_WEIGHT:,} subschemas, or {MAX_CHAIN} references in a row, judge one value"
            self._report(heavy, message, "refer to each schema once")

    def _report(self, path: Tokens, message: str, hint: str) -> None:
        self.problems.append(SchemaProblem(path, message, hint))


def _own_id(document: JSON) -> str:
    named = document.get("$id", document.get("id")) if isinstance(document, dict) else None
    return named if isinstance(named, str) else ""


def _anything(schema: dict[str, JSON]) -> JSON:
    """A schema that accepts anything, under the old one's description."""
    return {"description": schema["description"]} if "description" in schema else True


def _as_tuple(schema: dict[str, JSON], items: list[JSON]) -> None:
    """`items` as a list, spelt as 2020-12 wants it: an empty list says nothing."""
    if items and "prefixItems" not in schema:
        schema["prefixItems"] = items
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
