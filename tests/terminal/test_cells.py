"""Text measured in cells."""

from __future__ import annotations

import pytest

from mm.terminal.cells import wrap_words


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("  [ ] boats", 20, ["  [ ] boats"]),
        ("  [ ] boats and trains", 14, ["  [ ] boats", "  and trains"]),
        ("a  b", 10, ["a  b"]),
        ("", 10, [""]),
        ("      deep", 8, ["deep"]),
    ],
)
def test_an_indented_line_stays_indented_where_there_is_room(text: str, width: int, lines: list[str]) -> None:
    assert wrap_words(text, width) == lines
