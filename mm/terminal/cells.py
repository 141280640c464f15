"""Text measured in terminal cells: wrapping without loss, and clipping."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

ELLIPSIS = "…"


def wrap(text: str, width: int) -> list[str]:
    """Split one line into pieces of at most `width` cells. Nothing is lost or added; always at least one piece."""
    return chop_cells(text, max(width, 2)) or [""]


def wrap_words(text: str, width: int) -> list[str]:
    """Wrap between words; blanks at the start stay, before each line. A word that is too long is split."""
    body = text.lstrip(" ")
    indent = text[: len(text) - len(body)]
    if body and indent and 2 * len(indent) <= width:
        return [indent + line for line in wrap_words(body, width - len(indent))]
    lines = [""]
    for word in text.split(" "):
        candidate = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(candidate) <= width:
            lines[-1] = candidate
        elif lines[-1]:
            lines.append(word)
        else:
            lines[-1] = word
    return [piece for line in lines for piece in wrap(line, width)]


def clip(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis, in at most `width` cells."""
    if cell_len(text) <= width:
        return text
    return wrap(text, max(width - 1, 2))[0] + ELLIPSIS


def hang(label: str, lines: Sequence[str], indent: int) -> list[str]:
    """Put a label, which fills `indent` cells, before the first line and as many blanks before the others."""
    return [(label if number == 0 else " " * indent) + line for number, line in enumerate(lines)]


def seconds(duration: float) -> str:
    """A duration as people read it: `0.4 s`, `12 s`, `3 min 05 s`."""
    if duration < 10:
        return f"{duration:.1f} s"
    if duration < 100:
        return f"{duration:.0f} s"
    return f"{int(duration) // 60} min {int(duration) % 60:02d} s"
