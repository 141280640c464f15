"""The arguments of a call on one line."""

from __future__ import annotations

import pytest

from mm.dispatch.brief import in_short, text_in_short


def test_what_is_long_goes_last_and_is_cut() -> None:
    shown = in_short({"content": "x" * 500, "path": "a.md", "text": "one\ntwo", "times": 3})
    assert shown.startswith('path="a.md", times=3, content="xxx') and shown.endswith('text="one\\ntwo"')
    assert len(shown) < 200


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": 1, "b": [true]}', "a=1, b=[true]"),
        ("", ""),
        ("{}", ""),
        ('["a"]', '["a"]'),
        ('{"a": ', '{"a": '),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_arguments_as_a_model_wrote_them_are_short_if_they_are_an_object(text: str, shown: str) -> None:
    assert text_in_short(text) == shown
