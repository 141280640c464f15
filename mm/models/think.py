"""Takes a leading `<think>…</think>` out of a streamed text: reasoning is never part of an answer or a call."""

from __future__ import annotations

from mm.models.model import Delta

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkSplitter:
    """Splits text as it comes, however its pieces are cut. `text` and `reasoning` hold all that was given out."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._held = ""
        self._step = self._at_start

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    def feed(self, piece: str) -> list[Delta]:
        self._held += piece
        return self._advance()

    def end(self) -> list[Delta]:
        """No more text comes: what was held back, because it might have become a tag, is text or reasoning."""
        held, self._held = self._held, ""
        if self._step == self._in_reasoning:
            return self._give(held.removesuffix("\n"), reasoning=True)
        return self._give("" if self._step == self._at_start and not held.strip() else held)

    def settle(self) -> None:
        """Apply the form whose opening tag stood in the prompt: reasoning, then `</think>` on a line of its own."""
        before, tag, after = self.text.partition(_CLOSE)
        own_line = before.endswith("\n") and after[:1] in ("", "\n", "\r")
        if tag and own_line and _OPEN not in before:
            self._reasoning.append(before.strip())
            self._text = [after.lstrip()]

    def _advance(self) -> list[Delta]:
        given: list[Delta] = []
        while self._held:
            before = self._held, self._step
            given += self._step()
            if (self._held, self._step) == before:
                break
        return given

    def _at_start(self) -> list[Delta]:
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held = start[len(_OPEN) :].lstrip("\n")
            self._step = self._in_reasoning
        elif not _OPEN.startswith(start):
            self._held = start if self._reasoning else self._held
            self._step = self._in_text
        return []

    def _in_reasoning(self) -> list[Delta]:
        inside, tag, after = self._held.partition(_CLOSE)
        if tag:
            self._held = after
            self._step = self._at_start
            return self._give(inside.removesuffix("\n"), reasoning=True)
        keep = _partial_tag(self._held)
        inside, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return self._give(inside, reasoning=True)

    def _in_text(self) -> list[Delta]:
        text, self._held = self._held, ""
        return self._give(text)

    def _give(self, piece: str, *, reasoning: bool = False) -> list[Delta]:
        if not piece:
            return []
        if reasoning:
            self._reasoning.append(piece)
        else:
            self._text.append(piece)
        return [Delta(piece, reasoning)]


def _partial_tag(text: str) -> int:
    """How many characters at the end may be the beginning of the closing tag (with the line end before it)."""
    for length in range(min(len(_CLOSE), len(text)), 0, -1):
        if _CLOSE.startswith(text[-length:]):
            return length + 1 if text[-length - 1 : -length] == "\n" else length
    return 1 if text.endswith("\n") else 0
