"""Renders Markdown into terminal lines: calm, aligned, and without losing a character of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from markdown_it.tree import SyntaxTreeNode
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from mm.terminal.blocks import parse
from mm.terminal.colours import CODE, styled
from mm.terminal.palette import Palette
from mm.terminal.tables import TableView
from mm.visible import make_visible, make_visible_line

_STYLES = {"strong": "bold", "em": "italic", "s": "strike", "code_inline": "cyan", "link": "underline"}
_HEADINGS = {"h1": "bold underline", "h2": "bold", "h3": "bold"}
_NARROWEST = 8
_WIDEST_PROSE = 100  # cells: an eye finds the next line of a paragraph up to there
_RULE = 24


def render_markdown(text: str, width: int, palette: Palette) -> list[str]:
    """The lines of a Markdown text, at most `width` cells each, styled as the palette allows."""
    tree = SyntaxTreeNode(parse(make_visible(text)))
    return render_lines(_stack(tree.children), width, palette)


def render_lines(renderable: RenderableType, width: int, palette: Palette) -> list[str]:
    """Render anything that rich renders into lines of text with styles."""
    console = Console(
        file=StringIO(), width=width, force_terminal=palette.styled, color_system="standard", legacy_windows=False
    )
    rows = console.render_lines(renderable, console.options.update(width=width), pad=False)
    return [_line(_trimmed(row), palette) for row in rows]


def _stack(nodes: Sequence[SyntaxTreeNode]) -> RenderableType:
    """Blocks below each other with one empty line between them."""
    parts: list[RenderableType] = []
    for node in nodes:
        if parts:
            parts.append(Text())
        wide = node.type in ("fence", "code_block", "table")
        parts.append(_block(node) if wide else _Prose(_block(node)))
    return Group(*parts)


def _block(node: SyntaxTreeNode) -> RenderableType:
    match node.type:
        case "paragraph" | "inline":
            return _inline(node)
        case "heading":
            text = _inline(node)
            text.stylize(_HEADINGS.get(node.tag, "italic"))
            return text
        case "fence" | "code_block":
            return _code(node)
        case "blockquote":
            return _Prefixed(_stack(node.children), "▌ ", "▌ ", "dim")
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "hr":
            return _Rule()
        case "table":
            header, rows, alignments = _cells(node)
            return TableView(header, rows, alignments)
    return _inline(node) if node.children else Text(node.content)


def _code(node: SyntaxTreeNode) -> RenderableType:
    language = node.info.split()[0] if node.info.strip() else ""
    code = Syntax(node.content.rstrip("\n"), language or "text", theme=CODE, background_color="default", word_wrap=True)
    indented = Padding(code, (0, 0, 0, 2), expand=False)
    if not language:
        return indented
    return Group(Text(f"  {make_visible_line(node.info.strip())}", style="dim italic"), indented)


def _list(node: SyntaxTreeNode) -> RenderableType:
    first = int(str(node.attrs.get("start", 1)))
    last = first + len(node.children) - 1
    indent = len(str(last)) + 2 if node.type == "ordered_list" else 2
    items: list[RenderableType] = []
    for number, item in enumerate(node.children, first):
        mark = f"{number}.".ljust(indent) if node.type == "ordered_list" else "• "
        if items and _is_loose(node):
            items.append(Text())
        items.append(_Prefixed(_item(item), mark, " " * indent, "cyan"))
    return Group(*items)


def _item(item: SyntaxTreeNode) -> RenderableType:
    """The blocks of one item: a nested list follows its text at once."""
    parts: list[RenderableType] = []
    for child in item.children:
        if parts and child.type not in ("bullet_list", "ordered_list"):
            parts.append(Text())
        parts.append(_block(child))
    return Group(*parts)


def _is_loose(node: SyntaxTreeNode) -> bool:
    return any(child.type == "paragraph" and not child.hidden for item in node.children for child in item.children)


def _cells(table: SyntaxTreeNode) -> tuple[list[Text], list[list[Text]], list[str]]:
    rows = [row.children for part in table.children for row in part.children]
    alignments = [str(cell.attrs.get("style", "")).removeprefix("text-align:") or "left" for cell in rows[0]]
    texts = [[_inline(cell) for cell in row] for row in rows]
    return texts[0], texts[1:], alignments


def _inline(node: SyntaxTreeNode) -> Text:
    text = Text(overflow="fold", no_wrap=False)
    for piece, style in _pieces(node.children, Style()):
        text.append(piece, style)
    return text


def _pieces(nodes: Iterable[SyntaxTreeNode], style: Style) -> Iterator[tuple[str, Style]]:
    for node in nodes:
        inner = style + Style.parse(_STYLES[node.type]) if node.type in _STYLES else style
        if node.type in ("softbreak", "hardbreak"):
            yield "\n", style
        elif node.type == "image":
            yield make_visible_line(f"[image: {node.content}]({node.attrs.get('src', '')})"), style
        elif node.children:
            yield from _pieces(node.children, inner)
        else:
            yield make_visible(node.content), inner  # an entity such as &#x202e; was decoded only now
        if node.type == "link":
            yield from _target(node, style)


def _target(link: SyntaxTreeNode, style: Style) -> Iterator[tuple[str, Style]]:
    """Where a link leads, unless its text says so: a terminal link could hide it."""
    href = make_visible_line(str(link.attrs.get("href", "")))
    shown = "".join(piece for piece, _ in _pieces(link.children, style))
    if href not in (shown, f"mailto:{shown}"):
        yield f" ({href})", style + Style(dim=True)


@dataclass(frozen=True, slots=True)
class _Prose:
    """A renderable that leaves the rest of a very wide window empty."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from console.render(self.content, options.update(width=min(options.max_width, _WIDEST_PROSE)))


class _Rule:
    """A line between two parts."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(_RULE, options.max_width), style="dim")


@dataclass(frozen=True, slots=True)
class _Prefixed:
    """A renderable with a mark before its first line and another before the rest."""

    content: RenderableType
    first: str
    rest: str
    style: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - len(self.rest), _NARROWEST)
        rows = console.render_lines(self.content, options.update(width=width, height=None), pad=False)
        style = Style.parse(self.style)
        for number, row in enumerate(rows):
            yield Segment(self.rest if number else self.first, style)
            yield from row
            yield Segment.line()


def _trimmed(row: list[Segment]) -> list[Segment]:
    """A line without the blanks at its end, so that copied text has none either."""
    row = list(row)
    while row and not row[-1].text.rstrip(" "):
        row.pop()
    if row:
        row[-1] = Segment(row[-1].text.rstrip(" "), row[-1].style)
    return row


def _line(row: list[Segment], palette: Palette) -> str:
    return "".join(styled(segment.text, segment.style, palette) for segment in row)
