"""Puts one more entry at the end of `tools:` in the text of an agent file, and leaves every other byte as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mm.config.flow import flow
from mm.config.nodes import MappingNode, Node, to_json
from mm.config.yaml_tree import read_tree
from mm.errors import UsageError
from mm.messages import JSON

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


def append_tool(path: Path, text: str, entry: Mapping[str, JSON], *, comment: str = "") -> str:
    """The text of an agent file with the entry added. `text` is one that can be read; `path` is what errors name.

    `comment` is one more line below the entry. Raises UsageError with the entry to add by hand where `tools` is
    written in a way that nothing can be added to.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    block = [*block_lines(entry), *([f"  # {comment}"] if comment else [])]
    place = _find_tools(text)
    for gap in (True, False):
        changed = _insert(text, place, entry, block, newline, gap=gap)
        if changed is not None and _only_adds(path, text, changed, entry):
            return changed
    message = f"`tools` of `{path}` is written in a way that nothing can be added to by itself."
    raise UsageError(message, f"Nothing was changed. {by_hand(block)}")


def by_hand(block: Iterable[str]) -> str:
    """What to tell somebody who has to write the entry into the file."""
    return "\n".join(["Add this by hand:", "  tools:", *(f"    {line}" for line in block)])


def block_lines(entry: Mapping[str, JSON]) -> list[str]:
    """The entry as lines of YAML: one key a line, parameters one a line."""
    lines = []
    for key, value in entry.items():
        if key == "parameters" and isinstance(value, dict) and value:
            lines.append("  parameters:")
            lines += [f"    {flow(name)}: {flow(schema)}" for name, schema in value.items()]
        elif key == "description" and not value:
            lines.append(f'  {key}: ""  # one sentence: what it does, and when to use it')
        else:
            lines.append(f"  {key}: {flow(value)}")
    return [f"- {lines[0].strip()}", *lines[1:]]


@dataclass(frozen=True, slots=True)
class _Tools:
    """Where `tools` stands. Positions are indices of the text.

    `kind` is `missing`, `empty` (nothing, null or `[]`), `block`, `flow` or `other`. `start` and `end` are those of
    the value; `last` is the end of the last thing in it. `column` is that of its items, or of the keys of the file.
    """

    kind: str
    column: int = 0
    start: int = 0
    end: int = 0
    last: int = 0
    last_is_block_text: bool = False


def _find_tools(text: str) -> _Tools:
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def index(mark: Any) -> int:
        return min(starts[min(int(mark.line), len(starts) - 1)] + int(mark.column), len(text))

    events: list[Any] = list(yaml.parse(text, Loader=_LOADER))
    at = next(at for at, event in enumerate(events) if isinstance(event, yaml.CollectionStartEvent))
    if not isinstance(events[at], yaml.MappingStartEvent) or events[at].flow_style:
        return _Tools("other")
    column = events[at].start_mark.column  # of the keys
    value = _value_of(events[at + 1 :], "tools")
    if not value:
        return _Tools("missing", column)
    first, end = value[0], value[-1]
    if isinstance(first, yaml.ScalarEvent):
        empty = first.style in (None, "") and first.value in ("", "~", "null", "Null", "NULL")
        kind = "empty" if empty and not first.anchor and not first.tag else "other"
        return _Tools(kind, column + 2, index(first.start_mark), index(first.end_mark))
    if not isinstance(first, yaml.SequenceStartEvent) or first.anchor:
        return _Tools("other")
    if first.flow_style and len(value) == 2:
        if text[index(first.end_mark) : index(end.start_mark)].strip(" \r\n"):
            return _Tools("other")  # a comment stands in it
        return _Tools("empty", column + 2, index(first.start_mark), index(end.end_mark))
    last = _last_thing(value[1:-1])
    return _Tools(
        "flow" if first.flow_style else "block",
        column=value[0].start_mark.column,
        last=index(last.end_mark),
        last_is_block_text=isinstance(last, yaml.ScalarEvent) and last.style in ("|", ">"),
    )


def _value_of(events: Iterable[Any], wanted: str) -> list[Any]:
    """The events of the value of a key of the mapping that has just begun; [] if the key is not there."""
    depth, is_key, taking, found = 0, True, False, []
    for event in events:
        if depth == 0 and isinstance(event, yaml.CollectionEndEvent):
            break
        if taking:
            found.append(event)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth == 0:
            if taking:
                break
            taking = is_key and isinstance(event, yaml.ScalarEvent) and event.value == wanted
            is_key = not is_key
    return found


def _last_thing(events: Iterable[Any]) -> Any:
    """The last event that ends where its text ends: a block list or mapping ends where the next thing begins."""
    last, flows = None, []
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            flows.append(event.flow_style)
        elif not isinstance(event, yaml.CollectionEndEvent) or flows.pop():
            last = event
    return last


def _insert(
    text: str, place: _Tools, entry: Mapping[str, JSON], block: list[str], newline: str, *, gap: bool
) -> str | None:
    if place.kind == "flow":
        return f"{text[: place.last]}, {flow(dict(entry))}{text[place.last :]}"
    lines = "".join(f"{' ' * place.column}{line}{newline}" for line in block)
    if place.kind == "missing":
        head = text if not text or _LINE_END.search(text[-1]) else text + newline
        indent = " " * place.column
        body = "".join(f"{indent}  {line}{newline}" for line in block)
        return f"{head}{newline}{indent}tools:{newline}{body}"
    if place.kind == "empty":
        return _open(text, place, lines, newline)
    if place.kind == "block":
        is_behind = place.last_is_block_text and _LINE_END.search(text[place.last - 1]) is not None
        at = _behind_comments(text, place.last if is_behind else _line_end(text, place.last), place.column)
        return _at_line(text, at, lines, newline, gap=gap and _has_gap(text, at))
    return None


def _open(text: str, place: _Tools, lines: str, newline: str) -> str:
    """`tools:` without anything in it becomes a block list; a comment behind it stays."""
    before, after = text[: place.start], text[place.end :]
    if place.start != place.end:
        before = before.rstrip(" ") if not after or after[0] in "\r\n" else before
    return _at_line(before + after, _line_end(before + after, len(before)), lines, newline, gap=False)


def _at_line(text: str, at: int, lines: str, newline: str, *, gap: bool) -> str:
    head = text[:at]
    if head and not _LINE_END.search(head[-1]):
        head += newline
    return f"{head}{newline if gap else ''}{lines}{text[at:]}"


def _line_end(text: str, at: int) -> int:
    """The index behind the line that `at` lies in."""
    found = _LINE_END.search(text, at)
    return found.end() if found else len(text)


def _behind_comments(text: str, at: int, column: int) -> int:
    """The index behind the comments at `at` that belong to the entry before: they stand further in than its dash."""
    while (found := re.compile(rf"[ ]{{{column + 1},}}#").match(text, at)) is not None:
        at = _line_end(text, found.end())
    return at


def _has_gap(text: str, at: int) -> bool:
    """Whether an empty line belongs before an entry that comes at `at`, as the rest of the file has it."""
    if re.search(r"\n[ \t]*\r?\n\Z", text[:at]):
        return False
    sets_apart = re.search(r"\n[ \t]*\r?\n([ ]*#[^\n]*\n)*[ ]*- ", text[:at])
    return bool(sets_apart) or len(re.findall(r"^[ ]*- \{?name:", text[:at], re.MULTILINE)) < 2


def _only_adds(path: Path, before: str, after: str, entry: Mapping[str, JSON]) -> bool:
    """Whether the file says what it said, and one tool more."""
    try:
        new, *_ = read_tree(path, after)
    except UsageError:
        return False
    old, *_ = read_tree(path, before)
    expected = to_json(old)
    assert isinstance(expected, dict)
    expected["tools"] = [*(expected.get("tools") or ()), dict(entry)]
    return to_json(new) == expected and _keys(new)[: len(_keys(old))] == _keys(old)


def _keys(node: Node) -> list[str]:
    return [entry.key.text for entry in node.entries] if isinstance(node, MappingNode) else []
