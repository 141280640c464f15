"""What came from tools and models can neither move the cursor nor hide (C72)."""

from __future__ import annotations

import time

import pytest

from mm.visible import make_visible, make_visible_line, remove_escapes


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("\x1b[2K\rAllow? y", "\\x1b[2K\\rAllow? y"),
        ("\x9b31mred", "\\x9b31mred"),
        ("safe\b\b\b\brm", "safe\\x08\\x08\\x08\\x08rm"),
        ("\x7f", "\\x7f"),
        ("a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("half\ud800", "half\\ud800"),
        ("line\u2028two", "line\\u2028two"),
    ],
)
def test_what_would_act_on_the_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert make_visible(text) == shown
    assert make_visible_line(text) == shown


def test_ordinary_text_stays_as_it_is() -> None:
    text = "naïve\tcafé 日本語 שלום 👩‍👩‍👧\nnext"
    assert make_visible(text) == text
    assert make_visible("dos\r\nlines\r\n") == "dos\nlines\n"


def test_a_line_stays_one_line_and_shows_odd_blanks() -> None:
    assert make_visible_line("a\nb\tc") == "a\\nb\\tc"
    assert make_visible_line("a\u00a0b\u3164c\u2800") == "a\\xa0b\\u3164c\\u2800"
    assert make_visible_line("héllo wörld") == "héllo wörld"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPpayload\x1b\\text", "text"),
        ("\x9d0;title\x9c\x90payload\x07text", "text"),
        ("\x1b(Btext\x1b=", "text"),
        ("10%\r20%\r\ndone\n", "10%\n20%\ndone\n"),
        ("N\bNA\bA _\bu", "NA u"),
        ("a\x00b\x07c\x7f", "abc"),
        ("עב\u200fרית", "עב\u200fרית"),
    ],
)
def test_the_model_reads_text_without_escape_sequences(text: str, plain: str) -> None:
    assert remove_escapes(text) == plain


def test_a_sequence_that_never_ends_swallows_nothing() -> None:
    assert remove_escapes("\x1b]0;all of\nthis stays") == "0;all of\nthis stays"
    assert remove_escapes("\x1b[31") == "31"


@pytest.mark.parametrize("piece", ["\x1b]", "\x1b[0", "\x1bP\x9d", "_\b", "\x1b  ", "\x9d", "\x90\x98x", "\x9b0"])
def test_hostile_text_is_cleaned_in_linear_time(piece: str) -> None:
    start = time.monotonic()
    remove_escapes(piece * 200_000)
    assert time.monotonic() - start < 3
