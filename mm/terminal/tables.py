"""A Markdown table in the terminal: aligned columns where they fit, else one record below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

_NARROWEST_COLUMN = 6
_GAP = 3
_Justify = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class TableView:
    """A header, rows of as many cells, and `left`, `center` or `right` for each column."""

    header: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    alignments: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        needed = sum(min(self._widest(column), _NARROWEST_COLUMN) + _GAP for column in range(len(self.header)))
        if needed - _GAP <= options.max_width:
            yield self._columns()
        else:
            yield from self._records()

    def _widest(self, column: int) -> int:
        return max(text.cell_len for text in (self.header[column], *(row[column] for row in self.rows)))

    def _columns(self) -> RenderableType:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, border_style="dim", header_style="bold")
        for text, alignment in zip(self.header, self.alignments, strict=True):
            table.add_column(text, justify=cast(_Justify, alignment), overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        return table

    def _records(self) -> Iterator[RenderableType]:
        for number, row in enumerate(self.rows or [self.header]):
            if number:
                yield Text()
            for name, text in zip(self.header, row, strict=True):
                yield Text.assemble((name.plain, "bold"), ": " if name.plain else "", text, overflow="fold")
