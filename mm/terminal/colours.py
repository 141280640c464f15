"""The colours of rendered Markdown and of highlighted code, as the palette allows them."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color, ColorSystem
from rich.style import Style
from rich.syntax import ANSISyntaxTheme

from mm.terminal.palette import READABLE, Palette

# Few colours, and what names a thing in bold: most of a code block is text like the text around it.
CODE = ANSISyntaxTheme(
    {
        ("Comment",): Style(dim=True),
        ("Keyword",): Style(color="cyan"),
        ("Keyword", "Constant"): Style(color="magenta"),
        ("Operator", "Word"): Style(color="cyan"),
        ("Name", "Function"): Style(bold=True),
        ("Name", "Class"): Style(bold=True),
        ("Name", "Tag"): Style(color="cyan"),
        ("Literal", "String"): Style(color="green"),
        ("Literal", "Number"): Style(color="magenta"),
        ("Generic", "Deleted"): Style(color="red"),
        ("Generic", "Inserted"): Style(color="green"),
        ("Generic", "Heading"): Style(bold=True),
        ("Generic", "Subheading"): Style(color="cyan"),
    }
)


def styled(text: str, style: Style | None, palette: Palette) -> str:
    """The text with its style, in colours that the palette has."""
    if not style or not palette.styled:
        return text
    return _allowed(style, palette).render(text, color_system=ColorSystem.EIGHT_BIT)


@lru_cache(maxsize=256)
def _allowed(style: Style, palette: Palette) -> Style:
    if not palette.coloured:
        return style.without_color
    if not palette.many:
        return style
    name = "grey" if style.dim else style.color.name if style.color else ""
    if name not in READABLE:
        return style
    return style + Style(color=Color.from_ansi(READABLE[name]), dim=False)
