"""Arguments of a call: read, brought under the author's names, converted, checked, answered."""

from __future__ import annotations

import json
import random
import re
import time
from typing import Any

import pytest

from mm.dispatch.arguments import InvalidCall, canonical, check, parse
from mm.errors import ToolError
from mm.schemas.compiled import compiled
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool


def tool_of(schema: Any, *, drops_extras: bool = False) -> Tool:
    return Tool("tool", Kind.COMMAND, "A tool.", Schema(schema), spec=None, drops_extras=drops_extras)


def taken(schema: Any, text: str) -> Any:
    return check(tool_of({"properties": {"v": schema}}), parse(text)).arguments.get("v", "left out")


def reply(schema: Any, text: str) -> str:
    with pytest.raises(InvalidCall) as caught:
        check(tool_of(schema), parse(text))
    return caught.value.message


UNREADABLE = {
    "duplicate key": '{"a": 1, "a": 2}',
    "lone surrogate": '{"a": "\\ud800"}',
    "NUL": '{"a": "\\u0000"}',
    "NaN": '{"a": NaN}',
    "too large": '{"a": 1e400}',
    "deep": '{"a":' + "[" * 200 + "]" * 200 + "}",
    "absurdly deep": "[" * 100_000,
    "glued": '{"a": 1}{"a": 1}',
    "list": "[]",
    "cut": '{"a": "x',
    "5000 digits": '{"a": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_not_one_json_object_is_answered(text: str) -> None:
    """(C05, C19)"""
    with pytest.raises(ToolError, match="one JSON object"):
        parse(text)


@pytest.mark.parametrize("sent", ["3.5", '"3.5"', "-0.25", '"3.5e0"'])
def test_a_fraction_for_a_whole_number_is_answered_with_whole(sent: str) -> None:
    said = reply({"properties": {"v": {"type": "integer"}}}, f'{{"v": {sent}}}')
    assert f"`v` must be an integer; you sent {sent}. Write a whole number, without a fraction." in said
    assert "digits" not in said


@pytest.mark.parametrize("sent", ['"lots"', '"3.5 litres"', '"nan"', "[]"])
def test_what_is_no_number_is_not_said_to_be_a_fraction(sent: str) -> None:
    said = reply({"properties": {"v": {"type": "integer"}}}, f'{{"v": {sent}}}')
    assert "Write it in digits" in said


def test_a_number_becomes_text_as_it_was_written_also_inside_json_text() -> None:
    """(C14)"""
    assert taken({"type": "string"}, '{"v": 1.10}') == "1.10"
    assert taken({"type": "array", "items": {"type": "string"}}, json.dumps({"v": "[1.10, 2.50]"})) == ["1.10", "2.50"]


def test_two_readings_of_one_rank_are_answered() -> None:
    nested = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    assert "can be read as" in reply({"properties": {"v": nested}}, '{"v": [1, 2]}')


def test_a_null_that_is_not_allowed_is_left_out_only_if_optional() -> None:
    """(C17)"""
    assert taken({"type": "integer"}, '{"v": null}') == "left out"
    assert "`v`" in reply({"properties": {"v": {"type": "integer"}}, "required": ["v"]}, '{"v": null}')


def test_the_other_alternatives_of_a_recursive_union_survive() -> None:
    """(C28)"""
    schema = {
        "properties": {"v": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]}},
    }
    assert check(tool_of(schema), parse('{"v": "5"}')).arguments == {"v": 5}
    assert "`v`" in reply(schema, '{"v": "x"}')


def test_data_is_repaired_to_a_depth_of_sixty() -> None:
    schema = {
        "$ref": "#/$defs/N",
        "$defs": {"N": {"properties": {"c": {"$ref": "#/$defs/N"}, "n": {"type": "integer"}}}},
    }
    value: Any = {"n": "1"}
    for _ in range(60):
        value = {"c": value}
    made = check(tool_of(schema), parse(json.dumps(value))).arguments
    for _ in range(60):
        made = made["c"]
    assert made == {"n": 1}


def test_wire_names_go_back_inside_json_text() -> None:
    """(C29)"""
    schema = {"properties": {"f": {"type": "object", "properties": {"x y": {"type": "integer"}}}}}
    made = check(tool_of(schema), parse(json.dumps({"f": '{"x_y": "1"}'})))
    assert made.arguments == {"f": {"x y": 1}}


@pytest.mark.parametrize("text", ['{"a_b": 1.10}', ' {"a_b": 1.10}', '{"list": [{"a_b": 1.10}]}'])
def test_a_number_under_a_renamed_key_keeps_its_spelling_inside_json_text(text: str) -> None:
    """(C14, C29)"""
    options: dict[str, Any] = {
        "type": "object",
        "properties": {"a b": {"type": "string"}},
        "additionalProperties": False,
    }
    options["properties"]["list"] = {"type": "array", "items": {"$ref": "#/$defs/options"}}
    schema = {"properties": {"o": {"$ref": "#/$defs/options"}}, "$defs": {"options": options}}
    made = check(tool_of(schema), parse(json.dumps({"o": text}))).arguments["o"]
    assert made.get("list", [made])[0] == {"a b": "1.10"}


def test_a_deep_value_never_makes_a_branching_recursion_hang() -> None:
    node = {"type": "object", "properties": {"c": {"$ref": "#/$defs/T"}}}
    union = {"anyOf": [{**node, "required": ["x"]}, {**node, "required": ["y"]}]}
    value: Any = {"y": 1, "c": 3}
    for _ in range(60):
        value = {"y": 1, "c": value}
    with pytest.raises(ToolError, match="levels deep"):
        check(
            tool_of({"properties": {"t": {"$ref": "#/$defs/T"}}, "$defs": {"T": union}}),
            parse(json.dumps({"t": value})),
        )


def test_a_pattern_that_backtracks_for_ever_is_answered() -> None:
    """(C37)"""
    schema = {"properties": {"v": {"type": "string", "pattern": r"^(?=a)(a|aa)+\1$"}}}
    assert "pattern" in reply(schema, json.dumps({"v": "a" * 5000 + "!"}))


def test_extras_of_a_tool_without_parameters_are_dropped_and_that_is_said() -> None:
    made = check(tool_of({"type": "object", "properties": {}}, drops_extras=True), parse('{"x": 1}'))
    assert made.arguments == {}
    assert "dropped `x`" in made.notes[0]


def test_what_was_repaired_is_said() -> None:
    made = check(tool_of({"properties": {"limit": {"type": "integer"}}}), parse('{"limit": "10"}'))
    assert made.notes == ('took limit="10" as 10',)


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "string", "minLength": 1}, "", "must have at least 1 character;"),
        ({"type": "string", "minLength": 2}, "a", "must have at least 2 characters;"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, [], "must have at least 1 item;"),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "must have at most 1 field;"),
    ],
)
def test_a_size_is_said_with_its_noun(schema: Any, value: Any, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        check(tool_of({"properties": {"x": schema}}), parse(json.dumps({"x": value})))
    assert words in caught.value.message


def test_equal_arguments_have_one_canonical_form() -> None:
    assert canonical({"b": 3.0, "a": [1]}) == canonical({"a": [1], "b": 3})
    assert canonical({"a": True}) != canonical({"a": 1})


PARTS: list[Any] = [
    {"type": "integer", "minimum": 3},
    {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
    {"type": "string", "minLength": 4, "maxLength": 5},
    {"enum": ["a", 1, None]},
    {"type": "array", "items": {"type": "number"}, "minItems": 2},
    {"type": "object", "properties": {"x y": {"type": "boolean"}}, "required": ["x y"]},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
    {"type": ["number", "null"], "multipleOf": 0.5},
    {"const": "fixed"},
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
]
VALUES: list[Any] = [
    "",
    "3",
    "abcd",
    "2024-01-02",
    "[1, 2]",
    '{"x_y": "true"}',
    1,
    4,
    2.5,
    True,
    None,
    [],
    [1, 2],
    ["a"],
    {},
]


@pytest.mark.parametrize("seed", range(60))
def test_valid_arguments_are_unchanged_and_every_reply_shows_a_call_that_validates(seed: int) -> None:
    chance = random.Random(seed)
    properties = {f"p{index}": chance.choice(PARTS) for index in range(4)}
    schema = {"type": "object", "properties": properties, "required": chance.sample(list(properties), 2)}
    tool, form = tool_of(schema), compiled(Schema(schema))
    given = {name: chance.choice(VALUES) for name in properties if chance.random() < 0.8}
    try:
        made = check(tool, parse(json.dumps(given)))
    except InvalidCall as error:
        shown = re.search(r"A correct call of `tool` has these arguments: (.*)", error.message)
        assert shown is not None
        assert form.is_valid(form.names.restore(json.loads(shown[1])))
    else:
        assert form.is_valid(made.arguments)
        if form.is_valid(form.names.restore(given)):
            assert made.arguments == form.names.restore(given)
            assert made.notes == ()


EXACT = {"9007199254740993.0": 9007199254740993, "12345678901234567890123e0": 12345678901234567890123, "1E23": 10**23}


@pytest.mark.parametrize(("literal", "number"), EXACT.items())
@pytest.mark.parametrize("inside", ["{}", '"{}"', "[{}]", '"[{}]"'])
def test_an_integer_never_passes_through_a_float(inside: str, literal: str, number: int) -> None:
    """(C14)"""
    schema = {"type": "array", "items": {"type": "integer"}} if "[" in inside else {"type": "integer"}
    checked = check(tool_of({"properties": {"v": schema}}), parse('{"v": ' + inside.format(literal) + "}"))
    value = checked.arguments["v"]
    value = value[0] if "[" in inside else value
    assert (type(value), value) == (int, number)
    assert str(number) in checked.notes[0]


def test_a_number_that_is_no_integer_for_its_schema_stays_a_float() -> None:
    for literal in ("3.0", "1e23", "9007199254740993.0", "-1.5e300", "0.0", "-0.0", "0e9"):
        value = taken({"type": "number"}, f'{{"v": {literal}}}')
        assert (type(value), repr(value)) == (float, repr(float(literal)))
        inside = taken({"type": "array", "items": {"type": "number"}}, f'{{"v": [1, {literal}]}}')
        assert repr(inside) == repr([1, float(literal)])
    assert repr(taken({"type": "integer"}, '{"v": 3.0}')) == "3.0"


@pytest.mark.parametrize("literal", ["1e-400", "-0.1E-999999", "0." + "0" * 400 + "1"])
def test_a_number_too_small_for_a_float_is_answered_and_never_zero(literal: str) -> None:
    for text in (literal, f'"{literal}"', f'"[{literal}]"'):
        with pytest.raises(ToolError):
            taken({"type": ["number", "array"], "items": {"type": "number"}}, f'{{"v": {text}}}')


def test_a_note_shows_a_number_as_it_was_sent() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    assert check(tool_of({"properties": {"v": texts}}), parse('{"v": 1.10}')).notes == ('took v=1.10 as ["1.10"]',)
    assert check(tool_of({"properties": {"v": texts}}), parse('{"v": [1.10]}')).notes == ('took v[0]=1.10 as "1.10"',)
    integers = {"type": "array", "items": {"type": "integer"}}
    assert check(tool_of({"properties": {"v": integers}}), parse('{"v": "5"}')).notes == ('took v="5" as [5]',)


def test_the_reply_quotes_the_whole_text_that_was_sent() -> None:
    schema = {"properties": {"v": {"type": "array", "items": {"type": "integer"}}}}
    assert 'you sent "1,2"' in reply(schema, '{"v": "1,2"}')
    assert 'you sent "x"' in reply(schema, '{"v": "[1, \\"x\\"]"}')


LONG = "k" * 1_000_000
HUGE: dict[str, tuple[Any, str]] = {
    "unknown key": ({"properties": {"v": {}}, "additionalProperties": False}, f'{{"{LONG}": 1}}'),
    "unknown keys": (
        {"properties": {"v": {}}, "additionalProperties": False},
        json.dumps({f"{LONG[:3000]}{index}": 1 for index in range(100)}),
    ),
    "key inside": ({"additionalProperties": {"additionalProperties": {"type": "null"}}}, f'{{"a": {{"{LONG}": 1}}}}'),
    "declared key": ({"properties": {LONG: {"type": "null"}}, "required": [LONG, LONG + "a"]}, f'{{"{LONG}": 1}}'),
    "allowed value": ({"properties": {"v": {"enum": [LONG]}}, "required": ["v"]}, '{"v": 1}'),
    "pattern": ({"properties": {"v": {"pattern": LONG[:9000], "type": "string"}}, "required": ["v"]}, '{"v": "x"}'),
    "many parameters": (
        {
            "properties": {f"v{index}": {"enum": ["value"] * 90, "description": "word " * 90} for index in range(900)},
            "required": [f"v{index}" for index in range(900)],
        },
        "{}",
    ),
    "deep": ({"properties": {"v": {"type": "null"}}}, '{"v": ' + f'{{"{LONG[:5000]}": ' * 60 + "1" + "}" * 61),
}


@pytest.mark.parametrize(("schema", "text"), HUGE.values(), ids=HUGE.keys())
def test_a_reply_stays_short_whatever_was_sent(schema: Any, text: str) -> None:
    told = reply(schema, text)
    assert len(told) < 8_000
    assert "You sent:" in told


def test_a_list_of_parameters_that_is_cut_says_how_many_there_are() -> None:
    schema, text = HUGE["many parameters"]
    listed = reply(schema, text).partition("Parameters of")[2]
    shown = len(re.findall(r"^- `v", listed, re.MULTILINE))
    assert 0 < shown < 40
    assert f"- and {900 - shown} more" in listed


def test_a_pattern_that_takes_for_ever_is_named_or_called_its_pattern() -> None:
    schema = {"properties": {"v": {"type": "string", "pattern": "^(?=(a+)+$)"}}}
    assert "None" not in reply(schema, '{"v": "' + "a" * 5000 + '!"}')


INTEGERS = {"type": "array", "items": {"type": "integer"}}
RECURSIVE = {
    "$defs": {"n": {"anyOf": [{"type": "integer"}, {"items": {"$ref": "#/$defs/n"}, "type": "array"}]}},
    "properties": {"v": {"$ref": "#/$defs/n"}},
}
KINDS = {"anyOf": [{"properties": {"k": {"const": kind}, "v": INTEGERS}} for kind in range(200)]}
ENDLESS: dict[str, tuple[Any, str]] = {
    "numbers": ({"properties": {"v": INTEGERS}}, "[" + '"1", ' * 30_000 + "1]"),
    "recursive union": (RECURSIVE, "[" + '["5", ["6", ["x"]]], ' * 4_000 + "1]"),
    "many kinds": (
        {"properties": {"v": {"items": KINDS, "type": "array"}}},
        "[" + '{"v": "[\\"2\\"]"}, ' * 600 + "1]",
    ),
}


@pytest.mark.parametrize(("schema", "value"), ENDLESS.values(), ids=ENDLESS.keys())
def test_more_values_than_can_be_repaired_are_answered_and_never_a_hang(
    schema: Any, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mm.dispatch.convert.MAX_WORK", 20_000)
    start = time.process_time()
    assert "too many values in them to be repaired" in reply(schema, f'{{"v": {value}}}')
    assert time.process_time() - start < 5


def test_many_values_that_need_repair_are_repaired() -> None:
    assert taken(INTEGERS, '{"v": [' + '"1", ' * 20_000 + "1]}") == [1] * 20_001
    assert len(check(tool_of(RECURSIVE), parse('{"v": [' + '["5", ["6"]], ' * 500 + "1]}")).arguments["v"]) == 501


def test_a_list_is_no_single_value_and_is_not_wrapped_to_have_an_item() -> None:
    for items in ({}, {"items": {"type": "string"}}):
        said = reply({"properties": {"v": {"type": "array", "minItems": 1, **items}}}, '{"v": []}')
        assert "`v`" in said and "not empty" in said
    pairs = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}
    assert taken(pairs, '{"v": [1, 2]}') == [[1, 2]]
