"""Step 1 of the journey: which calls does a reply make, and which of its text may be shown?

Small models write calls as plain text: bare JSON, a fence, `<tool_call>` or `<tools>` tags. Such text is a call only
if it is the whole reply and names an offered tool. An example inside prose never is.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from mm.messages import Finish, Reply, ToolCall

IsOffered: TypeAlias = Callable[[str], bool]

_SPACE = " \t\r\n"
_CALL_KEYS = frozenset({"name", "arguments", "parameters", "id", "type", "function"})
MOST_STARTS = 200  # places in a text where a call is looked for
_EITHER = (frozenset({"arguments", "parameters"}), frozenset({"name", "function"}))
CALL_LANGUAGES = frozenset({"json", "tool_call", "tool", "xml", "tool_code"})
TAGS = ("tool_call", "tools", "tool_calls", "function_call")
OPENING = re.compile(r"\s*(?:<(?P<tag>tool_calls?|tools|function_call)>|```(?P<info>[A-Za-z_-]*)[ \t]*\r?\n?)")
_LONE_CLOSING = re.compile(r"(?:</(?:tool_calls?|tools|function_call)>|```)\s*")
_decoder = json.JSONDecoder(strict=False)  # raw line breaks inside texts have one reading


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a reply asks for.

    `text` is the answer that may be shown ("" when the text was a call); `wrapped` says that a call stands inside
    other text, so that nothing runs and the model is asked once to send the call alone; `cut` that the reply was
    cut by the token limit, so that none of its calls may run; `stranger` is the name of the tool that a text would
    call if there were such a tool, and `broken` that of an offered one that it would call if its JSON were whole, so
    that the model can be told once.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    wrapped: bool = False
    cut: bool = False
    stranger: str = ""
    broken: str = ""


def extract(reply: Reply, is_offered: IsOffered) -> Extracted:
    """The calls of a reply: those of the wire's own field, else those written as its whole text."""
    cut = reply.finish is Finish.LENGTH
    if reply.calls:
        return Extracted(reply.text, reply.calls, cut=cut)
    if cut:
        return Extracted(reply.text, cut=True)
    written = WrittenCalls(reply.text, is_offered)
    if written.whole:
        return Extracted("", tuple(written.calls))
    strange = WrittenCalls(reply.text, lambda name: True)
    if strange.whole:
        return Extracted(reply.text, stranger=strange.calls[0].name)
    wrapped = _holds_call(reply.text, is_offered)
    return Extracted(reply.text, wrapped=wrapped, broken="" if wrapped else _named(reply.text, is_offered))


class WrittenCalls:
    """A text read as calls and nothing but calls, block after block from its start.

    `whole` says that it is that: its `calls` are the reply's. Otherwise `calls` are those before the first place that
    is no call, or not yet one (`rest`). The only reader of written calls: what stands inside the arguments of a call
    never is one.
    """

    def __init__(self, text: str, is_offered: IsOffered) -> None:
        self.calls: list[ToolCall] = []
        self._text = text.strip()
        self._is_offered = is_offered
        self._read = 0  # up to here it is calls
        self.whole = self._read_blocks() and bool(self.calls)

    @property
    def rest(self) -> str:
        return self._text[self._read :]

    def _read_blocks(self) -> bool:
        while self._read < len(self._text):
            end = self._read_block(self._read)
            if end is None:
                return False
            self._read = end
        return True

    def _read_block(self, position: int) -> int | None:
        """Read one fence, one tag, or bare values. Like the next three: where that ends, None if it is none."""
        text, opening = self._text, OPENING.match(self._text, position)
        if opening is None:
            end = self._read_values(position)
            # A lone closing one is what is left where a server took the opening one for a token of its own.
            return len(text) if end is not None and _LONE_CLOSING.fullmatch(text, end) else end
        if opening["info"] and opening["info"].lower() not in CALL_LANGUAGES:
            return None
        end = self._read_values(opening.end())
        if end is None:
            return None
        closing = f"</{opening['tag']}>" if opening["tag"] else "```"
        if text.startswith(closing, end):
            return skip_space(text, end + len(closing))
        # Models forget the closing tag; the JSON before it is complete, so nothing is lost.
        return end if end == len(text) or OPENING.match(text, end) else None

    def _read_values(self, position: int, opens: str = "{[") -> int | None:
        """One or more call-shaped values in a row: an object each, or lists of objects."""
        text, start = self._text, skip_space(self._text, position)
        position = start
        while position < len(text) and text[position] in opens:
            end = self._read_list(position) if text[position] == "[" else self._read_object(position)
            if end is None:
                return None
            position = skip_space(text, end)
            if text[position : position + 1] == ",":
                position = skip_space(text, position + 1)
            self._read = position
        return position if position > start else None

    def _read_list(self, position: int) -> int | None:
        end = self._read_values(position + 1, opens="{")
        return end + 1 if end is not None and self._text[end : end + 1] == "]" else None

    def _read_object(self, position: int) -> int | None:
        found = _read_call(self._text, position, self._is_offered)
        if found is None:
            return None
        self.calls.append(found[0])
        return found[1]


def _read_call(text: str, position: int, is_offered: IsOffered) -> tuple[ToolCall, int] | None:
    """The call that the object at `position` is, in single or doubled braces, and where it ends."""
    doubled = _DOUBLED.match(text, position)
    members = _members(text, doubled.end() - 1 if doubled else position)
    if members is None:
        return None
    parts, end = members
    if doubled:
        end = skip_space(text, end)
        if text[end : end + 1] != "}":
            return None
        end += 1
    call = _call(text, parts, is_offered)
    return (call, end) if call else None


_DOUBLED = re.compile(r"\{\s*\{")


def _call(text: str, parts: dict[str, tuple[int, int]], is_offered: IsOffered) -> ToolCall | None:
    """A call from the members of a call-shaped object, given as spans of the text. One with two readings is none."""
    if not parts.keys() <= _CALL_KEYS or any(pair <= parts.keys() for pair in _EITHER):
        return None
    if "function" in parts and text[parts["function"][0]] == "{":
        if "arguments" in parts or "parameters" in parts:
            return None
        inner = _members(text, parts["function"][0])
        return _call(text, inner[0], is_offered) if inner and "function" not in inner[0] else None
    arguments = parts.get("arguments") or parts.get("parameters")
    named = parts.get("name") or parts.get("function")
    if arguments is None or named is None or text[named[0]] != '"':
        return None
    name: str = _decoder.raw_decode(text, named[0])[0]
    if not is_offered(name) or ("parameters" in parts and _is_schema(text[slice(*arguments)])):
        return None
    return ToolCall(new_call_id(), name, text[slice(*arguments)], written=True)


def _is_schema(text: str) -> bool:
    """Whether these are the parameters of a tool's definition, which a model may echo, and no arguments."""
    value = _decoder.decode(text)
    return isinstance(value, dict) and value.get("type") == "object" and isinstance(value.get("properties"), dict)


def _members(text: str, position: int) -> tuple[dict[str, tuple[int, int]], int] | None:
    """The members of the JSON object at `position` as spans of their values, and where the object ends.

    Values keep their own text, so that `1.10` is still `1.10` when the arguments are read.
    """
    parts: dict[str, tuple[int, int]] = {}
    position = skip_space(text, position + 1)
    try:
        while text[position] == '"':
            key, position = _decoder.raw_decode(text, position)
            position = skip_space(text, position)
            if text[position] != ":" or key in parts:
                return None
            start = skip_space(text, position + 1)
            _, position = _decoder.raw_decode(text, start)
            parts[key] = (start, position)
            position = skip_space(text, position)
            if text[position] == "}":
                return parts, position + 1
            if text[position] != ",":
                return None
            position = skip_space(text, position + 1)
    except (ValueError, IndexError, RecursionError):
        return None
    return None


def _holds_call(text: str, is_offered: IsOffered) -> bool:
    """Whether a call stands somewhere inside other text."""
    starts = (match.start() for match in islice(_CALL_START.finditer(text), MOST_STARTS))
    return any(_read_call(text, start, is_offered) for start in starts)


def _named(text: str, is_offered: IsOffered) -> str:
    """The offered tool that a text means to call, as it begins like a call; "" if there is none."""
    begins = _BEGINS.match(text)
    return begins["name"] if begins and is_offered(begins["name"]) else ""


_CALL_START = re.compile(r'\{\s*(?:\{\s*)?"(?:name|function|type|id|arguments|parameters)"')


_BEGINS = re.compile(rf'(?:{OPENING.pattern})?\s*\[?\s*\{{\s*\{{?\s*"name"\s*:\s*"(?P<name>[^"\\]+)"\s*,')


def skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def new_call_id() -> str:
    """An id for a call that came without one. Nine letters and digits: the strictest server accepts these."""
    return secrets.token_hex(5)[:9]
