"""The pages of the documentation as data: their fenced blocks, and what the comment above a block says about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^(`{3,})([^`\n]*)\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!-- (file|not run|needs|typed): ((?:(?!-->).)+) -->\s*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `file` is the name it is written to; `typed` are the lines that a person types."""

    page: Path
    line: int
    language: str
    text: str
    before: str  # the page up to the block
    file: str = ""
    not_run: str = ""
    needs: str = ""
    typed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page of the documentation, the README of the project first."""
    return [*ROOT.glob("README.md"), *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    for fence in _FENCE.finditer(text):
        before = text[: fence.start()]
        said = dict(_comments(before))
        yield Block(
            page=page,
            line=before.count("\n") + 1,
            language=fence[2].split()[0] if fence[2].strip() else "",
            text=fence[3],
            before=before,
            file=said.get("file", ""),
            not_run=said.get("not run", ""),
            needs=said.get("needs", ""),
            typed=tuple(one.strip() for one in said["typed"].split(",")) if "typed" in said else (),
        )


def _comments(before: str) -> Iterator[tuple[str, str]]:
    """What the comments right above a block say."""
    while found := _COMMENT.search(before):
        yield found[1], found[2]
        before = before[: found.start()]


def links(page: Path) -> Iterator[str]:
    """The addresses of a page's links, those in code left out."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text("utf-8")))
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
