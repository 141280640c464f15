"""Texts that a simple regular expression matches. What is not understood gives no text."""

from __future__ import annotations

import string
from collections.abc import Iterator

_CLASSES = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANCHORS = ("b", "B", "A", "z", "Z")
_PREFERRED = string.ascii_lowercase + string.digits + string.ascii_uppercase + "-_./:@ " + string.punctuation
MAX_REPEAT = 200


def matching(pattern: str) -> Iterator[str]:
    """Candidates for a text that the pattern is found in; to be judged before use. Empty if it is too intricate."""
    try:
        yield _Reader(pattern).alternatives()
    except (_NotUnderstoodError, RecursionError, IndexError, ValueError):
        return


class _NotUnderstoodError(Exception):
    pass


class _Reader:
    """A recursive descent over the expression, taking its first alternative and as few repetitions as allowed."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> str:
        first = self._sequence()
        while self._peek() == "|":
            self._at += 1
            self._sequence()
        return first

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _next(self) -> str:
        character = self._pattern[self._at]
        self._at += 1
        return character

    def _sequence(self) -> str:
        text = ""
        while self._peek() not in ("", "|", ")"):
            text += self._repeated(self._atom())
        return text

    def _atom(self) -> str:
        character = self._next()
        if character in "^$":
            return ""
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        return "a" if character == "." else character

    def _group(self) -> str:
        if self._peek() == "?":
            self._at += 1
            kind = self._next()
            if kind == "<" and self._peek() not in ("=", "!"):
                self._at = self._pattern.index(">", self._at) + 1
            elif kind != ":":
                raise _NotUnderstoodError
        text = self.alternatives()
        if self._next() != ")":
            raise _NotUnderstoodError
        return text

    def _escape(self) -> str:
        character = self._next()
        if character in _CLASSES:
            return _CLASSES[character]
        if character in _ANCHORS:
            return ""
        if character in "pPuxck" or character in string.digits:
            if character in "pP" and self._peek() == "{":
                self._at = self._pattern.index("}", self._at) + 1
                return "a" if character == "p" else "1"
            raise _NotUnderstoodError
        return _ESCAPED.get(character, character)

    def _class(self) -> str:
        negated = self._peek() == "^"
        if negated:
            self._at += 1
        allowed: set[str] = set()
        while True:
            character = self._next()
            if character == "]":
                break
            allowed |= self._class_member(character)
        for preferred in _PREFERRED:
            if (preferred in allowed) != negated:
                return preferred
        if negated or not allowed:
            raise _NotUnderstoodError
        return min(allowed)

    def _class_member(self, character: str) -> set[str]:
        if character == "\\":
            name = self._next()
            if name in "dw":
                return set(string.digits if name == "d" else string.ascii_letters + string.digits + "_")
            if name in "DWSpPux":
                raise _NotUnderstoodError
            return {" "} if name == "s" else {_ESCAPED.get(name, name)}
        following = self._pattern[self._at : self._at + 2]
        if following[:1] == "-" and following[1:] not in ("", "]", "\\"):
            self._at += 2
            last = min(ord(following[1]), ord(character) + 512)
            return {chr(code) for code in range(ord(character), last + 1)}
        return {character}

    def _repeated(self, text: str) -> str:
        mark = self._peek()
        least = 1
        if mark in ("*", "?"):
            least = 0
            self._at += 1
        elif mark == "+":
            self._at += 1
        elif mark == "{":
            end = self._pattern.index("}", self._at)
            least = int(self._pattern[self._at + 1 : end].split(",")[0] or 0)
            self._at = end + 1
        if mark and mark in "*?+{" and self._peek() in ("?", "+"):
            self._at += 1
        if least > MAX_REPEAT:
            raise _NotUnderstoodError
        return text * least
