"""Schemas as pydantic and zod make them: what the model sends reaches a real server with the types that it declares."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mm.messages import Outcome
from mm.models.offers import offer
from mm.tools.mcp_servers import Servers
from tests.journey import Journey
from tests.mcp_servers.running import HERE, raw, started, stdio, tools

COUNT = {"Count": {"type": "integer"}, "Flag": {"type": "boolean"}}


def closed(properties: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **rest}


SCHEMAS: dict[str, Any] = {
    "count": closed({"count": {"$ref": "#/$defs/Count"}}, **{"$defs": COUNT}),
    "verbose": closed({"verbose": {"$ref": "#/$defs/Flag", "description": "Say more."}}, **{"$defs": COUNT}),
    "filters": closed(
        {"filters": {"$ref": "#/$defs/Filters"}},
        **{"$defs": {"Filters": closed({"labels": {"type": "array", "items": {"type": "string"}}})}},
    ),
    "offset": closed(
        {
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "offset": {"$ref": "#/properties/limit/anyOf/0"},
        }
    ),
    "person": closed(
        {"person": {"$ref": "#/$defs/Person"}},
        **{"$defs": {"Person": closed({"first name": {"type": "string"}}, required=["first name"])}},
    ),
    "old_name": closed({"count": {"$ref": "#/definitions/Count"}}, definitions=COUNT),
    "union": closed({"filters": {"anyOf": [closed({"a": {"type": "integer"}}), {"type": "null"}]}}),
    "chosen": closed({"a": {"type": "integer"}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "remote": closed({"x": {"$ref": "https://example.com/a.json"}}),
    "anchor": closed({"x": {"$ref": "#Address"}}, **{"$defs": {"A": {"$anchor": "Address", "type": "integer"}}}),
    "escape": closed({"x": {"$ref": "#/$defs/a~2b"}}, **{"$defs": {"a~2b": {"type": "integer"}}}),
    "dangling": closed({"x": {"$ref": "#/$defs/Missing"}}),
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    typed = (sys.executable, str(HERE / "typed.py"))
    configs = (stdio("raw", raw(tools=SCHEMAS)), stdio("typed", typed, start_timeout=60.0))
    with started(*configs, stdio("broken", raw(tools={"bad": "object", "good": {}}))) as servers:
        yield servers


def received(folder: Path, servers: Servers, name: str, given: Any) -> Any:
    """What the server says that it received of a model's call."""
    trip = Journey(folder, list(tools(servers).values()), servers=servers)
    result = trip.one(name, given)
    assert result.outcome is Outcome.OK, result.content
    return json.loads(result.answer.partition(": ")[2] if "__raw__" in name else result.answer)


@pytest.mark.parametrize(
    "tool, sent, wanted",
    [
        ("count", {"count": "5"}, {"count": 5}),
        ("verbose", {"verbose": "true"}, {"verbose": True}),
        ("filters", {"filters": '{"labels": "[\\"a\\", \\"b\\"]"}'}, {"filters": {"labels": ["a", "b"]}}),
        ("offset", {"offset": "7"}, {"offset": 7}),
        ("person", {"person": {"first_name": "Ada"}}, {"person": {"first name": "Ada"}}),
    ],
)
def test_a_type_behind_a_reference_is_known(
    tmp_path: Path, servers: Servers, tool: str, sent: Any, wanted: Any
) -> None:
    """(C27, C29)"""
    assert received(tmp_path, servers, f"mcp__raw__{tool}", sent) == wanted


@pytest.mark.parametrize("tool", ["remote", "anchor", "escape", "dangling"])
def test_what_no_reference_leads_to_is_passed_on_as_it_was_sent(tmp_path: Path, servers: Servers, tool: str) -> None:
    """(C28) Nothing is fetched, and the position accepts anything."""
    for value in ("5", 5, None, {"a": "1"}):
        assert received(tmp_path, servers, f"mcp__raw__{tool}", {"x": value}) == {"x": value}


def test_a_position_that_accepts_anything_is_told_when_the_server_starts() -> None:
    with started(stdio("raw", raw(tools=SCHEMAS))) as servers:
        told = servers.warnings()
    assert sorted(warning.split("`")[1] for warning in told) == [
        f"mcp__raw__{name}" for name in ("anchor", "dangling", "escape", "remote")
    ]


def test_a_union_without_a_type_of_its_own_is_read_too(tmp_path: Path, servers: Servers) -> None:
    assert received(tmp_path, servers, "mcp__raw__union", {"filters": '{"a": "1"}'}) == {"filters": {"a": 1}}
    assert received(tmp_path, servers, "mcp__raw__union", {"filters": "null"}) == {"filters": None}


def test_old_definitions_are_followed_too(tmp_path: Path, servers: Servers) -> None:
    assert received(tmp_path, servers, "mcp__raw__old_name", {"count": "5"}) == {"count": 5}


def test_a_rule_at_the_top_is_held_though_it_is_not_sent(tmp_path: Path, servers: Servers) -> None:
    """(C33)"""
    tool = tools(servers)["mcp__raw__chosen"]
    assert "anyOf" not in offer(tool.name, tool.description, tool.schema).parameters
    trip = Journey(tmp_path, [tool], servers=servers)
    assert trip.one(tool.name, {}).outcome is Outcome.INVALID
    assert trip.one(tool.name, {"a": "1"}).outcome is Outcome.OK


def test_a_server_written_with_pydantic_gets_what_it_declares(tmp_path: Path, servers: Servers) -> None:
    sent = {
        "count": "5",
        "verbose": "true",
        "filters": '{"labels": "[\\"a\\"]", "inner": {"labels": "b"}}',
        "person": {"first_name": "Ada"},
    }
    assert received(tmp_path, servers, "mcp__typed__search", sent) == {
        "count": 5,
        "verbose": True,
        "filters": {"labels": ["a"], "inner": {"labels": ["b"]}},
        "person": {"first name": "Ada"},
    }


def test_a_wrong_call_is_answered_by_mm_and_never_reaches_the_server(tmp_path: Path, servers: Servers) -> None:
    trip = Journey(tmp_path, list(tools(servers).values()), servers=servers)
    result = trip.one("mcp__typed__search", {"count": "five"})
    assert result.outcome is Outcome.INVALID
    assert "count" in result.content and "five" in result.content and "integer" in result.content
    assert trip.book.started == []


def test_one_schema_that_is_no_schema_costs_one_tool(servers: Servers) -> None:
    """(C32)"""
    assert "mcp__broken__good" in tools(servers) and "mcp__broken__bad" not in tools(servers)


def test_a_published_server_that_nobody_here_wrote_is_called(tmp_path: Path) -> None:
    pytest.importorskip("mcp_server_time", reason="the package mcp-server-time is not installed")
    program = (sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC")
    with started(stdio("time", program, start_timeout=60.0)) as servers:
        assert set(tools(servers)) == {"mcp__time__get_current_time", "mcp__time__convert_time"}
        trip = Journey(tmp_path, list(tools(servers).values()), servers=servers)
        good = trip.one(
            "mcp__time__convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "UTC"}
        )
        assert good.outcome is Outcome.OK and "12:00" in good.content
        assert trip.one("mcp__time__get_current_time", {"zone": "UTC"}).outcome is Outcome.INVALID
        failed = trip.one("mcp__time__get_current_time", {"timezone": "Moon/Base"})
        assert failed.outcome is Outcome.FAILED and "Moon/Base" in failed.content
