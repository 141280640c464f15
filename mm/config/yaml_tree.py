"""Builds the tree of a YAML document from the parser's events, in one pass and without recursion.

Aliases are shared, never copied, and bounded before anybody walks the tree; a node cannot contain itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode
from mm.config.problems import ConfigProblems, Problem, unreadable
from mm.config.schema import Place
from mm.config.syntax import explain

DEEPEST = 60
MOST_UNFOLDED = 20_000  # values that aliases may add
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_tree(path: Path, text: str) -> tuple[Node, list[Problem]]:
    """The tree of a document, and the mistakes that leave it readable: keys that stand twice, unquoted `{{x}}`.

    Raises ConfigProblems where nothing behind the mistake can be read.
    """
    builder = _Builder(path, text)
    try:
        builder.take_all(yaml.parse(text, Loader=_LOADER))
    except (yaml.YAMLError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise unreadable(path, "the values are nested too deeply") from error
        raise explain(path, text, error) from None
    if builder.root is None:
        raise unreadable(path, "the file is empty", "Write one with: mm init")
    return builder.root, builder.problems


@dataclass(slots=True)
class _Frame:
    """A mapping or list whose end has not come yet."""

    place: Place
    index: int  # of its first character
    is_mapping: bool
    anchor: str | None
    children: list[Node] = field(default_factory=list)
    size: int = 1
    has_broken_key: bool = False


class _Builder:
    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._documents = 0
        self._unfolded = 0

    def take_all(self, events: Iterable[Any]) -> None:
        for event in events:
            self._take(event)

    def _take(self, event: Any) -> None:
        place = self._place(event)
        if isinstance(event, yaml.ScalarEvent):
            scalar = Scalar(place, event.value, event.style in (None, "") and event.tag is None)
            self._check_tag(event, place)
            self._add(scalar, 1, event.anchor)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._check_tag(event, place)
            self._open(event, place)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close(event)
        elif isinstance(event, yaml.AliasEvent):
            self._follow(str(event.anchor), place)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._alone(place, "a second document starts here", "Keep one document a file: remove the `---`.")

    def _open(self, event: Any, place: Place) -> None:
        if len(self._frames) >= DEEPEST:
            raise self._alone(place, f"the values are nested more than {DEEPEST} deep", "")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._frames.append(_Frame(place, event.start_mark.index, is_mapping, event.anchor))

    def _close(self, event: Any) -> None:
        frame = self._frames.pop()
        source = self.text[frame.index : event.end_mark.index]
        if frame.has_broken_key and source.startswith("{{"):
            hint = f'Write it in quotes: "{source}"'
            self._problem(frame.place, f"quote it: YAML reads `{source}` as a mapping", hint)
            self._add(Scalar(frame.place, source), 1, frame.anchor)
        elif frame.is_mapping:
            self._add(MappingNode(frame.place, tuple(self._entries(frame))), frame.size, frame.anchor)
        else:
            self._add(SequenceNode(frame.place, tuple(frame.children)), frame.size, frame.anchor)

    def _entries(self, frame: _Frame) -> Iterable[Entry]:
        seen: dict[str, Place] = {}
        for key, value in zip(frame.children[::2], frame.children[1::2], strict=True):
            if not isinstance(key, Scalar):
                if not frame.has_broken_key or not self.text[frame.index :].startswith("{{"):
                    self._problem(key.place, "a key must be text", "Write it as `key: value`.")
            elif key.text == "<<" and key.plain:
                self._problem(key.place, "`<<` is not read: YAML 1.2 has no merge keys", "Write the keys out.")
            elif key.text in seen:
                message = f"`{key.text}` stands twice; the first is in line {seen[key.text].line}"
                self._problem(key.place, message, "Remove one of the two.")
            else:
                seen[key.text] = key.place
                yield Entry(key, value)

    def _follow(self, anchor: str, place: Place) -> None:
        if any(frame.anchor == anchor for frame in self._frames):
            raise self._alone(place, f"`*{anchor}` refers to a value that contains it", "Write the value out.")
        if anchor not in self._anchors:
            hint = f'If it is meant as text, quote it: "*{anchor}"'
            self._problem(place, f"`*{anchor}` refers to nothing: there is no `&{anchor}` before it", hint)
            self._add(Scalar(place, f"*{anchor}"), 1, None)
            return
        node, size = self._anchors[anchor]
        self._unfolded += size
        if self._unfolded > MOST_UNFOLDED:
            raise self._alone(place, f"aliases unfold to more than {MOST_UNFOLDED:,} values", "Write the values out.")
        self._add(node, size, None)

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (node, size)
        if not self._frames:
            self.root = node
            return
        frame = self._frames[-1]
        if frame.is_mapping and len(frame.children) % 2 == 0 and not isinstance(node, Scalar):
            frame.has_broken_key = True
        frame.children.append(node)
        frame.size += size

    def _check_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            self._problem(place, f"the tag `{event.tag}` is not read", "Remove it.")

    def _place(self, event: Any) -> Place:
        return Place(self.path, event.start_mark.line + 1, event.start_mark.column + 1)

    def _problem(self, place: Place, message: str, hint: str) -> None:
        self.problems.append(Problem(place, message, hint))

    def _alone(self, place: Place, message: str, hint: str) -> ConfigProblems:
        return unreadable(self.path, message, hint, line=place.line, column=place.column)
