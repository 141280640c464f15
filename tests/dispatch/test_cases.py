"""The reported failures of `tests/cases/arguments.json`, one by one: what the tool gets, or what the reply says."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from mm.dispatch import arguments
from mm.errors import ToolError
from mm.schemas.problems import problems
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool

CASES = json.loads((Path(__file__).parent.parent / "cases" / "arguments.json").read_text("utf-8"))
CALLS = [case for case in CASES if "model_text" not in case]
BROKEN = [case for case in CASES if case.get("schema_broken")]


def tool_of(schema: Any) -> Tool:
    return Tool("tool", Kind.COMMAND, "A tool.", Schema(schema), spec=None)


def sent(case: dict[str, Any]) -> str:
    return case["model_args_raw"] if "model_args_raw" in case else json.dumps(case["model_args"])


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, but 3.0 is 3."""
    return arguments.canonical(one) == arguments.canonical(other)


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case["id"])
def test_a_reported_call_is_taken_or_answered_as_it_should_be(case: dict[str, Any]) -> None:
    begun = time.perf_counter()
    try:
        checked = arguments.check(tool_of(case["tool_schema"]), arguments.parse(sent(case)))
    except ToolError as error:
        assert "error_mentions" in case["expect"], error.message
        for word in case["expect"]["error_mentions"]:
            assert word in error.message
    else:
        assert "args" in case["expect"], checked
        assert same(checked.arguments, case["expect"]["args"])
    assert time.perf_counter() - begun < case.get("limit_seconds", 5)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["id"])
def test_a_schema_that_cannot_be_used_is_reported_when_it_is_loaded(case: dict[str, Any]) -> None:
    assert problems(case["tool_schema"])


def test_integers_that_were_sent_as_decimal_text_arrive_as_integers() -> None:
    """(C04)"""
    checked = arguments.check(tool_of({"properties": {"n": {"type": "integer"}}}), arguments.parse('{"n": "140.0"}'))
    assert repr(checked.arguments["n"]) == "140"
