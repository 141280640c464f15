"""Slips of a line that the parser stumbles over later: no blank behind a dash, text that is not indented, an `=`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from mm.config.keys import KEY_NAMES
from mm.config.text_ends import Explained

KEY_LINE = re.compile(r"(\s*(?:- +)*)([\w.$-]+|\"[^\"]*\"|'[^']*')\s*:(?:\s|$)")
"""A line that begins with a key: what stands before it, and the key."""
_DASHED_KEY = re.compile(r"\s*-([A-Za-z_]+):(?:\s.*|)$")
_DASHED_TEXT = re.compile(r"\s*-((?:\"[^\"]*\"|'[^']*'|\[.*\]|\{.*\}))\s*(?:#.*)?$")
_EQUALS = re.compile(r"\s*(?:- +)*([A-Za-z_]+)\s*=\s*(\S.*?)\s*$")
_BLOCK = re.compile(r"(\s*(?:- +)*)([\w.$-]+)\s*:\s")


def slip(lines: Sequence[str], tokens: Iterable[Any], row: int) -> Explained | None:
    """The slip in the line of the error, counted from 0, or in the one above it; None if there is none.

    `tokens` are what the scanner makes of the text, as far as it comes.
    """
    blocks = [one for one in tokens if isinstance(one, yaml.ScalarToken) and one.style in ("|", ">")]
    above = next((at for at in range(min(row, len(lines)) - 1, -1, -1) if lines[at].strip()), -1)
    near = [at for at in (above, row) if 0 <= at < len(lines)]
    found = _outside_block(lines, blocks[-1], near) if blocks else None
    if found:
        return found
    texts = [at for at in near if not any(one.start_mark.line < at < one.end_mark.line for one in blocks)]
    return next((found for at in texts if (found := no_blank(lines, at) or _equals(lines, at))), None)


def no_blank(lines: Sequence[str], row: int) -> Explained | None:
    """`-name: x` and `-"{{x}}"` at the start of a line."""
    line = lines[row]
    key = _DASHED_KEY.match(line)
    if not (key and key.group(1) in KEY_NAMES) and not _DASHED_TEXT.match(line):
        return None
    column = line.index("-")
    hint = f"Write `- {line[column + 1 :].rstrip()}`"
    behind = next((one for one in lines[row + 1 :] if one.strip()), "")
    beside = bool(key) and _indentation(behind) == column and KEY_LINE.match(behind)
    more = ", and two more blanks before the other keys of this entry." if beside else "."
    return 'a blank is missing after "-"', hint + more, row, column


def _equals(lines: Sequence[str], row: int) -> Explained | None:
    """`name = x`: the first of such lines."""
    first = None
    for at in range(row, -1, -1):
        found = _EQUALS.match(lines[at])
        if not found or found.group(1) not in KEY_NAMES:
            break
        first = at, found
    if first is None:
        return None
    at, found = first
    message = f"`=` stands behind `{found.group(1)}`, where YAML has a `:`"
    return message, f"Write `{found.group(1)}: {found.group(2)}`.", at, found.start(1)


def _outside_block(lines: Sequence[str], block: Any, near: Sequence[int]) -> Explained | None:
    """The line behind `key: |` or its text that was meant to belong to it, and is not indented enough."""
    header = lines[block.start_mark.line]
    key = _BLOCK.match(header)
    end = max(block.end_mark.line, block.start_mark.line + 1)
    row = next((at for at in range(end, len(lines)) if lines[at].strip()), -1)
    if key is None or row not in near or _is_structure(lines[row]):
        return None
    text = [one for one in lines[block.start_mark.line + 1 : end] if one.strip()]
    column = _indentation(text[0]) if text else len(key.group(1)) + 2
    word = lines[row].split()[0]
    message = f"this line belongs to the text of `{key.group(2)}`, and is not indented"
    return message, f"Indent it more than its key: {column} blanks before `{word}`.", row, _indentation(lines[row])


def _is_structure(line: str) -> bool:
    """Whether a line is a key or list entry, if one with a slip of its own: `command [x]`."""
    is_entry = re.match(r"\s*(?:- |-$|#|---)", line) or line.split()[0] in KEY_NAMES
    return bool(is_entry or KEY_LINE.match(line) or _EQUALS.match(line))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
