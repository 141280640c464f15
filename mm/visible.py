"""Text from tools, models and files, made safe: visible for the terminal, plain for the model."""

from __future__ import annotations

import os
import re
import shlex

# Control characters but tab and newline, C1, bidi controls, invisible fillers, tags, lone surrogates. The two joiners
# (U+200C, U+200D) stay: emoji and several scripts need them, and they move nothing.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)

# Letters and marks by category, yet nothing that an eye could see.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" + "".join(map(chr, range(0xE0100, 0xE01F0))))

# ECMA-48: OSC, DCS, SOS, PM and APC up to their terminator; CSI; other escapes. Each also in its C1 form. A string
# without its terminator loses its opening only, so that it cannot swallow the rest of the text. No run goes past the
# begin of another sequence: the text is looked at once, however many of them never end.
_SEQUENCE = re.compile(
    "(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|\x1b[ -/]*[0-~]"
)
_OVERSTRUCK = re.compile("(.)\x08(?=\\1)|_\x08(?=.)")
_LONG_VALUE = re.compile("([`'])([^`'\n]{400,})\\1")
_NOT_ASCII = re.compile("[^\x00-\x7e]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def make_visible(text: str) -> str:
    """For the terminal: what would move the cursor, recolour, reorder or hide is shown as `\\x1b`, `\\u202e`, …

    Newlines and tabs stay.
    """
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def make_visible_line(text: str) -> str:
    """The same for a name, an argv entry or a one-line echo: everything that does not print is escaped.

    Newlines, tabs, odd blanks and the joiners included.
    """
    if text.isprintable() and _BLANK.isdisjoint(text):
        return text
    return "".join(one if one.isprintable() and one not in _BLANK else _escape_one(one) for one in text)


def make_shell_word(text: str) -> str:
    """One word of a command that a person may copy into a shell: `it`, `'my folder'`, `$'a\\x1bb'`."""
    if make_visible_line(text) == text:
        return shlex.quote(text)
    return "$'" + "".join(one if _is_plain(one) else _escape_bytes(one) for one in text) + "'"


def make_visible_json(text: str, *, ascii_only: bool = False) -> str:
    """JSON of the same value, in which what `make_visible` shows is written as `\\u202e`; `ascii_only`: all but ASCII.

    Half of a surrogate pair, which strict readers of JSON refuse, becomes U+FFFD.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return (_NOT_ASCII if ascii_only else _HIDDEN).sub(_escape_for_json, whole)


def cut_long_values(text: str) -> str:
    """A message whose quoted values of hundreds of characters are cut in their middle: its sentence stays in sight."""
    return _LONG_VALUE.sub(lambda found: f"{found[1]}{found[2][:200]} … {found[2][-100:]}{found[1]}", text)


def remove_escapes(text: str) -> str:
    """For the model: escape sequences and control characters are gone, a lone carriage return is a newline.

    Bidi and other invisible characters stay: they belong to the text that the model may have to quote exactly.
    """
    if not _CONTROL.search(text):
        return text
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    text = _OVERSTRUCK.sub("", text)
    return _CONTROL.sub("", text.replace("\r", "\n"))


def _escape(match: re.Match[str]) -> str:
    return _escape_one(match.group())


def _is_plain(one: str) -> bool:
    return one not in "'\\" and one.isprintable() and one not in _BLANK


def _escape_bytes(one: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(one))


def _escape_for_json(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))


def _escape_one(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")
