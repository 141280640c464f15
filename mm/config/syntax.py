"""Says in plain words what YAML's parser found wrong, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from mm.config.flow import quoted
from mm.config.keys import KEY_NAMES
from mm.config.masks import missing_comma
from mm.config.problems import ConfigProblems, unreadable
from mm.config.slips import KEY_LINE, slip
from mm.config.text_ends import Explained, wrong_end

_BEHIND_QUOTE = re.compile(r"\s*(?:- +)?(?:[\w.-]+:\s+)?((?:\"[^\"]*\"|'[^']*')\s*[^\s#:,].*)$")
_NO_COLON = re.compile(r"\s*(?:- +)*([A-Za-z_]+)(?::| +)(\S.*)$")
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MEANT_ESCAPE = re.compile(r"\\[0abtnvfreNLPxuU_ /]")
_CLOSERS = {"[": ("list", "]"), "{": ("mapping", "}")}


def explain(path: Path, text: str, error: yaml.YAMLError, tokens: Iterable[Any]) -> ConfigProblems:
    """The one problem of a file that is no YAML. It comes alone: what follows cannot be read.

    `tokens` are what the scanner makes of the text, as far as it comes.
    """
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return unreadable(path, f"this is not YAML: {error}")
    line, column = error.problem_mark.line, error.problem_mark.column
    lines = text.splitlines() or [""]
    behind = lines[line][column:] if line < len(lines) else ""
    scanned = list(tokens)
    found = wrong_end(text, scanned, error) or _flow(lines, text, error) or slip(lines, scanned, line)
    found = found or _escape(lines, error)
    message, hint, line, column = found or (*_words(error, behind[:1], lines), line, column)
    return unreadable(path, message, hint, line=line + 1, column=column + 1)


def _flow(lines: Sequence[str], text: str, error: yaml.MarkedYAMLError) -> Explained | None:
    """A list or mapping in brackets that is not closed, or lacks a comma: message, hint, and where to look."""
    mark, context, problem = error.problem_mark, error.context_mark, str(error.problem)
    if mark is None or context is None or not ("expected ',' or ']'" in problem or "expected ',' or '}'" in problem):
        return None
    key = missing_comma(text, mark.index)
    if key:
        column = lines[mark.line][: mark.column].rindex(key)
        return f"a comma is missing before `{key}`", f"Write `, {key}:`.", mark.line, column
    start = lines[context.line][context.column :]
    kind, closer = _CLOSERS.get(start[:1], ("list", "]"))
    if mark.line == context.line and lines[mark.line][mark.column :].strip():
        rest = lines[mark.line][mark.column :].strip()
        message = f"a comma is missing before `{rest}`, or the {kind} is not closed"
        return message, f"Write `, {rest}`.", mark.line, mark.column
    whole = re.sub(r"\s+#.*$", "", start).rstrip().rstrip(",")
    hint = f"Write `{whole}{closer}`." if len(whole) > 1 else f"Close it with `{closer}`."
    return f"the {kind} that starts here is not closed, or lacks a comma", hint, context.line, context.column


def _escape(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Explained | None:
    """`"\\d"`: in double quotes a backslash starts an escape, and this is none."""
    mark, context = error.problem_mark, error.context_mark
    if mark is None or context is None or "unknown escape" not in str(error.problem):
        return None
    row = lines[mark.line] if mark.line < len(lines) else ""
    column = mark.column if row[mark.column : mark.column + 1] == "\\" else mark.column - 1
    escape = row[max(0, column) : column + 2]
    if not escape.startswith("\\"):
        return None
    whole = _DOUBLE_QUOTED.match(lines[context.line], context.column)
    message = f"`{escape}` is no escape that YAML knows in double quotes"
    hint = "Use single quotes, in which a backslash stands for itself."
    if whole and _MEANT_ESCAPE.search(whole.group(1).replace("\\\\", "")):
        hint = f"Write `\\{escape}`, with two backslashes."
    elif whole:
        inside = whole.group(1).replace('\\"', '"').replace("\\\\", "\\").replace("'", "''")
        hint = f"Write it in single quotes: '{inside}'"
    return message, hint, mark.line, column


def _words(error: yaml.MarkedYAMLError, character: str, lines: Sequence[str]) -> tuple[str, str]:
    """Message and hint."""
    problem, context = str(error.problem), str(error.context or "")
    row = error.problem_mark.line if error.problem_mark else 0
    if character == "\t" or "tab character" in problem:
        return "a tab is used for indentation", _indent(lines, row, deeper=True) or "Indent with spaces."
    if "mapping values are not allowed" in problem:
        hint = _indent(lines, row)
        if hint:
            return "this line is indented deeper than the one above it, which is no key of its own", hint
        return "a `: ` stands inside unquoted text", 'Put the text in quotes: key: "this: that"'
    if "cannot start any token" in problem:
        return f"unquoted text cannot start with `{character}`", "Put the text in quotes."
    if "alphabetic or numeric character" in problem:
        return "unquoted text cannot start with `*` or `&`", 'Put it in quotes: "*"'
    if "expected key" in problem or "could not find expected ':'" in problem:
        return _expected_key(lines, row)
    if "'-' indicator" in problem:
        hint = _indent(lines, row) or "Start it with `- `, at the indentation of its siblings."
        return "a list entry is expected here", hint
    if "nesting depth" in problem:
        return "the values are nested too deeply", ""
    return f"this is not YAML: {problem}" + (f" ({context})" if context else ""), ""


def _expected_key(lines: Sequence[str], row: int) -> tuple[str, str]:
    behind = _BEHIND_QUOTE.match(lines[row]) if row < len(lines) else None
    if behind:
        text = behind.group(1).rstrip()
        text = text[1:-1] if text[0] == text[-1] else text  # the outer quotes are those that were meant
        return "text stands behind the closing quote", f"Write it in quotes: {quoted(text)}"
    for line in reversed(lines[max(0, row - 1) : row + 1]):
        colon = _NO_COLON.match(line)
        if colon and colon.group(1) in KEY_NAMES:
            hint = f"Write `{colon.group(1)}: {colon.group(2).strip()}`."
            return f"`{colon.group(1)}` lacks a `:` with a blank behind it", hint
    hint = _indent(lines, row) or "Check the indentation, and that a `:` and a blank follow the key."
    return "a `key: value` is expected here", hint


def _indent(lines: Sequence[str], row: int, *, deeper: bool = False) -> str:
    """How far to indent a line, by the key above it; "" if one of the two is no key, or both stand alike."""
    here = KEY_LINE.match(lines[row]) if row < len(lines) else None
    above = next((line for line in reversed(lines[:row]) if line.strip() and not line.lstrip().startswith("#")), "")
    there = KEY_LINE.match(above)
    if here is None or there is None or "\t" in there.group(1):
        return ""
    column, opens = len(there.group(1)), deeper and above.rstrip().endswith(":")
    if not opens and column == len(here.group(1)) and "\t" not in here.group(1):
        return ""
    if opens:
        return f"Indent with spaces: {column + 2} before `{here.group(2)}`, two more than before `{there.group(2)}`."
    dash = "- " in here.group(1) and "- " in there.group(1)
    column = there.group(1).index("-") if dash else column
    return f"Indent with spaces: {column} before `{'- ' if dash else ''}{here.group(2)}`, as for `{there.group(2)}`."
