"""Arguments that a server sends as a value, where the protocol has JSON text: kept as the text that they came in.

Read as a value, 1.10 would be 1.1, and of a key that stands there twice only one would be left, before the steps of a
call could judge them.
"""

from __future__ import annotations

import json
import re

from mm.messages import JSON


class AsSent(str):
    """The JSON text of arguments that came as one value."""

    __slots__ = ()


def loads(text: str) -> JSON:
    """`json.loads`, but `arguments` that are neither text nor null come as an AsSent."""
    if not _VALUE.search(text):
        return json.loads(text)
    return json.loads(_marked(text), object_hook=lambda found: AsSent(found[_MARK]) if _MARK in found else found)


_VALUE = re.compile(r'"arguments"\s*:\s*(?=[^\s"n])')  # never inside a text, where its quotes would be escaped
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[,:]|\s+')
_MARK = "\0arguments as they were sent"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def _marked(text: str) -> str:
    """The text with each such value replaced by an object that holds the value's own text."""
    parts: list[str] = []
    position = 0
    while found := _VALUE.search(text, position):
        start, end = found.end(), _DECODER.raw_decode(text, found.end())[1]
        parts += (text[position:start], json.dumps({_MARK: _tidied(text[start:end])}))
        position = end
    return "".join((*parts, text[position:]))


def _tidied(value: str) -> str:
    """JSON text on one line and without `\\u` escapes: these are the server's, and hard to read where it is quoted."""
    return _TOKEN.sub(_tidied_token, value)


def _tidied_token(found: re.Match[str]) -> str:
    token = found[0]
    if token.startswith('"'):
        return json.dumps(json.loads(token), ensure_ascii=False) if "\\u" in token else token
    return "" if token.isspace() else f"{token} "
