"""Reads on over characters that YAML takes for its own where text was meant: all of them are reported in one go.

Such a character is replaced by one of the private ones, so that no place shifts, and is put back into the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import yaml

from mm.config.flow import quoted
from mm.config.keys import KEY_NAMES

_SHIFT = 0xE000
_BACK = {_SHIFT + code: code for code in range(128)}
_BRACES = re.compile(r"(\{\{)[^{}\[\],:\n]*(\}\})|(?<=\$)(\{)[A-Za-z_][^{},\n]*(\})")
_MOST = 60  # characters that stop the parser
_LARGEST = 200_000  # characters of a text that is read again and again
_CLOSER = {"[": "]", "{": "}"}
_INDICATORS = frozenset("[]{},:#&*!|>'\"%@`")
_BARE_KEY = re.compile(r"\s*(?:- +)*[\w.-]+")


@dataclass(slots=True)
class Masks:
    """A text, and the same with masks. `hard` are the positions at which the parser stopped."""

    source: str
    text: str = ""
    hard: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.text = self.source
        if not self._is_possible():
            return
        spans = (found.span(group) for found in _BRACES.finditer(self.source) for group in range(1, 5))
        self._mask(position for start, end in spans for position in range(start, end))

    def cover(self, error: yaml.MarkedYAMLError) -> bool:
        """Mask what stopped the parser, if text was surely meant there."""
        if error.problem_mark is None or len(self.hard) >= _MOST or not self._is_possible():
            return False
        problem, at = str(error.problem), error.problem_mark.index
        if "alphabetic or numeric" in problem and error.context_mark is not None:
            return self._take(error.context_mark.index, "*&")
        if "cannot start any token" in problem:
            return self._take(at, "@`%")
        if "mapping values are not allowed" in problem:
            return not self._is_key_of_its_own(at) and self._take(at, ":")
        is_here = error.context_mark is not None and error.context_mark.line == error.problem_mark.line
        if is_here and ("expected ',' or '}'" in problem or "expected ',' or ']'" in problem):
            if self.source[at : at + 1] in ("[", "{"):
                return self._take_brackets(at)
            return not missing_comma(self.source, at) and self._take(at, ":")
        return False

    def back(self, text: str) -> str:
        """A value with what was masked put back."""
        return text.translate(_BACK) if self.text != self.source else text

    def problem(self, start: int, end: int, value: str, *, in_flow: bool) -> tuple[int, str, str] | None:
        """What is wrong with an unquoted text: how far behind `start`, message and hint. `value` is what is meant."""
        masked = [at for at in range(start, end) if self.text[at] != self.source[at]]
        hard = [at for at in masked if at in self.hard]
        if not masked or not (hard or in_flow or masked[0] == start):
            return None
        return masked[0] - start, self._message(masked[0], start), f"Write it in quotes: {quoted(value)}"

    def _message(self, at: int, start: int) -> str:
        brace = next((found for found in _BRACES.finditer(self.source, max(at - 1, 0)) if found.start() == at), None)
        if brace and brace.group(1):
            return f"quote it: YAML reads `{brace.group()}` as a mapping"
        if brace:
            return f"quote it: YAML reads the brace of `${brace.group()}` itself"
        character = self.source[at]
        if character == ":":
            return "a `: ` stands inside unquoted text"
        if at == start:
            return f"unquoted text cannot start with `{character}`"
        return f"a `{character}` stands inside unquoted text"

    def _is_possible(self) -> bool:
        return len(self.source) <= _LARGEST and not any(_SHIFT <= ord(one) < _SHIFT + 128 for one in self.source)

    def _mask(self, positions: Iterable[int]) -> None:
        """Mask all of them at once: the text is as long as the file."""
        characters = list(self.text)
        for at in positions:
            characters[at] = chr(_SHIFT + ord(self.source[at]))
        self.text = "".join(characters)

    def _take(self, at: int, allowed: str) -> bool:
        if at in self.hard or self.text[at : at + 1] not in tuple(allowed):
            return False
        self.hard.add(at)
        self._mask([at])
        return True

    def _take_brackets(self, at: int) -> bool:
        """A bracket right behind unquoted text, as in `^[a-z]{2,3}$`, up to the one that closes it."""
        before = self.source[:at].rpartition("\n")[2].rstrip(" ")
        before_it = len(self.source[:at].rstrip(" ")) - 1
        if at in self.hard or not before or (before[-1] in ",[{:\"']}" and before_it not in self.hard):
            return False
        line_end = self.source.find("\n", at)
        line = self.source[at : line_end if line_end >= 0 else len(self.source)]
        opener, depth = line[0], 0
        for offset, character in enumerate(line):
            depth += (character == opener) - (character == _CLOSER[opener])
            if depth == 0:
                inside = range(at, at + offset + 1)
                taken = [one for one in inside if self.text[one] in _INDICATORS]
                self.hard.update(taken)
                self._mask(taken)
                return True
        return False

    def _is_key_of_its_own(self, colon: int) -> bool:
        """Whether nothing but one word stands before the colon in its line: then the indentation is wrong."""
        return _BARE_KEY.fullmatch(self.source[:colon].rpartition("\n")[2]) is not None


def missing_comma(text: str, colon: int) -> str:
    """The key before a colon, if it is one of mm's with a blank before it, as in `{type: string required: false}`."""
    if text[colon : colon + 1] != ":":
        return ""
    found = re.search(r"[^\s{,\[:] +[\"']?([A-Za-z_]+)[\"']?$", text[:colon].rpartition("\n")[2])
    return found.group(1) if found and found.group(1) in KEY_NAMES else ""
