"""Builds the tree of a YAML document from the parser's events, in one pass and without recursion.

Aliases are shared, never copied, and bounded before anybody walks the tree; a node cannot contain itself.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mm.config.flow import quoted
from mm.config.keys import KEY_NAMES
from mm.config.masks import Masks
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode
from mm.config.problems import ConfigProblems, Problem, unreadable
from mm.config.schema import Place
from mm.config.slips import no_blank
from mm.config.syntax import explain
from mm.config.text_ends import PROSE, in_curly_quotes

DEEPEST = 60
MOST_UNFOLDED = 20_000  # values that aliases may add
_MAY_HOLD_COMMAS = PROSE | {"default"}
_COMMENT = re.compile(r"[ \t]+(#[^\s#].*)")
_PIECE = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s\"']+")
_WITHOUT_COMMAS = re.compile(r"[^\s\"']+(?:\s+(?:\"[^\"]*\"|'[^']*'))+")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_tree(path: Path, text: str) -> tuple[Node, list[Problem], list[Problem]]:
    """The tree of a document, the mistakes that leave it readable, and what may be one: a text that a `#` ends.

    Raises ConfigProblems where nothing behind the mistake can be read.
    """
    masks = Masks(text)
    builder = _Builder(path, masks)
    while True:
        try:
            builder.take_all(yaml.parse(masks.text, Loader=_LOADER))
        except yaml.MarkedYAMLError as error:
            if not masks.cover(error):
                raise explain(path, text, error, _tokens(masks.text)) from None
            builder = _Builder(path, masks)
            continue
        except yaml.YAMLError as error:
            raise explain(path, text, error, ()) from None
        except RecursionError as error:
            raise unreadable(path, "the values are nested too deeply") from error
        break
    if builder.root is None:
        raise unreadable(path, "the file is empty", "Write one with: mm init")
    return builder.root, builder.problems, builder.warnings


def _tokens(text: str) -> Iterator[Any]:
    """What the scanner makes of a text, as far as it comes."""
    with contextlib.suppress(yaml.YAMLError):
        yield from yaml.scan(text, Loader=_LOADER)


@dataclass(frozen=True, slots=True)
class _Built:
    """A finished value: how many values are in it, and how many mappings and lists lie in one another."""

    node: Node
    size: int = 1
    height: int = 0


@dataclass(slots=True)
class _Frame:
    """A mapping or list whose end has not come yet."""

    place: Place
    is_mapping: bool
    is_flow: bool
    anchor: str | None
    children: list[Node] = field(default_factory=list)
    size: int = 1
    height: int = 1


class _Builder:
    def __init__(self, path: Path, masks: Masks) -> None:
        self.path = path
        self.masks = masks
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Built] = {}
        self._documents = 0
        self._unfolded = 0

    def take_all(self, events: Iterable[Any]) -> None:
        for event in events:
            self._take(event)

    def _take(self, event: Any) -> None:
        place = self._place(event)
        if isinstance(event, yaml.ScalarEvent):
            self._check_tag(event, place)
            for scalar in self._scalars(event, place):
                self._add(_Built(scalar), event.anchor)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._check_tag(event, place)
            self._open(event, place)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._follow(str(event.anchor), place)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._alone(place, "a second document starts here", "Keep one document a file: remove the `---`.")

    def _scalars(self, event: Any, place: Place) -> Iterator[Scalar]:
        """The text of an event; two or more where only commas are missing, as in `[./x.sh "{{a}}"]`."""
        value = self.masks.back(event.value)
        in_list = bool(self._frames) and self._frames[-1].is_flow and not self._frames[-1].is_mapping
        if event.style not in (None, "") or not in_list or not _WITHOUT_COMMAS.fullmatch(value):
            yield self._scalar(event, place, value)
            return
        pieces = _PIECE.findall(value)
        message = f"a comma is missing before `{pieces[1]}`"
        self._problem(place, message, f"Write `{', '.join(pieces)}`.")
        for piece in pieces:
            is_quoted = piece[0] in "\"'"
            yield Scalar(place, piece[1:-1] if is_quoted else piece, not is_quoted)

    def _scalar(self, event: Any, place: Place, value: str) -> Scalar:
        straight = in_curly_quotes(value, plain=event.style in (None, ""))
        if straight is not None:
            self._problem(place, "curly quotes are a part of the text for YAML", f"Write {quoted(straight)}.")
            return Scalar(place, straight)
        if event.style not in (None, ""):
            return Scalar(place, value)
        start, end = event.start_mark.index, event.end_mark.index
        in_flow = bool(self._frames) and self._frames[-1].is_flow
        self._check_dash(place, value, start, end)
        self._look_at_comment(place, value, end)
        wrong = self.masks.problem(start, end, value, in_flow=in_flow)
        if wrong is None:
            return Scalar(place, value, event.tag is None)
        offset, message, hint = wrong
        behind = offset if "\n" not in self.masks.source[start : start + offset] else 0
        self._problem(Place(place.file, place.line, place.column + behind), message, hint)
        return Scalar(place, value)

    def _check_dash(self, place: Place, value: str, start: int, end: int) -> None:
        """`-name: x` in a line of its own is a key for YAML. All that follows from it is no mistake of its own."""
        source = self.masks.source
        line_start = source.rfind("\n", 0, start) + 1
        if value.startswith("-") and source[end : end + 1] == ":" and not source[line_start:start].strip():
            found = no_blank(source.splitlines(), place.line - 1)
            if found:
                raise self._alone(place, *found[:2])

    def _look_at_comment(self, place: Place, value: str, end: int) -> None:
        """`description: Close issue #12`: the number is gone. A comment that is meant has a blank behind its `#`."""
        frame = self._frames[-1] if self._frames else None
        comment = _COMMENT.match(self.masks.source, end)
        if frame is None or not frame.is_mapping or len(frame.children) % 2 == 0 or not value or comment is None:
            return
        key, rest = frame.children[-1], comment.group(1).rstrip(" ,\r" if frame.is_flow else None)
        if isinstance(key, Scalar) and key.text in PROSE:
            message = f"`{rest}` is read as a comment, and the text ends before it"
            edit = f"write `{key.text}: {quoted(f'{value} {rest}')}`, or put a blank behind the `#` of a comment"
            self.warnings.append(Problem(place, f"{message}; {edit}"))

    def _open(self, event: Any, place: Place) -> None:
        if len(self._frames) >= DEEPEST:
            raise self._alone(place, f"the values are nested more than {DEEPEST} deep", "")
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._frames.append(_Frame(place, is_mapping, bool(event.flow_style), event.anchor))

    def _close(self) -> None:
        frame = self._frames.pop()
        if frame.is_mapping:
            node: Node = MappingNode(frame.place, tuple(self._entries(frame)))
        else:
            node = SequenceNode(frame.place, tuple(frame.children))
        self._add(_Built(node, frame.size, frame.height), frame.anchor)

    def _entries(self, frame: _Frame) -> Iterable[Entry]:
        seen: dict[str, Place] = {}
        for key, value in self._pairs(frame):
            if not isinstance(key, Scalar):
                self._problem(key.place, "a key must be text", "Write it as `key: value`.")
            elif key.text == "<<" and key.plain:
                self._problem(key.place, "`<<` is not read: YAML 1.2 has no merge keys", "Write the keys out.")
            elif key.text in seen:
                message = f"`{key.text}` stands twice; the first is in line {seen[key.text].line}"
                self._problem(key.place, message, "Remove one of the two.")
            else:
                seen[key.text] = key.place
                yield Entry(key, value)

    def _pairs(self, frame: _Frame) -> list[tuple[Node, Node]]:
        """Keys and values; in braces, a text that a comma has cut is put together again."""
        pairs: list[tuple[Node, Node]] = []
        cut: list[str] = []
        for key, value in zip(frame.children[::2], frame.children[1::2], strict=True):
            more = _rest_of_text(pairs[-1], key, value, cut) if frame.is_flow and pairs else ""
            if not more:
                pairs.append((key, value))
                if cut:
                    self._report_cut(pairs[-2], cut)
                cut = []
                continue
            first, text = pairs[-1]
            assert isinstance(text, Scalar)
            cut.append(more)
            pairs[-1] = first, Scalar(text.place, f"{text.text}, {more}")
        if cut:
            self._report_cut(pairs[-1], cut)
        return pairs

    def _report_cut(self, pair: tuple[Node, Node], cut: Sequence[str]) -> None:
        key, text = pair
        assert isinstance(key, Scalar)
        assert isinstance(text, Scalar)
        message = f"the comma before `{cut[0]}` ends the text: inside {{}} it needs quotes"
        straight = in_curly_quotes(text.text, plain=True)
        written = quoted(text.text if straight is None else straight)
        self._problem(text.place, message, f"Write `{key.text}: {written}`.")

    def _follow(self, anchor: str, place: Place) -> None:
        if any(frame.anchor == anchor for frame in self._frames):
            raise self._alone(place, f"`*{anchor}` refers to a value that contains it", "Write the value out.")
        if anchor not in self._anchors:
            hint = f'If it is meant as text, quote it: "*{anchor}"'
            self._problem(place, f"`*{anchor}` refers to nothing: there is no `&{anchor}` before it", hint)
            self._add(_Built(Scalar(place, f"*{anchor}")), None)
            return
        built = self._anchors[anchor]
        self._unfolded += built.size
        if self._unfolded > MOST_UNFOLDED:
            raise self._alone(place, f"aliases unfold to more than {MOST_UNFOLDED:,} values", "Write the values out.")
        if len(self._frames) + built.height > DEEPEST:
            hint = f"`*{anchor}` counts as the value that it stands for: nest that less."
            raise self._alone(place, f"the values are nested more than {DEEPEST} deep", hint)
        self._add(built, None)

    def _add(self, built: _Built, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = built
        if not self._frames:
            self.root = built.node
            return
        frame = self._frames[-1]
        frame.children.append(built.node)
        frame.size += built.size
        frame.height = max(frame.height, built.height + 1)

    def _check_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            self._problem(place, f"the tag `{event.tag}` is not read", "Remove it.")

    def _place(self, event: Any) -> Place:
        return Place(self.path, event.start_mark.line + 1, event.start_mark.column + 1)

    def _problem(self, place: Place, message: str, hint: str) -> None:
        self.problems.append(Problem(place, message, hint))

    def _alone(self, place: Place, message: str, hint: str) -> ConfigProblems:
        return unreadable(self.path, message, hint, line=place.line, column=place.column)


def _rest_of_text(before: tuple[Node, Node], key: Node, value: Node, cut: Sequence[str]) -> str:
    """What a comma has cut off a text in braces, as in `{description: Month, 1 to 12}`; "" if it is a key."""
    name, text = before
    if not isinstance(name, Scalar) or not isinstance(text, Scalar) or not text.text or not isinstance(key, Scalar):
        return ""
    if (not text.plain and not cut) or not key.plain or not isinstance(value, Scalar):
        return ""
    is_prose = name.text in _MAY_HOLD_COMMAS and key.text not in KEY_NAMES
    is_sentence = re.search(r"[^\w$.-]", key.text) is not None
    if value.is_null and not value.text:
        return key.text if is_prose or is_sentence else ""
    return f"{key.text}: {value.text}" if name.text in _MAY_HOLD_COMMAS and is_sentence else ""
