"""What of a streaming reply may be shown, and when there is nothing more to wait for.

The gate sees the text piece by piece, inside the model's request. A reply that goes in circles is left there: the
CirclingError ends the request, the agent catches it around that, and its text goes on as if it had been the reply.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from mm.dispatch.extract import CALL_LANGUAGES, OPENING, TAGS, WrittenCalls, skip_space
from mm.dispatch.json_text import UnreadableError, canonical, read
from mm.messages import ToolCall

MOST_COPIES = 3
"""Of one call in one reply. A small model that writes it so often goes on until the token limit, minutes later."""


class Gate:
    """Holds streamed text back for as long as it may still turn out to be a call.

    `feed` gives the text that may be shown now; `rest` what is still held when the reply has ended.
    """

    def __init__(self, *, tools_offered: bool) -> None:
        self._held = ""
        self._open = not tools_offered

    def feed(self, piece: str) -> str:
        """Raises CirclingError once the reply is nothing but the same calls again and again."""
        if self._open:
            return piece
        self._held += piece
        if may_become_call(self._held):
            if "}" in piece:
                _refuse_circles(self._held)
            return ""
        self._open = True
        return self.rest()

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held


class CirclingError(Exception):
    """A reply goes in circles. `text` is each of its calls once, as the model would have written them."""

    def __init__(self, text: str) -> None:
        super().__init__("The reply repeats its calls.")
        self.text = text


def _refuse_circles(text: str) -> None:
    if len(_ARGUMENTS.findall(text)) < MOST_COPIES:
        return
    written = WrittenCalls(text, lambda name: True)
    if not (may_become_call(written.rest) or any(f"</{tag}>".startswith(written.rest) for tag in TAGS)):
        return
    once: dict[tuple[str, str], ToolCall] = {}
    copies: Counter[tuple[str, str]] = Counter()
    for call in written.calls:
        identity = _identity(call)
        once.setdefault(identity, call)
        copies[identity] += 1
        if copies[identity] >= MOST_COPIES:
            raise CirclingError("\n".join(map(_written, once.values())))


_ARGUMENTS = re.compile('"(?:arguments|parameters)"')  # every call has one; without enough of them nothing is read


def _written(call: ToolCall) -> str:
    return f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}'


def _identity(call: ToolCall) -> tuple[str, str]:
    """A call whose arguments mean the same is the same, however they are spaced."""
    try:
        return call.name, canonical(read(call.arguments))
    except UnreadableError:
        return call.name, call.arguments


def may_become_call(text: str) -> bool:
    """Whether a text that may go on could still be a call in the end, judged by how it begins."""
    position = skip_space(text, 0)
    for opener in (*(f"<{tag}>" for tag in TAGS), "```"):
        if opener.startswith(text[position:]):
            return True
    opening = OPENING.match(text, position)
    if opening:
        if opening["info"] and text[opening.end() - 1] != "\n":
            return _FENCE_INFO.fullmatch(opening["info"]) is not None
        if opening["info"] and opening["info"].lower() not in CALL_LANGUAGES:
            return False
        position = skip_space(text, opening.end())
    return _PREFIX.match(text, position) is not None


_FENCE_INFO = re.compile("|".join(re.escape(word[:n]) for word in CALL_LANGUAGES for n in range(1, len(word) + 1)))
_KEYS = ("name", "function", "type", "id", "arguments", "parameters")
_KEY = "|".join([*(rf"{key[:n]}\Z" for key in _KEYS for n in range(len(key) + 1)), *(f'{key}"' for key in _KEYS)])
_PREFIX = re.compile(rf'\s*(?:\Z|\[?\s*(?:\Z|\{{\s*(?:\Z|\{{?\s*(?:\Z|"(?:\Z|{_KEY})))))')
