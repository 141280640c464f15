"""Bytes of a streamed answer → the JSON values in it, whatever the server's taste in framing."""

from __future__ import annotations

import codecs
import re

from mm.messages import JSON
from mm.models import as_sent

_LINE_END = re.compile(r"\r\n|\n|\r")
MAX_LINE = 64 * 1024 * 1024
"""Characters of one line, or of a body that is no stream."""
MAX_TRIED = 2 * 1024 * 1024
"""Characters that are read in search of the end of one event in several lines; later only a blank line ends it."""
_FIELD = re.compile(r"(data|event|id|retry)(?::[ ]?(.*))?\Z", re.DOTALL)


class LineTooLongError(Exception):
    """More than MAX_LINE characters came without an end of line: nothing that a model answers."""


class EventReader:
    """Reads server-sent events, and also what some servers send in their place.

    `feed` and `end` give the JSON values that became whole. `done` is set by `[DONE]`. A body that is one JSON value
    (a whole completion, an error) or bare JSON lines is read too. Text that is neither is kept in `stray`, and
    `damaged` says that some of it began like JSON: a piece of the answer is missing.

    The time it takes is linear in what comes, however it is cut. Both raise LineTooLongError.
    """

    def __init__(self) -> None:
        self.done = False
        self.stray = ""
        self.damaged = False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._pieces: list[str] = []  # of the line that is not yet whole, or of a plain body
        self._held = 0  # characters in those
        self._return = ""  # "\r" at the end of what came: its "\n" may still be on the way
        self._event: list[str] = []
        self._tried = 0  # characters of the event that were read in vain so far
        self._plain: bool | None = None  # None: nothing seen yet that tells events from a plain body

    def feed(self, data: bytes) -> list[JSON]:
        return self._read(self._decoder.decode(data))

    def end(self) -> list[JSON]:
        """The connection was closed: what is still held is all there will be."""
        values = self._read(self._decoder.decode(b"", final=True))
        if self._plain:
            return self._read_plain()
        return values + self._take_line(self._taken()) + self._flush()

    def _read(self, text: str) -> list[JSON]:
        if self._plain is None and (start := text.lstrip()):
            self._plain = start[0] in "{[<"
            text = self._taken() + text
        if self._plain is not False:
            self._hold(text)
            return []
        return self._read_lines(text)

    def _hold(self, text: str) -> None:
        self._held += len(text)
        if self._held > MAX_LINE:
            raise LineTooLongError
        if text:
            self._pieces.append(text)

    def _taken(self) -> str:
        whole, self._pieces, self._held = "".join(self._pieces), [], 0
        return whole

    def _read_lines(self, text: str) -> list[JSON]:
        text = self._return + text
        self._return = "\r" if text.endswith("\r") else ""
        values: list[JSON] = []
        *ended, rest = _LINE_END.split(text[: len(text) - len(self._return)])
        for line in ended:
            self._hold(line)
            values += self._take_line(self._taken())
        self._hold(rest)
        return values

    def _read_plain(self) -> list[JSON]:
        whole = self._taken()
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
        value = self._joined(data)
        if value is not _NOT_JSON:
            return [value]
        value = _parse(data)
        if value is _NOT_JSON:
            self._event.append(data)
            return []
        return [*self._flush(), value]

    def _joined(self, data: str) -> JSON:
        """The value of an event in several lines, once they make one; nothing is read again and again for long."""
        if not self._event or self._tried > MAX_TRIED or not data.rstrip().endswith(("}", "]")):
            return _NOT_JSON
        joined = "\n".join([*self._event, data])
        self._tried += len(joined)
        value = _parse(joined)
        if value is not _NOT_JSON:
            self._event, self._tried = [], 0
        return value

    def _flush(self) -> list[JSON]:
        if not self._event:
            return []
        held, self._event, self._tried = "\n".join(self._event).strip(), [], 0
        value = _parse(held)
        if value is not _NOT_JSON:
            return [value]
        self.damaged = self.damaged or held.startswith(("{", "["))
        self.stray = self.stray or held
        return []


_NOT_JSON = object()


def _parse(text: str) -> JSON:
    try:
        return as_sent.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON
