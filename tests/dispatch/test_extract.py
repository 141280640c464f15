"""Step 1: calls that small models write as plain text, and text that only looks like one."""

from __future__ import annotations

import json
from random import Random

import pytest

from mm.dispatch.extract import extract
from mm.dispatch.gate import MOST_COPIES, CirclingError, Gate, may_become_call
from mm.dispatch.loops import LONGEST_CYCLE
from mm.messages import Finish, Reply, ToolCall

STATUS = '{"name": "status", "arguments": {"service": "billing"}}'


def offered(name: str) -> bool:
    return name in ("status", "release", "read_file")


def calls(text: str) -> list[tuple[str, object]]:
    found = extract(Reply(text=text), offered)
    assert not found.calls or found.text == "", "the text of a call is not shown as an answer"
    return [(call.name, json.loads(call.arguments)) for call in found.calls]


ONE = [("status", {"service": "billing"})]


@pytest.mark.parametrize(
    "text",
    [
        STATUS,
        f"  \n{STATUS}\n",
        f"```json\n{STATUS}\n```",
        f"```\n{STATUS}\n```",
        f"<tool_call>\n{STATUS}\n</tool_call>",
        f"<tools>\n{STATUS}\n</tools>",
        f"<tool_call>\n{STATUS}",
        f"<tool_call>{STATUS}</tool_call>\n",
        f"```json\n{STATUS}",
        f"{STATUS}\n```",
        f"{STATUS}\n</tool_call>",
        f"{STATUS}\n</tools>\n",
        "{" + STATUS + "}",
        "{ " + STATUS + " }",
        f"[{STATUS}]",
        STATUS.replace("arguments", "parameters"),
        '{"function": {"name": "status", "arguments": {"service": "billing"}}}',
        '{"type": "function", "function": {"name": "status", "arguments": {"service": "billing"}}}',
        '{"id": "a", "type": "function", "function": {"name": "status", "parameters": {"service": "billing"}}}',
        '{"arguments": {"service": "billing"}, "name": "status"}',
        STATUS.replace(", ", ",\n  ").replace("{", "{\n  "),
    ],
)
def test_a_whole_reply_that_is_a_call_is_a_call(text: str) -> None:
    """(C54)"""
    assert calls(text) == ONE


@pytest.mark.parametrize(
    "text",
    [
        f"{STATUS}\n{STATUS}",
        f"[{STATUS}, {STATUS}]",
        f"<tool_call>\n{STATUS}\n</tool_call>\n<tool_call>\n{STATUS}\n</tool_call>",
        f"<tool_call>\n{STATUS}\n<tool_call>\n{STATUS}\n</tool_call>",
        f"```json\n{STATUS}\n```\n```json\n{STATUS}\n```",
        f"<tool_call>\n{STATUS}\n{STATUS}\n</tool_call>",
        f"{STATUS},\n{STATUS}",
    ],
)
def test_a_run_of_calls_is_as_many_calls(text: str) -> None:
    assert calls(text) == ONE + ONE


@pytest.mark.parametrize(
    "text",
    [
        "The status is fine.",
        "",
        f"I would call {STATUS} here.",
        f"{STATUS}\nThat is the call.",
        f"```json\n{STATUS}\n```\nRun that.",
        f"{STATUS}\n```\nRun that.",
        f"{STATUS}\n```\n```",
        f"</tool_call>\n{STATUS}",
        f"```python\n{STATUS}\n```",
        '{"name": "unknown_tool", "arguments": {}}',
        '{"name": "Ada", "age": 36}',
        '{"name": "status", "description": "The status.", "parameters": {"type": "object"}}',
        '{"name": "status"}',
        '{"name": "status", "arguments": {"service": "bil',
        '{"name": "status", "name": "release", "arguments": {}}',
        f"[{STATUS}",
        f"[{STATUS}, 3]",
        "{{" + STATUS + "}}",
        "[" * 5000 + "]" * 5000,
        '{"name": "status", "arguments": ' + "[" * 100_000,
    ],
)
def test_anything_else_is_text(text: str) -> None:
    found = extract(Reply(text=text), offered)
    assert found.calls == ()
    assert found.text == text


def test_a_call_inside_prose_is_seen_so_that_the_model_can_be_asked_to_send_it_alone() -> None:
    assert extract(Reply(text=f"Sure, let me look.\n\n```json\n{STATUS}\n```"), offered).wrapped
    assert extract(Reply(text=f"Sure: {STATUS} done"), offered).wrapped
    assert not extract(Reply(text='A person is {"name": "Ada", "arguments": {}}'), offered).wrapped
    assert not extract(Reply(text="No call at all {}"), offered).wrapped


def test_a_call_of_a_tool_that_is_not_offered_is_text_and_named_so_that_the_model_can_be_told() -> None:
    found = extract(Reply(text='```json\n{"name": "deploy", "arguments": {}}\n```'), offered)
    assert (found.calls, found.stranger) == ((), "deploy")
    assert extract(Reply(text='{"name": "Ada", "age": 36}'), offered).stranger == ""


def test_arguments_keep_their_own_text() -> None:
    found = extract(Reply(text='{"name": "release", "arguments": {"version": 1.10}}'), offered)
    assert found.calls[0].arguments == '{"version": 1.10}'
    twice = extract(Reply(text='{"name": "release", "arguments": "{\\"version\\": 1.10}"}'), offered)
    assert twice.calls[0].arguments == '"{\\"version\\": 1.10}"'


def test_calls_of_the_wire_count_and_text_beside_them_is_an_answer() -> None:
    call = ToolCall("a", "status", "{}")
    found = extract(Reply(text=STATUS, calls=(call,)), offered)
    assert found.calls == (call,) and found.text == STATUS


def test_nothing_of_a_reply_that_was_cut_may_run() -> None:
    written = extract(Reply(text=STATUS, finish=Finish.LENGTH), offered)
    assert written.calls == () and written.cut
    wired = extract(Reply(calls=(ToolCall("a", "status", "{}"),), finish=Finish.LENGTH), offered)
    assert wired.cut


def test_reasoning_is_never_a_call() -> None:
    """(C56)"""
    found = extract(Reply(text="The answer is 4.", reasoning=STATUS), offered)
    assert found.calls == () and not found.wrapped


@pytest.mark.parametrize(
    "text", [STATUS, f"```json\n{STATUS}\n```", f"<tool_call>\n{STATUS}", f"[{STATUS}]", "{" + STATUS]
)
def test_text_that_becomes_a_call_is_never_shown_on_the_way(text: str) -> None:
    gate = Gate(tools_offered=True)
    assert [gate.feed(character) for character in text] == [""] * len(text)
    assert gate.rest() == text


@pytest.mark.parametrize(
    "text",
    [
        "Hello {you}",
        '{"answer": 42} is JSON',
        "```python\nprint(1)\n```",
        "```js\nx\n```",
        "<b>bold</b>",
        "[1, 2]",
        "[link](x)",
        "{x}",
        "``code``",
    ],
)
def test_other_text_streams_and_nothing_of_it_is_lost(text: str) -> None:
    gate = Gate(tools_offered=True)
    shown = "".join(gate.feed(character) for character in text)
    assert shown, "it did not wait for the end"
    assert shown + gate.rest() == text


def test_without_tools_everything_is_shown_at_once() -> None:
    assert Gate(tools_offered=False).feed("{") == "{"


def test_what_may_become_a_call_is_judged_by_how_it_begins() -> None:
    for text in ("", " ", "{", '{"na', '{"name": "x', "```", "```js", "```json\n", "<tool", "[", "[{", "{{", '{"type'):
        assert may_become_call(text), text
    for text in ("x", '{"n"', "```python", "```py\n", "<div", "[1", '{"names"', "{1"):
        assert not may_become_call(text), text


def test_a_raw_line_break_inside_a_text_is_still_a_call() -> None:
    found = extract(Reply(text='{"name": "status", "arguments": {"service": "two\nlines"}}'), offered)
    assert [call.name for call in found.calls] == ["status"]


BROKEN = [
    '{"name": "read_file", "arguments": {"path": "a"}',
    '{"name": "read_file", "arguments": {"path": "a}}',
    '```json\n{"name": "read_file", "arguments": {path: "a"}}\n```',
    '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}\n</tool_call>',
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_call_whose_json_is_not_whole_is_named_so_that_the_model_can_be_told(text: str) -> None:
    found = extract(Reply(text), offered)
    assert (found.calls, found.broken) == ((), "read_file")


@pytest.mark.parametrize("text", ['{"name": "Ada", "arguments": [', 'A call is {"name": "read_file", "arg', "{}"])
def test_other_text_is_no_broken_call(text: str) -> None:
    assert extract(Reply(text), offered).broken == ""


def left_at(*pieces: str) -> list[tuple[str, str]] | None:
    """The calls of a reply that was read no further, as they were written; None for one that was read to its end."""
    gate = Gate(tools_offered=True)
    try:
        for piece in pieces:
            assert gate.feed(piece) == ""
    except CirclingError as circling:
        return [(call.name, call.arguments) for call in extract(Reply(circling.text), offered).calls]
    return None


def read(path: str) -> str:
    return f'{{"name": "read_file", "arguments": {{"path": "{path}"}}}}\n'


def numbered(version: str) -> str:
    return f'{{"name": "release", "arguments": {{"version": {version}}}}}\n'


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        ("aaaa", "a"),
        ("baaaa", "ba"),
        ("aabaaaa", "aaba"),
        ("abababa", "ab"),
        ("cabcabcabc", "cab"),
        ("abcdabcdabcda", "abcd"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 50])
def test_a_reply_that_goes_on_in_a_circle_is_read_no_further(reply: str, kept: str, size: int) -> None:
    text = "".join(map(read, reply))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert left_at(*pieces) == [("read_file", f'{{"path": "{path}"}}') for path in kept]


@pytest.mark.parametrize("reply", ["abacadaea", "aaa", "ababab", "aabbaabb", "abcdeabcdeabcdea"])
def test_calls_that_are_made_again_between_others_are_all_read(reply: str) -> None:
    """(C54) An edit, the tests, an edit, the tests: none of them is lost."""
    assert left_at(*map(read, reply)) is None


def test_numbers_that_may_be_texts_are_not_the_same_call() -> None:
    assert left_at(*map(numbered, ("1.1", "1.10", "1.100", "1.1000"))) is None
    assert left_at(*map(numbered, ("1.10", " 1.10", "1.10 ", "1.10"))) == [("release", '{"version": 1.10}')]


def test_another_call_behind_three_equal_ones_is_read() -> None:
    assert left_at(read("a") * 3, numbered("1")) is None


@pytest.mark.parametrize("closing", ["\n```", "\n```\nNothing of this is meant to run.", ""])
def test_an_example_that_is_streamed_may_still_be_followed_by_prose(closing: str) -> None:
    assert left_at("```json\n", read("a"), read("a"), read("a"), closing) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "release", "arguments": {"version": "1"}, "parameters": {"version": "2"}}',
        '{"name": "release", "arguments": {"version": "3"}, "function": {"name": "status", "arguments": {}}}',
        '{"name": "release", "function": {"name": "status", "arguments": {}}}',
        '{"function": {"name": "status", "arguments": {}}, "parameters": {}}',
        '{"name": "release", "function": "status", "arguments": {}}',
        '{"type": "function", "function": {"name": "release", "parameters": {"type": "object", "properties": {}}}}',
        '{"name": "release", "parameters": {"type": "object", "properties": {"version": {"type": "string"}}}}',
    ],
)
def test_a_call_with_two_readings_and_the_definition_of_a_tool_are_no_calls(text: str) -> None:
    found = extract(Reply(text), offered)
    assert (found.calls, found.text) == ((), text)


RELEASE = '{"name": "release", "arguments": {}}'
NOTED = '{"name": "release", "arguments": {"version": 1.10, "notes": ["a {b} c", {"arguments": 1}]}}'
ENCODED = '{"name": "release", "arguments": "{\\"version\\": 1.10}"}'
PLAN = f'{{"name": "status", "arguments": {{"steps": [{RELEASE}, {RELEASE}, {RELEASE}, {NOTED}, {NOTED}, {NOTED}]}}}}'
QUOTED = json.dumps({"name": "read_file", "arguments": {"path": f"{RELEASE}\n" * 4}})
WHOLE = f'{{"type": "function", "function": {PLAN}}}'


def test_calls_inside_the_arguments_of_another_never_count_as_a_circle() -> None:
    """(C54) The outer call is not whole yet; what it holds is no call of the model's."""
    gate = Gate(tools_offered=True)
    assert all(gate.feed(character) == "" for character in PLAN * 2)
    assert calls(PLAN) == [("status", {"steps": [*[json.loads(RELEASE)] * 3, *[json.loads(NOTED)] * 3]})]


def test_a_text_that_goes_on_after_its_calls_is_no_circle() -> None:
    gate = Gate(tools_offered=True)
    assert gate.feed(f"{RELEASE}\n{RELEASE}\n{RELEASE}\nThat is what I would do {{now}}.") == ""


@pytest.mark.parametrize("seed", range(300))
def test_a_circle_is_made_of_the_very_calls_that_the_whole_reply_is_read_as(seed: int) -> None:
    random = Random(seed)
    made = random.choices([RELEASE, NOTED, ENCODED, PLAN, QUOTED, WHOLE], k=random.randint(1, 9))
    text = random.choice(
        [
            "\n".join(made),
            ",".join(made),
            f"[{', '.join(made)}]",
            "".join(f"<tool_call>\n{call}\n</tool_call>\n" for call in made),
            "\n".join(f"<tool_call>\n{call}" for call in made),
            "\n".join(f"```json\n{call}\n```" for call in made),
            "\n".join("{" + call + "}" for call in made),
        ]
    )
    longest = random.choice([1, 3, 40, 400])
    whole = [(call.name, call.arguments) for call in extract(Reply(text), offered).calls]
    assert len(whole) == len(made)

    pieces, position = [], 0
    while position < len(text):
        size = random.randint(1, longest)
        pieces.append(text[position : position + size])
        position += size
    left = left_at(*pieces)
    if left is not None:
        assert whole[: len(left)] == left, "in the model's order, nothing left out before the circle"
        assert any(
            whole[len(left) - length : len(left)] * MOST_COPIES
            == whole[len(left) - length : len(left) + (MOST_COPIES - 1) * length]
            for length in range(1, LONGEST_CYCLE + 1)
        )
    elif longest <= 3:
        assert not any(
            whole[start : start + length] * (MOST_COPIES + 1) == whole[start : start + length * (MOST_COPIES + 1)]
            for length in range(1, LONGEST_CYCLE + 1)
            for start in range(len(whole) - length * (MOST_COPIES + 1) + 1)
        )
