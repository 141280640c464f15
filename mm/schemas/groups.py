"""Subschemas that may describe one and the same value, joined into groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mm.messages import JSON
from mm.schemas.keywords import How, Part, Tokens, parts
from mm.schemas.references import find, pointer

NONE_RENAMED: Mapping[str, str] = MappingProxyType({})
_OTHERS = "additionalProperties"
_ITEMS = "items"


@dataclass(slots=True)
class Group:
    """The subschemas that may describe one value: renamed together, so that all of them agree.

    `renamed` maps the author's name of a property to its wire name, only where the two differ.
    """

    properties: dict[str, Group] = field(default_factory=dict)
    inside: dict[str | int, Group] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=lambda: NONE_RENAMED)
    original: Mapping[str, str] = field(default_factory=lambda: NONE_RENAMED)

    def step(self, token: str | int) -> Group | None:
        """The group of a member of the value: of a property by the author's name, of an item by its index."""
        if isinstance(token, str):
            return self.properties.get(token) or self.inside.get(_OTHERS)
        return self.inside.get(token) or self.inside.get(_ITEMS)

    def holder(self, token: str | int) -> Group:
        """The group that knows a member: that of the items, for a name in a value that was sent in place of a list."""
        items = self.step(0) if isinstance(token, str) and self.step(token) is None else None
        return items or self


def joined(document: JSON) -> dict[str, Group]:
    """The group of every subschema of a mended schema, by its `#/pointer`.

    Subschemas belong together if one applies the other in place, refers to it, or if both describe the member of one
    name of values that belong together.
    """
    joining = _Joining(document)
    joining.collect()
    joining.settle()
    groups: dict[int, Group] = {}
    for place in joining.places:
        groups.setdefault(joining.root(joining.places[place]), Group())
    for index, group in groups.items():
        node = joining.nodes[index]
        group.properties = {name: groups[joining.root(inner)] for name, inner in node.properties.items()}
        group.inside = {key: groups[joining.root(inner)] for key, inner in node.inside.items()}
    return {place: groups[joining.root(index)] for place, index in joining.places.items()}


@dataclass(slots=True)
class _Node:
    parent: int
    properties: dict[str, int] = field(default_factory=dict)
    inside: dict[str | int, int] = field(default_factory=dict)


class _Joining:
    """Union-find over subschemas, each known by the number of its node."""

    def __init__(self, document: JSON) -> None:
        self._document = document
        self._joins: list[tuple[int, int]] = []
        self.nodes: list[_Node] = []
        self.places: dict[str, int] = {}

    def root(self, index: int) -> int:
        while self.nodes[index].parent != index:
            self.nodes[index].parent = index = self.nodes[self.nodes[index].parent].parent
        return index

    def collect(self) -> None:
        """Make a node for every subschema, those included that only a reference leads to."""
        todo: list[Tokens] = [()]
        done: set[Tokens] = set()
        while todo:
            tokens = todo.pop()
            if tokens in done:
                continue
            done.add(tokens)
            schema = self._at(tokens)
            node = self._number(tokens)
            for part in parts(schema):
                todo.append((*tokens, *part.tokens))
                self._relate(node, part, self._number(todo[-1]))
            if isinstance(schema, dict) and "$ref" in schema:
                todo.append(find(self._document, schema["$ref"]))
                self._joins.append((node, self._number(todo[-1])))

    def _number(self, tokens: Tokens) -> int:
        place = pointer(tokens)
        if place not in self.places:
            self.places[place] = len(self.nodes)
            self.nodes.append(_Node(len(self.nodes)))
        return self.places[place]

    def _relate(self, node: int, part: Part, inner: int) -> None:
        keyword, name = part.keyword, part.tokens[-1]
        members: dict[JSON, int] = self.nodes[node].inside
        if part.how is How.IN_PLACE:
            self._joins.append((node, inner))
        elif keyword == "properties":
            self._add(self.nodes[node].properties, name, inner)
        elif keyword == "prefixItems" or (keyword == "items" and len(part.tokens) > 1):
            self._add(members, name, inner)
        elif keyword in ("items", "additionalItems", "unevaluatedItems", "contains"):
            self._add(members, _ITEMS, inner)
        elif part.how is How.INSIDE and keyword != "propertyNames":
            self._add(members, _OTHERS, inner)

    def settle(self) -> None:
        while self._joins:
            keep, gone = map(self.root, self._joins.pop())
            if keep == gone:
                continue
            self.nodes[gone].parent = keep
            for name, inner in self.nodes[gone].properties.items():
                self._add(self.nodes[keep].properties, name, inner)
            for key, inner in self.nodes[gone].inside.items():
                self._add(self.nodes[keep].inside, key, inner)

    def _add(self, members: dict[JSON, int], key: JSON, inner: int) -> None:
        if key in members:
            self._joins.append((members[key], inner))
        else:
            members[key] = inner

    def _at(self, tokens: Tokens) -> JSON:
        node = self._document
        for token in tokens:
            node = node[token]
        return node
