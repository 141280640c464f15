"""What of a streaming reply may be shown, and when there is nothing more to wait for.

The gate sees the text piece by piece, inside the model's request. A reply that goes in circles is left there: the
CirclingError ends the request, the agent catches it around that, and its text goes on as if it had been the reply.
"""

from __future__ import annotations

import json
import re

from mm.dispatch.extract import CALL_LANGUAGES, OPENING, TAGS, WrittenCalls, skip_space
from mm.dispatch.loops import LONGEST_CYCLE
from mm.messages import ToolCall

MOST_COPIES = 3
"""Of one call, or of a run of up to LONGEST_CYCLE calls, in one reply. A small model that goes on after that goes on
until the token limit, minutes later."""


class Gate:
    """Holds streamed text back for as long as it may still turn out to be a call.

    `feed` gives the text that may be shown now; `rest` what is still held when the reply has ended.
    """

    def __init__(self, *, tools_offered: bool) -> None:
        self._held = ""
        self._open = not tools_offered

    def feed(self, piece: str) -> str:
        """Raises CirclingError once the reply begins to repeat its calls once more."""
        if self._open:
            return piece
        before, self._held = len(self._held), self._held + piece
        if not may_become_call(self._held):
            self._open = True
            return self.rest()
        if any(key.end() > before for key in _ARGUMENTS.finditer(self._held, max(0, before - _LONGEST_KEY))):
            _refuse_circles(self._held)
        return ""

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held


class CirclingError(Exception):
    """A reply goes in circles. `text` is its calls up to the end of the first pass, as they were written."""

    def __init__(self, text: str) -> None:
        super().__init__("The reply repeats its calls.")
        self.text = text


def _refuse_circles(text: str) -> None:
    """Look at the end of the calls, now that another one has begun: text that ends there may be an example in prose."""
    written = WrittenCalls(text, lambda name: True)
    calls, begun = written.calls, _BEGUN.match(written.rest)
    if begun:
        name = begun["name"]
    elif calls and not written.rest:  # it came in one piece
        *calls, last = calls
        name = last.name
    else:
        return
    identities = [(call.name, _packed(call.arguments)) for call in calls]
    for length in range(1, LONGEST_CYCLE + 1):
        end = identities[-MOST_COPIES * length :]
        if len(end) < MOST_COPIES * length or end[length:] != end[:-length]:
            continue
        if name in (None, end[0][0]):
            once = calls[: len(calls) - (MOST_COPIES - 1) * length]
            raise CirclingError("\n".join(map(_written, once)))


_ARGUMENTS = re.compile('"(?:arguments|parameters)"')  # every call has one: only a new one is worth a look
_LONGEST_KEY = len('"parameters"')
_BEGUN = re.compile(
    rf'(?:</\w+>|```)?(?:{OPENING.pattern})?[\s,]*+\[?\s*+\{{\s*+\{{?\s*+"(?:name"\s*+:\s*+"(?P<name>[^"\\]*)"|arg|par|func|type|id)'
)
_BLANKS = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')


def _packed(text: str) -> str:
    """JSON text without the blanks between its parts. Numbers stay as they are written: 1.1 and 1.10 may be texts."""
    return _BLANKS.sub(lambda match: match[1] or "", text)


def _written(call: ToolCall) -> str:
    return f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}'


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
