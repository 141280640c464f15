"""Texts that a person decides about, shown so that nothing can hide in them."""

from __future__ import annotations

import re

from mm.visible import make_visible_line

_RUN_OF_BLANKS = re.compile(r" {2,}")
_LONG_RUN_OF_BLANKS = re.compile(r" {17,}")  # shorter ones may be the indentation of a script
_AMBIGUOUS_BACKSLASH = re.compile(r"\\(?=[xuUnrt\\'\"]|$)")
_FEW_EMPTY_LINES = 3


def quote(entry: str) -> str:
    r"""One argv entry in quotes, on one line: `''`, `'a b'`, `'a[␠×3]b'`, `"it's"`, `'a\nb'`.

    A backslash is doubled where it would otherwise read as one of mm's own escapes.
    """
    text = _AMBIGUOUS_BACKSLASH.sub(r"\\\\", entry)
    text = _RUN_OF_BLANKS.sub(_count_blanks, _mark_counts(make_visible_line(text)))
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def one_line(text: str) -> str:
    """A text that must stay on one line, such as a path: escaped, runs of blanks as a count, never shortened."""
    return _RUN_OF_BLANKS.sub(_count_blanks, _mark_counts(make_visible_line(text)))


def script_lines(text: str) -> list[str]:
    r"""The lines of a script, never cut: what does not print as `[\x1b]`, long runs of blanks and empty lines counted.

    The brackets tell a real escape character from the four characters `\x1b` that a script may well contain.
    """
    lines: list[str] = []
    empty = 0
    for line in text.removesuffix("\n").split("\n"):
        empty = 0 if line.strip() else empty + 1
        if empty >= _FEW_EMPTY_LINES:
            del lines[-(_FEW_EMPTY_LINES - 1 if empty == _FEW_EMPTY_LINES else 1) :]
            lines.append(f"[empty line ×{empty}]")
        else:
            lines.append(_LONG_RUN_OF_BLANKS.sub(_count_blanks, "".join(map(_bracketed, _mark_counts(line)))))
    return lines


def _bracketed(one: str) -> str:
    shown = make_visible_line(one)
    return one if shown == one else f"[{shown}]"


def _mark_counts(text: str) -> str:
    """The sign that counts blanks is itself written as an escape, so that no text can pretend to a count."""
    return text.replace("␠", "\\u2420")


def _count_blanks(run: re.Match[str]) -> str:
    return f"[␠×{len(run.group())}]"
