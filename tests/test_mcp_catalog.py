"""The MCP servers of an agent file as a run sees them: names that clash, rules, changes, what a person allowed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mm.app.servers import LazyServers
from mm.config.schema import Config, Hook, HookEvent, McpServer, Permissions
from mm.dispatch.person import Answer, Decision
from mm.interrupt import Interrupt
from mm.messages import Outcome
from mm.schemas.schema import Schema
from mm.tools.catalog import Catalog
from mm.tools.spec import Kind, Tool
from tests.journey import Asked, Journey
from tests.mcp_servers.running import PLACE, raw, started, stdio, tools, until_changed


@contextmanager
def run_of(*configs: McpServer, rules: tuple[str, ...] = (), **config: Any) -> Iterator[tuple[LazyServers, list[str]]]:
    """The servers of a run that has begun, and what the user is told."""
    told: list[str] = []
    servers = LazyServers(
        Config(file=None, folder=Path.cwd(), mcp_servers=configs, **config),
        Path.cwd(),
        environment=lambda: {"PATH": os.environ["PATH"]},
        interrupt=Interrupt(),
        warn=told.append,
        rules=rules,
    )
    servers.start()
    try:
        yield servers, told
    finally:
        servers.close()


def declared(name: str) -> Tool:
    return Tool(name=name, kind=Kind.COMMAND, description="Declared.", schema=Schema({}), spec=None)


def test_a_declared_tool_wins_over_one_of_a_server_and_that_is_told() -> None:
    with run_of(stdio("raw", raw(tools={"say": {}, "ask": {}}))) as (servers, told):
        catalog = Catalog([declared("mcp__raw__say")], [])
        servers.refresh(catalog)
        assert [(tool.name, tool.kind) for tool in catalog.tools()] == [
            ("mcp__raw__say", Kind.COMMAND),
            ("mcp__raw__ask", Kind.MCP),
        ]
        assert len(told) == 1 and "`mcp__raw__say`" in told[0] and "`raw`" in told[0]
        servers.refresh(catalog)
        assert len(told) == 1, "told once"


def test_of_two_servers_with_one_name_for_a_tool_the_first_wins_and_that_is_told() -> None:
    one, other = stdio("a", raw(tools={"b__c": {}})), stdio("a__b", raw(tools={"c": {}, "d": {}}))
    with run_of(one, other) as (servers, told):
        catalog = Catalog([], [])
        servers.refresh(catalog)
        assert [(tool.name, tool.place) for tool in catalog.tools()] == [
            ("mcp__a__b__c", "a"),
            ("mcp__a__b__d", "a__b"),
        ]
        assert len(told) == 1 and "`a__b`" in told[0]


def test_a_rule_or_hook_for_a_tool_that_no_server_has_is_told() -> None:
    hook = Hook(HookEvent.BEFORE, "mcp__raw__(reed|sey)", ("true",), PLACE)
    good = Hook(HookEvent.BEFORE, "mcp__raw__.*", ("true",), PLACE)
    permissions = Permissions(deny=frozenset({"mcp__raw__sai"}))
    rules = ("mcp__raw__sai", "mcp__raw__say", "bash")
    with run_of(stdio("raw", raw()), rules=rules, permissions=permissions, hooks=(hook, good)) as (servers, told):
        servers.refresh(Catalog([], []))
        assert len(told) == 2
        assert "`mcp__raw__sai`" in told[0] and "`matcher: mcp__raw__(reed|sey)`" in told[1]


def test_rules_for_a_server_that_did_not_start_are_not_called_wrong() -> None:
    with run_of(stdio("raw", ("/nope",)), rules=("mcp__raw__say",)) as (servers, told):
        servers.refresh(Catalog([], []))
        assert len(told) == 1 and "is left out" in told[0]


def test_a_disabled_server_is_listed_and_never_started(tmp_path: Path) -> None:
    off = stdio("off", ("touch", str(tmp_path / "started")), disabled=True)
    with run_of(off, stdio("raw", raw()), stdio("bad", ("/nope",))) as (servers, _):
        servers.refresh(Catalog([], []))
        lines = {line.name: line for line in servers.lines()}
    assert (lines["off"].state, lines["off"].ok) == ("disabled", True)
    assert (lines["raw"].state, lines["raw"].ok) == ("ready", True)
    assert lines["raw"].tools == (("mcp__raw__say", "Does say."),)
    assert lines["bad"].state.startswith("failed: ") and not lines["bad"].ok
    assert not (tmp_path / "started").exists()


def test_an_always_is_asked_about_again_when_the_server_changes_the_tool(tmp_path: Path) -> None:
    person = Asked([Answer(Decision.ALWAYS_SESSION)])
    plan = raw(tools={"change": {}, "say": {}}, changed=str(tmp_path / "changed"))
    with started(stdio("raw", plan)) as servers:
        trip = Journey(tmp_path, [*tools(servers).values()], yolo=False, person=person, servers=servers)
        revision = servers.revision
        assert trip.one("mcp__raw__say", {"n": 1}).outcome is Outcome.OK
        assert trip.one("mcp__raw__say", {"n": 2}).outcome is Outcome.OK
        assert len(person.requests) == 1
        shown = "\n".join(entry for part in person.requests[0].plan.shown for entry in part.entries)
        assert "raw.py" in shown and "say" in shown and "n = 1" in shown
        trip.one("mcp__raw__change", {})
        until_changed(servers, revision, "mcp__raw__say")
        trip.tools[:] = tools(servers).values()
        assert trip.one("mcp__raw__say", {"n": 3}).outcome is Outcome.OK
        assert [request.tool.name for request in person.requests][-1] == "mcp__raw__say"
        assert len(person.requests) == 3


def test_a_timeout_is_not_run_again(tmp_path: Path) -> None:
    """What a call did before it was given up is unknown, so the same call is not made a second time by itself."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with started(stdio("raw", raw(tools={"hang": {}}, fifo=str(fifo)), timeout=0.2)) as servers:
        trip = Journey(tmp_path, [*tools(servers).values()], servers=servers)
        assert trip.one("mcp__raw__hang", {}).outcome is Outcome.TIMED_OUT
        again = trip.one("mcp__raw__hang", {})
        assert not again.outcome.ran and "may have had an effect" in again.content
        assert len(trip.book.started) == 1
