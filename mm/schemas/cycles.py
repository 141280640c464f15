"""Chains of references that come back to where they started without going into the value: found, and cut."""

from __future__ import annotations

from dataclasses import dataclass, field

from mm.messages import JSON
from mm.schemas.keywords import Dialect, How, Tokens, parts
from mm.schemas.references import find

_UNIONS = ("anyOf", "oneOf")


def cut_cycles(document: JSON, dialect: Dialect, *, broken: bool) -> list[Tokens]:
    """Cut each chain in place, dropping only the branch that comes back.

    An alternative of a union is dropped, so that its siblings survive; a member of `allOf` adds nothing. A chain that
    has nothing else to say is broken: it accepts what `broken` says. Returns where those stand.
    """
    search = _Search(document, dialect)
    search.visit_all()
    dead = []
    for tokens, keywords in search.returning.items():
        if not _cut(document, tokens, keywords, broken=broken):
            dead.append(tokens)
    return dead


def _cut(document: JSON, tokens: Tokens, keywords: list[str], *, broken: bool) -> bool:
    """Cut one returning reference; False if nothing else was said on its way round."""
    schema = _at(document, tokens)
    del schema["$ref"]
    if tokens and any(keyword in _UNIONS for keyword in keywords):
        _at(document, tokens[:-1])[tokens[-1]] = False
        return True
    if "allOf" in keywords or set(schema) - {"description", "title", "default", "$defs", "definitions"}:
        return True
    if not broken:
        schema["not"] = {}
    return False


def _at(document: JSON, tokens: Tokens) -> JSON:
    node = document
    for token in tokens:
        node = node[token]
    return node


@dataclass
class _Search:
    """A depth-first search over the steps that stay on one value. `returning`: reference → keywords of its round."""

    document: JSON
    dialect: Dialect
    returning: dict[Tokens, list[str]] = field(default_factory=dict)
    _done: set[Tokens] = field(default_factory=set)

    def visit_all(self) -> None:
        todo: list[Tokens] = [()]
        seen: set[Tokens] = set()
        while todo:
            start = todo.pop()
            if start in seen:
                continue
            seen.add(start)
            self._visit(start)
            schema = _at(self.document, start)
            todo.extend((*start, *part.tokens) for part in parts(schema))
            if isinstance(schema, dict) and "$ref" in schema:
                todo.append(find(self.document, schema["$ref"]))

    def _visit(self, start: Tokens) -> None:
        trail: list[tuple[Tokens, str]] = [(start, "")]
        pending = [self._steps(start)]
        on_trail = {start: 0}
        while pending:
            if start in self._done or not pending[-1]:
                pending.pop()
                tokens, _ = trail.pop()
                del on_trail[tokens]
                self._done.add(tokens)
                continue
            keyword, target = pending[-1].pop(0)
            if target in on_trail:
                if keyword == "$ref":
                    round_trip = [step for _, step in trail[on_trail[target] + 1 :]]
                    self.returning[trail[-1][0]] = round_trip
            elif target not in self._done:
                on_trail[target] = len(trail)
                trail.append((target, keyword))
                pending.append(self._steps(target))

    def _steps(self, tokens: Tokens) -> list[tuple[str, Tokens]]:
        schema = _at(self.document, tokens)
        if not isinstance(schema, dict):
            return []
        steps = []
        if "$ref" in schema:
            steps.append(("$ref", find(self.document, schema["$ref"])))
            if self.dialect.is_old:
                return steps
        steps += [(part.keyword, (*tokens, *part.tokens)) for part in parts(schema) if part.how is How.IN_PLACE]
        return steps
