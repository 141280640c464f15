"""A terminal as a stream that may go away while it is written to."""

from __future__ import annotations

from typing import TextIO

from mm.errors import MMError


class TerminalStream:
    """Takes text for a terminal, and goes on taking it once the window is closed: SIGHUP ends mm then, no failed write.

    Characters that the terminal's encoding lacks are replaced.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding or "utf-8"
        self.gone = False

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        if not self.gone:
            try:
                self._stream.write(text.encode(self.encoding, "replace").decode(self.encoding, "replace"))
            except (OSError, MMError):  # mm's own stdout tells every failure as an MMError
                self.gone = True
        return len(text)

    def flush(self) -> None:
        if not self.gone:
            try:
                self._stream.flush()
            except (OSError, MMError):
                self.gone = True
