"""One value in place of a list: its keys go back to the author's names, and its numbers stay as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mm.dispatch.arguments import InvalidCall, check, parse
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool

OPEN: dict[str, Any] = {"type": "object", "properties": {"x y": {"type": "string"}}}
STRICT = {**OPEN, "additionalProperties": False, "required": ["x y"]}


def list_of(items: Any) -> Any:
    return {"type": "array", "items": items}


def tool_of(schema: Any, **definitions: Any) -> Tool:
    whole = Schema({"type": "object", "properties": {"l": schema}, "$defs": definitions})
    return Tool("tool", Kind.COMMAND, "A tool.", whole, spec=None)


@pytest.mark.parametrize("items", [OPEN, STRICT, {"anyOf": [{"type": "integer"}, STRICT]}])
@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ({"x_y": "v"}, "v"),
        ([{"x_y": "v"}], "v"),
        ('{"x_y": "v"}', "v"),
        (['{"x_y": "v"}'], "v"),
        ('{"x_y": 1.10}', "1.10"),
        (' {"x_y": 1.10}', "1.10"),
    ],
)
def test_one_object_runs_under_the_same_names_as_a_list_of_it(items: Any, sent: Any, value: str) -> None:
    made = check(tool_of(list_of(items)), parse(json.dumps({"l": sent})))
    assert made.arguments == {"l": [{"x y": value}]}


@pytest.mark.parametrize("text", ['{"l": {"x_y": 1.10}}', '{"l": {"x_y": "1.10"}}', '{"l": [{"x_y": 1.10}]}'])
def test_a_number_in_such_an_object_becomes_text_as_it_was_written(text: str) -> None:
    for items in (OPEN, STRICT):
        assert check(tool_of(list_of(items)), parse(text)).arguments == {"l": [{"x y": "1.10"}]}


@pytest.mark.parametrize("sent", [['{"x_y": 1.10}'], '["{\\"x_y\\": 1.10}"]', [{"x_y": "1.10"}], '[{"x_y": 1.10}]'])
@pytest.mark.parametrize("items", [OPEN, STRICT])
def test_in_a_list_of_lists_it_has_one_reading(sent: Any, items: Any) -> None:
    made = check(tool_of(list_of(list_of(items))), parse(json.dumps({"l": sent})))
    assert made.arguments == {"l": [[{"x y": "1.10"}]]}


def test_names_go_back_at_every_depth_of_it_and_behind_references() -> None:
    node = {"type": "object", "properties": {"a b": {"type": "string"}, "c d": list_of({"$ref": "#/$defs/node"})}}
    sent = {"a_b": 1.0, "c_d": {"a_b": 2.50, "c_d": '{"a_b": 3.70}'}}
    text = json.dumps({"l": sent}).replace("2.5", "2.50")
    made = check(tool_of(list_of({"$ref": "#/$defs/node"}), node=node), parse(text))
    assert made.arguments == {"l": [{"a b": "1.0", "c d": [{"a b": "2.50", "c d": [{"a b": "3.70"}]}]}]}


def test_an_object_that_is_wanted_as_it_is_is_not_taken_for_a_list() -> None:
    either = {"anyOf": [OPEN, list_of(STRICT)]}
    assert check(tool_of(either), parse('{"l": {"x_y": "v"}}')).arguments == {"l": {"x y": "v"}}


@pytest.mark.parametrize("both", [{"x_y": "1", "x y": "2"}, '{"x_y": "1", "x y": "2"}'])
@pytest.mark.parametrize("items", [OPEN, STRICT])
def test_both_spellings_of_a_name_in_it_are_answered(both: Any, items: Any) -> None:
    with pytest.raises(InvalidCall) as caught:
        check(tool_of(list_of(items)), parse(json.dumps({"l": both})))
    assert '`l[0].x_y` was sent twice, as "x_y" and as "x y": send "x_y" alone.' in caught.value.message
    assert "must be an array" not in caught.value.message


def test_both_spellings_in_it_do_not_matter_where_it_has_another_reading() -> None:
    either = {"anyOf": [list_of(STRICT), {"type": "object", "properties": {"n": {"type": "integer"}}}]}
    made = check(tool_of(either), parse('{"l": {"x_y": "1", "x y": "2", "n": "3"}}'))
    assert made.arguments == {"l": {"x_y": "1", "x y": "2", "n": 3}}


@pytest.mark.parametrize(
    ("sent", "notes"),
    [
        ('{"x_y": "v"}', ['took l={"x_y": "v"} as [{"x_y": "v"}]']),
        ('{"x_y": 1.10}', ['took l={"x_y": 1.1} as [{"x_y": "1.10"}]', 'took l.x_y=1.10 as "1.10"']),
    ],
)
def test_what_was_wrapped_is_said_under_the_names_that_the_model_knows(sent: str, notes: list[str]) -> None:
    assert list(check(tool_of(list_of(OPEN)), parse(f'{{"l": {sent}}}')).notes) == notes


def test_a_text_that_was_read_is_said_under_those_names_too() -> None:
    (note,) = check(tool_of(OPEN), parse(json.dumps({"l": '{"x_y": "v"}'}))).notes
    assert note == 'took l="{\\"x_y\\": \\"v\\"}" as {"x_y": "v"}'


def test_what_does_not_fit_is_quoted_under_those_names() -> None:
    with pytest.raises(InvalidCall) as caught:
        check(tool_of({"type": "object", "properties": {"x y": OPEN}}), parse('{"l": {"x_y": [{"x_y": 1}]}}'))
    assert '`l.x_y` must be an object; you sent [{"x_y": 1}]' in caught.value.message


def test_a_recursive_list_does_not_hang() -> None:
    nested = {"anyOf": [list_of({"$ref": "#/$defs/nested"}), STRICT]}
    tool = tool_of(list_of({"$ref": "#/$defs/nested"}), nested=nested)
    assert check(tool, parse('{"l": {"x_y": "v"}}')).arguments == {"l": [{"x y": "v"}]}
