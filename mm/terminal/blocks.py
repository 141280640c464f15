"""Splits streamed Markdown into finished blocks and the one that is still open."""

from __future__ import annotations

import itertools

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Raw HTML stays text, and a reference definition stays a paragraph: nothing that the model wrote may vanish.
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")


def parse(text: str) -> list[Token]:
    """The tokens of a Markdown text, as every part of mm reads it."""
    return _PARSER.parse(text)


class BlockStream:
    """Text comes in pieces; blocks come out once each, when no later text can change them.

    Block structure is decided line by line, so a block is finished when a later block has begun in a whole line.
    """

    def __init__(self) -> None:
        self._text = ""
        self._looked_at = 0

    @property
    def open(self) -> str:
        """The text of the block that is still open."""
        return self._text

    def feed(self, text: str) -> None:
        self._text += text

    def take_finished(self) -> list[str]:
        """The blocks that are finished since the last call, as Markdown."""
        whole = self._text.rfind("\n") + 1
        if whole == self._looked_at:
            return []
        self._looked_at = whole
        starts = _block_starts(self._text[:whole])
        if len(starts) < 2:
            return []
        lines = self._text.split("\n")
        blocks = ["\n".join(lines[begin:end]) for begin, end in itertools.pairwise(starts)]
        self._text = "\n".join(lines[starts[-1] :])
        self._looked_at = self._text.rfind("\n") + 1
        return blocks

    def take_rest(self) -> str:
        """What is left when the text has ended."""
        rest, self._text, self._looked_at = self._text, "", 0
        return rest


def _block_starts(text: str) -> list[int]:
    """The lines where the outermost blocks begin; the first always begins at line 0."""
    starts = [token.map[0] for token in parse(text) if token.level == 0 and token.nesting >= 0 and token.map]
    return [0, *starts[1:]] if starts else []
