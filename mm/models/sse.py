"""Bytes of a streamed answer → the JSON values in it, whatever the server's taste in framing."""

from __future__ import annotations

import codecs
import json
import re

from mm.messages import JSON

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r"(data|event|id|retry)(?::[ ]?(.*))?\Z", re.DOTALL)


class EventReader:
    """Reads server-sent events, and also what some servers send in their place.

    `feed` and `end` give the JSON values that became whole. `done` is set by `[DONE]`. A body that is one JSON value
    (a whole completion, an error) or bare JSON lines is read too. Text that is neither is kept in `stray`, and
    `damaged` says that some of it began like JSON: a piece of the answer is missing.
    """

    def __init__(self) -> None:
        self.done = False
        self.stray = ""
        self.damaged = False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._event: list[str] = []
        self._plain: bool | None = None  # None: nothing seen yet that tells events from a plain body

    def feed(self, data: bytes) -> list[JSON]:
        self._text += self._decoder.decode(data)
        return self._read()

    def end(self) -> list[JSON]:
        """The connection was closed: what is still held is all there will be."""
        self._text += self._decoder.decode(b"", final=True)
        if self._plain:
            return self._read_plain()
        values = self._read()
        if self._text:
            values += self._take_line(self._text)
        return values + self._flush()

    def _read(self) -> list[JSON]:
        if self._plain is None:
            start = self._text.lstrip()
            self._plain = start[0] in "{[<" if start else None
        return [] if self._plain else self._read_lines()

    def _read_lines(self) -> list[JSON]:
        values: list[JSON] = []
        start = 0
        for end in _LINE_END.finditer(self._text):
            if end.group() == "\r" and end.end() == len(self._text):
                break  # its "\n" may still be on the way
            values += self._take_line(self._text[start : end.start()])
            start = end.end()
        self._text = self._text[start:]
        return values

    def _read_plain(self) -> list[JSON]:
        whole, self._text = self._text, ""
        value = _parse(whole)
        if value is not _NOT_JSON:
            return [value]
        return [value for line in _LINE_END.split(whole) for value in self._take_line(line)] + self._flush()

    def _take_line(self, line: str) -> list[JSON]:
        if not line.strip():
            return self._flush()
        if line.startswith(":"):
            return []  # a comment: keeps the connection open
        found = _FIELD.match(line)
        if found is None:
            return self._take_data(line)
        return self._take_data(found.group(2) or "") if found.group(1) == "data" else []

    def _take_data(self, data: str) -> list[JSON]:
        """One line of data is nearly always a whole event, and not all servers put a blank line behind it."""
        if data.strip() == "[DONE]":
            self.done = True
            return self._flush()
        if self._event:
            value = _parse("\n".join([*self._event, data]))
            if value is not _NOT_JSON:
                self._event = []
                return [value]
        value = _parse(data)
        if value is _NOT_JSON:
            self._event.append(data)
            return []
        return [*self._flush(), value]

    def _flush(self) -> list[JSON]:
        held, self._event = "\n".join(self._event).strip(), []
        self.damaged = self.damaged or held.startswith(("{", "["))
        self.stray = self.stray or held
        return []


_NOT_JSON = object()


def _parse(text: str) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON
