"""Texts that end for YAML where their author did not mean it: a quote that was forgotten, a `#` that cuts."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from mm.config.flow import quoted
from mm.config.keys import KEY_NAMES

Explained = tuple[str, str, int, int]
"""Message, hint, and the line and column to look at, counted from 0."""

_CLOSERS = {yaml.FlowSequenceStartToken: "]", yaml.FlowMappingStartToken: "}"}
_ENDS = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_BEFORE_A_TEXT = (yaml.FlowSequenceStartToken, yaml.FlowEntryToken, yaml.ValueToken)
_OPENERS = {"]": "[", "}": "{"}
_STRUCTURE = re.compile(r"\s*(?:-(?:\s|$)|[\w.$-]+\s*:(?:\s|$))")
_NEXT_ENTRY = re.compile(r",\s+[\"']?([\w$-]+)[\"']?:(?:\s+([\[{])|\s|$)")
_COMMENT = re.compile(r"[ \t]*(#[^\s#]\S*)")
_MOST_TOKENS = 40  # that one unquoted text may have been cut into

_CURLY = re.compile(
    r"[\u201c-\u201f]([^\u201c-\u201f]*)[\u201c-\u201f]|[\u2018-\u201b]([^\u2018\u201a\u201b]*)[\u2018\u2019]"
)

PROSE = frozenset({"description", "desc", "help", "instructions"})
"""Keys whose value is told to the model as it stands."""


def wrong_end(text: str, tokens: Iterable[Any], error: yaml.MarkedYAMLError) -> Explained | None:
    """The text whose wrong end the parser has stumbled over; None if it was something else.

    `tokens` are what the scanner makes of the text.
    """
    mark = error.problem_mark
    if mark is None:
        return None
    lines = text.splitlines() or [""]
    closers: list[str] = []
    recent = deque[Any](maxlen=_MOST_TOKENS)
    cut: Explained | None = None
    for token in tokens:
        if token.start_mark.index >= mark.index:
            break
        if _runs_on(text, lines, token, mark):
            return _unclosed(lines, token.start_mark, closers)
        meant = _meant_on_line(text, token, mark, closers)
        if meant is not None:
            return _unclosed(lines, token.start_mark, closers, meant)
        if type(token) in _CLOSERS:
            closers.append(_CLOSERS[type(token)])
        elif isinstance(token, _ENDS) and closers:
            closers.pop()
        recent.append(token)
        cut = (cut or _cut_in_brackets(text, lines, recent, closers)) if closers else None
    if _is_open_to_the_end(lines, error):
        return _unclosed(lines, error.context_mark, closers)
    return cut or _cut(text, lines, recent, error)


def in_curly_quotes(text: str, *, plain: bool) -> str | None:
    """What stands in a pair of curly quotes, as word processors write them; None if the text is not in one.

    In straight quotes they may be meant, but hardly around a placeholder alone.
    """
    found = _CURLY.fullmatch(text)
    inside = None if found is None else found.group(1) or found.group(2) or ""
    return inside if plain or (inside and re.fullmatch(r"\{\{[^{}]*\}\}", inside)) else None


def _is_quoted(token: Any) -> bool:
    return isinstance(token, yaml.ScalarToken) and token.style in ("'", '"')


def _runs_on(text: str, lines: Sequence[str], token: Any, mark: Any) -> bool:
    """Whether a quoted text over several lines ends right before a word: there, another quote was to open."""
    start, end = token.start_mark, token.end_mark
    if not _is_quoted(token) or start.line == end.line:
        return False
    if text[end.index : end.index + 1].strip(" \t\r\n,]}:"):
        return True
    stumbles_here = end.line == mark.line and not text[end.index : mark.index].strip()
    return stumbles_here and any(_STRUCTURE.match(line) for line in lines[start.line + 1 : end.line + 1])


def _meant_on_line(text: str, token: Any, mark: Any, closers: Sequence[str]) -> str | None:
    """What is meant by the first text of `["{{a}}, "{{b}}"]`, whose quote closes where another was to open."""
    end = token.end_mark.index
    behind = text[end : end + 1]
    if not _is_quoted(token) or not closers or not (behind == "#" or (end == mark.index and behind.strip())):
        return None
    inside = text[token.start_mark.index + 1 : end - 1].rstrip()
    meant = _meant(inside, closers)
    if meant == inside:
        meant = re.sub(r",(\s+[\w$-]+:)?$", "", inside)
    return meant if meant != inside else None


def _is_open_to_the_end(lines: Sequence[str], error: yaml.MarkedYAMLError) -> bool:
    """Whether the error is a quoted text that is not closed, or that has swallowed what it cannot hold."""
    context, mark = error.context_mark, error.problem_mark
    if context is None or mark is None or "quoted scalar" not in str(error.context):
        return False
    swallowed = lines[context.line + 1 : mark.line + 1]
    return "end of stream" in str(error.problem) or any(_STRUCTURE.match(line) for line in swallowed)


def _unclosed(lines: Sequence[str], opener: Any, closers: Sequence[str], meant: str | None = None) -> Explained:
    rest = lines[opener.line][opener.column :]
    meant = _meant(rest[1:], closers) if meant is None else meant
    hint = f"Write `{rest[0]}{meant}{rest[0]}`." if meant else "Close it in its line."
    return "the quote that opens here is never closed", hint, opener.line, opener.column


def _cut_in_brackets(
    text: str, lines: Sequence[str], recent: Sequence[Any], closers: Sequence[str]
) -> Explained | None:
    """A `#` right behind the last token that has made a comment of a text, and of a bracket that it stands in."""
    last = recent[-1]
    comment = _COMMENT.match(text, last.end_mark.index)
    if comment is None or not (_is_plain(last) or isinstance(last, _BEFORE_A_TEXT)):
        return None
    row, column = last.end_mark.line, last.end_mark.column + comment.start(1) - last.end_mark.index
    if closers[-1] not in lines[row][column:]:
        return None
    key, start = _start(text, recent, is_mapping=closers[-1] == "}")
    if start is not None and start.start_mark.line != row:
        hint = _by_hand(text, start)
    else:
        written = quoted(_meant(lines[row][column if start is None else start.start_mark.column :], closers))
        hint = f"Write `{key}: {written}`." if key else f"Write `{written}`."
    kind = "mapping" if closers[-1] == "}" else "list"
    word = _meant(comment.group(1), closers)
    message = f"`{word}` is read as a comment, and with it what closes the {kind}: the text needs quotes"
    return message, hint, row, column


def _cut(text: str, lines: Sequence[str], recent: Sequence[Any], error: yaml.MarkedYAMLError) -> Explained | None:
    """The same without brackets, where the text goes on in the next line."""
    last, mark = recent[-1] if recent else None, error.problem_mark
    if mark is None or last is None or not _is_plain(last) or "expected key" not in str(error.problem):
        return None
    comment = _COMMENT.match(text, last.end_mark.index)
    row = last.end_mark.line
    if comment is None or mark.column <= _indentation(lines[row]):
        return None
    column = last.end_mark.column + comment.start(1) - last.end_mark.index
    message = f"`{comment.group(1)}` is read as a comment, which ends the text before it"
    return message, _by_hand(text, last), row, column


def _by_hand(text: str, start: Any) -> str:
    return f"Put a quote before `{_source(text, start)}`, and one behind the end of the text."


def _indentation(line: str) -> int:
    """Where the key of a line stands, in a list behind its dashes."""
    found = re.match(r"\s*(?:- +)*", line)
    return found.end() if found else 0


def _start(text: str, recent: Sequence[Any], *, is_mapping: bool) -> tuple[str, Any]:
    """The key of the text that ends the tokens ("" in a list), and its first piece: commas may have cut it as well.

    The piece is None where the `#` itself begins the text.
    """
    end = len(recent) if isinstance(recent[-1], yaml.ScalarToken) else len(recent) - 1
    at = end - 1
    while is_mapping and at >= 2 and isinstance(recent[at - 1], yaml.FlowEntryToken) and _is_plain(recent[at - 2]):
        at -= 2
    key = _key_before(text, recent, at)
    if end == len(recent) or (isinstance(recent[-1], yaml.FlowEntryToken) and key in PROSE and _is_plain(recent[at])):
        return key, recent[at]
    return _key_before(text, recent, len(recent)), None


def _is_plain(token: Any) -> bool:
    return isinstance(token, yaml.ScalarToken) and bool(token.plain)


def _key_before(text: str, recent: Sequence[Any], at: int) -> str:
    if at < 2 or not isinstance(recent[at - 1], yaml.ValueToken) or not isinstance(recent[at - 2], yaml.ScalarToken):
        return ""
    return _source(text, recent[at - 2])


def _source(text: str, token: Any) -> str:
    return text[token.start_mark.index : token.end_mark.index]


def _meant(rest: str, closers: Sequence[str]) -> str:
    """What of a line is the text: less the entry behind a comma, and less the brackets that close what is open."""
    if not closers:
        return rest.rstrip()
    return _without_closers(rest[: _next_entry(rest, closers[-1])], closers)


def _next_entry(rest: str, closer: str) -> int:
    """Where the next entry of a list or mapping begins, if there is one on the line. Prose has commas as well."""
    if closer == "]":
        return rest.find(", ") if ", " in rest else len(rest)
    entries = (found for found in _NEXT_ENTRY.finditer(rest) if found.group(1) in KEY_NAMES or found.group(2))
    return next((found.start() for found in entries), len(rest))


def _without_closers(rest: str, closers: Sequence[str]) -> str:
    """A text less the brackets at its end that close what opened before; one that it opens itself belongs to it."""
    for count in range(len(closers), 0, -1):
        ending = closers[: -count - 1 : -1]
        found = re.search(r"\s*".join(["", *map(re.escape, ending), r",?\s*$"]), rest)
        kept = rest[: found.start()] if found else ""
        if found and all(kept.count(_OPENERS[one]) <= kept.count(one) for one in ending):
            return kept.rstrip()
    return rest.rstrip().removesuffix(",")
