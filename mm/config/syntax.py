"""Says in plain words what YAML's parser found wrong, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import yaml

from mm.config.problems import ConfigProblems, unreadable

_PLACEHOLDER = re.compile(r"\{\{.*?(?:\}\}|$)")
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'(?:''|[^'])*'""")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


def explain(path: Path, text: str, error: yaml.YAMLError) -> ConfigProblems:
    """The one problem of a file that is no YAML. It comes alone: what follows cannot be read."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return unreadable(path, f"this is not YAML: {error}")
    line, column = error.problem_mark.line, error.problem_mark.column
    start = error.context_mark.line if error.context_mark else line
    lines = text.splitlines() or [""]
    placeholder = _unquoted_placeholder(lines, start, line)
    if placeholder:
        row, place, found = placeholder
        hint = f'Put the whole entry in quotes, such as "{found}".'
        return unreadable(path, f"quote it: YAML reads `{found}` as a mapping", hint, line=row + 1, column=place + 1)
    before, behind = (lines[line][:column], lines[line][column:]) if line < len(lines) else ("", "")
    if before.endswith("$") and behind.startswith("{"):
        written = f"${behind.partition('}')[0]}}}"
        hint = f'Inside [] and {{}} it needs quotes: "{written}"'
        return unreadable(
            path, f"quote it: YAML reads the brace of `{written}` itself", hint, line=line + 1, column=column
        )
    message, hint, at_context = _words(error, behind[:1])
    if at_context and error.context_mark:
        line, column = error.context_mark.line, error.context_mark.column
    return unreadable(path, message, hint, line=line + 1, column=column + 1)


def _unquoted_placeholder(lines: Sequence[str], first: int, last: int) -> tuple[int, int, str] | None:
    """Row, column (from 0) and text of a `{{x}}` outside quotes; the parser's own line is looked at first."""
    for row in (last, *range(max(first, last - 20), last)):
        if row >= len(lines):
            continue
        bare = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), lines[row])
        found = _PLACEHOLDER.search(_COMMENT.sub("", bare))
        if found:
            return row, found.start(), found.group().rstrip(" ,]")
    return None


def _words(error: yaml.MarkedYAMLError, character: str) -> tuple[str, str, bool]:
    """Message, hint, and whether the place is where the broken part starts."""
    problem, context = str(error.problem), str(error.context or "")
    if character == "\t" or "tab character" in problem:
        return "a tab is used for indentation", "Indent with spaces.", False
    if "mapping values are not allowed" in problem:
        return "a `: ` stands inside unquoted text", 'Put the text in quotes: key: "this: that"', False
    if "cannot start any token" in problem:
        return f"unquoted text cannot start with `{character}`", "Put the text in quotes.", False
    if "alphabetic or numeric character" in problem:
        return "unquoted text cannot start with `*` or `&`", 'Put it in quotes: "*"', False
    if "quoted scalar" in context and "end of stream" in problem:
        return "the quote that opens here is never closed", "Close the quote.", True
    if "expected ',' or ']'" in problem:
        return "the list that starts here is not closed, or lacks a comma", "Close it with `]`.", True
    if "expected ',' or '}'" in problem:
        return "the mapping that starts here is not closed, or lacks a comma", "Close it with `}`.", True
    if "expected key" in problem or "could not find expected ':'" in problem:
        return (
            "a `key: value` is expected here",
            "Check the indentation, and that a `:` and a blank follow the key.",
            False,
        )
    if "'-' indicator" in problem:
        return "a list entry is expected here", "Start it with `- `, at the indentation of its siblings.", False
    if "nesting depth" in problem:
        return "the values are nested too deeply", "", False
    return f"this is not YAML: {problem}" + (f" ({context})" if context else ""), "", False
