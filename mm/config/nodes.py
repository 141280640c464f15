"""A YAML document as a tree in which every value knows its place and keeps its source text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mm.config.schema import Place
from mm.messages import JSON

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,399})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,399})(?:\.[0-9]{1,400})?(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, number, boolean or null. `plain` says that it stands without quotes, so it may be more than text."""

    place: Place
    text: str
    plain: bool = False

    @property
    def value(self) -> JSON:
        """The value by YAML 1.2 with JSON's numbers: `no`, `1_000`, `1:30`, `2024-01-01` and `0x1F` are text."""
        if not self.plain:
            return self.text
        if self.text in _WORDS:
            return _WORDS[self.text]
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        if _NUMBER.fullmatch(self.text):
            number = float(self.text)
            return number if math.isfinite(number) else self.text
        return self.text

    @property
    def is_null(self) -> bool:
        return self.plain and self.text in _WORDS and _WORDS[self.text] is None


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key: value` of a mapping."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class MappingNode:
    """`key: value` pairs in their order; no key stands twice."""

    place: Place
    entries: tuple[Entry, ...]

    @property
    def is_flow(self) -> bool:
        """Whether it is written in braces, on lines of its own or not."""
        return bool(self.entries) and self.entries[0].key.place != self.place

    def find(self, key: str) -> Node | None:
        """The value of `key`, if it is there."""
        return next((entry.value for entry in self.entries if entry.key.text == key), None)


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A list."""

    place: Place
    items: tuple[Node, ...]


Node: TypeAlias = Scalar | MappingNode | SequenceNode


def to_json(node: Node) -> JSON:
    """The value of a tree as JSON; keys are their source text."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, SequenceNode):
        return [to_json(item) for item in node.items]
    return {entry.key.text: to_json(entry.value) for entry in node.entries}


def place_of(node: Node, path: Iterable[str | int]) -> Place:
    """The place of the value at the end of a path of keys and indices; of the deepest part that is there, else."""
    return node_of(node, path).place


def node_of(node: Node, path: Iterable[str | int]) -> Node:
    """The value at the end of a path of keys and indices; the deepest part that is there, else."""
    deepest = node
    for step in path:
        child = _child(deepest, str(step))
        if child is None:
            break
        deepest = child
    return deepest


def scalars(node: Node) -> Iterator[Scalar]:
    """Every scalar value below (and including) a node, keys left out."""
    if isinstance(node, Scalar):
        yield node
        return
    children = node.items if isinstance(node, SequenceNode) else tuple(entry.value for entry in node.entries)
    for child in children:
        yield from scalars(child)


def kind_of(node: Node) -> str:
    """What a value is, in the words of a message."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    value = node.value
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "a boolean"
    return "text" if isinstance(value, str) else "a number"


def _child(node: Node | None, step: str) -> Node | None:
    if isinstance(node, MappingNode):
        return node.find(step)
    if isinstance(node, SequenceNode) and step.isascii() and step.isdigit() and int(step) < len(node.items):
        return node.items[int(step)]
    return None
