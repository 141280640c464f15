"""Streamed Markdown: blocks come out once, and no character of the text is lost."""

from __future__ import annotations

import re

import pytest

from mm.terminal.blocks import BlockStream
from mm.terminal.markdown import render_markdown
from mm.terminal.palette import PLAIN, READABLE, Palette
from tests.terminal.stand_in import ANSWER

WORDS = re.compile(r"\w+")


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_text_in_pieces_of_any_size_gives_the_same_blocks(size: int) -> None:
    stream = BlockStream()
    blocks: list[str] = []
    for start in range(0, len(ANSWER), size):
        stream.feed(ANSWER[start : start + size])
        blocks += stream.take_finished()
    blocks.append(stream.take_rest())
    assert "\n".join(blocks) == ANSWER
    assert [block.split()[0] for block in blocks] == ["#", "There", "-", "|", "```python", ">"]


def test_a_line_that_is_not_whole_decides_nothing() -> None:
    stream = BlockStream()
    stream.feed("a word\n#")
    assert stream.take_finished() == []
    stream.feed("tag goes on\n")
    assert stream.take_finished() == []
    assert stream.take_rest() == "a word\n#tag goes on\n"


@pytest.mark.parametrize("width", [12, 20, 40, 79, 200])
def test_every_word_is_there_once_at_any_width(width: int) -> None:
    shown = "".join(line.strip() for line in render_markdown(ANSWER, width, PLAIN))
    for word in ("Three", "example", "boats", "1204", "電車", "Count", "len", "alike"):
        assert word in re.sub(r"[^\w]", "", shown), word
    assert all(len(line) <= width for line in render_markdown(ANSWER.replace("電車", "xx"), width, PLAIN))


@pytest.mark.parametrize(
    "text",
    [
        "a <b>tag</b> and List<String>",
        "<div>\nblock\n</div>",
        "[x]: http://example.org/reference",
        "![a picture](http://example.org/p.png)",
        "[named](http://example.org/hidden)",
        "    indented code",
        "~~~ unclosed\ncode goes on",
    ],
)
def test_what_other_renderers_drop_is_kept(text: str) -> None:
    shown = " ".join(render_markdown(text, 100, PLAIN))
    for word in WORDS.findall(text):
        assert word in shown


def test_a_wide_table_in_a_narrow_window_becomes_records() -> None:
    table = "| a | b | c | d | e |\n|---|---|---|---|---|\n" + "| some text | more text | third one | fourth | fifth |"
    assert render_markdown(table, 30, PLAIN)[:2] == ["a: some text", "b: more text"]


def test_line_breaks_of_the_model_stay_and_code_is_not_reflowed() -> None:
    assert render_markdown("one\ntwo\n\n```\nx   =  1\n```", 60, PLAIN) == ["one", "two", "", "  x   =  1"]


def test_a_character_entity_cannot_smuggle_a_control_character() -> None:
    assert render_markdown("&#x202e;evil `&#x202e;`", 60, PLAIN) == ["\\u202eevil &#x202e;"]


def test_without_colours_bold_stays() -> None:
    assert render_markdown("**a** `b`", 60, Palette(styled=True)) == ["\x1b[1ma\x1b[0m b"]


def test_a_paragraph_in_a_very_wide_window_stays_readable_and_a_code_block_whole() -> None:
    lines = render_markdown("word " * 60 + "\n\n    " + "x" * 150, 200, PLAIN)
    assert max(len(line) for line in lines if "word" in line) <= 100
    assert "  " + "x" * 150 in lines


def test_a_rule_is_one_line_in_a_narrow_window() -> None:
    assert render_markdown("a\n\n---\n\nb", 19, PLAIN) == ["a", "", "─" * 19, "", "b"]


def test_rendered_colours_are_those_that_can_be_read_where_there_are_256() -> None:
    shown = "".join(render_markdown(ANSWER, 60, Palette(styled=True, coloured=True, many=True)))
    used = {int(number) for number in re.findall(r"38;5;(\d+)", shown)}
    assert used and used <= set(READABLE.values())
    assert not re.search(r"\x1b\[(?:2|3[0-7]|9[0-7])m", shown)
