"""Real MCP servers over stdio, well-behaved and otherwise: what one does costs only its own tools."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from mm.messages import Outcome
from mm.tools.mcp_servers import Servers
from mm.tools.mcp_tools import McpTool
from mm.tools.spec import Run
from tests.mcp_servers.running import call, is_alive, raw, started, stdio, text, tools, until_changed

_ECHO = ("echo", "fail", "slow", "grow", "structured", "picture", "nothing")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Servers, Path]]:
    """One server for all that leaves it as it was; the file has each message that it got."""
    log = tmp_path_factory.mktemp("mcp") / "log"
    named = {name: {} for name in ("say", "chatter", "ask", "environment")}
    plan = raw(tools=named, log=str(log), banner=["Starting...", '{"a": 1}', "", "[]"])
    with started(stdio("raw", plan, env={"OWN": "value"}), SEEN="yes") as servers:
        yield servers, log


def test_a_call_reaches_the_server_and_its_answer_comes_back(quick: tuple[Servers, Path]) -> None:
    output = call(quick[0], "mcp__raw__say", {"number": 9007199254740993, "text": "ä\u2028\n"})
    assert output.outcome is Outcome.OK
    assert text(output) == 'say: {"number": 9007199254740993, "text": "\\u00e4\\u2028\\n"}'


def test_an_empty_object_of_arguments_is_sent(quick: tuple[Servers, Path]) -> None:
    """(C96)"""
    call(quick[0], "mcp__raw__say")
    assert '"arguments":{}' in quick[1].read_text().splitlines()[-1].replace(" ", "")


def test_what_is_printed_beside_the_messages_is_skipped_and_told_once(quick: tuple[Servers, Path]) -> None:
    """(C88) A banner, JSON that is no message, blank lines, a line of 5 MB."""
    output = call(quick[0], "mcp__raw__chatter")
    assert text(output) == "chatter: {}"
    assert call(quick[0], "mcp__raw__say", {"n": 1}).outcome is Outcome.OK
    warnings = quick[0].warnings()
    assert len(warnings) == 1 and "Starting..." in warnings[0]


def test_requests_of_the_server_are_refused_politely(quick: tuple[Servers, Path]) -> None:
    answer = text(call(quick[0], "mcp__raw__ask"))
    assert answer.count('"error"') == 2 and '"s1"' in answer and '"s2"' in answer


def test_a_server_sees_the_environment_that_it_may_see_and_its_own(quick: tuple[Servers, Path]) -> None:
    seen = text(call(quick[0], "mcp__raw__environment"))
    assert '"SEEN": "yes"' in seen and '"OWN": "value"' in seen
    assert "MM_HOME" not in seen, "only what it was given"


def test_servers_that_do_not_start_are_named_and_cost_the_others_nothing() -> None:
    """(C90)"""
    broken = {
        "mute": (("sleep", "1000"), "did not answer within 0.5 s"),
        "missing": (("/nope/server",), "`/nope/server` is not there"),
        "unknown": (("no-such-program-here",), "`no-such-program-here` is not installed"),
        "exits": (raw(exit=3, stderr="set TICKETS_KEY first\n"), "exit code 3"),
        "refuses": (raw(errors={"initialize": {"code": -32000, "message": "no licence"}}), "no licence"),
        "old": (raw(version="1999-01-01"), "1999-01-01"),
        "lists-nonsense": (raw(listing={"tools": "all of them"}), "no list"),
        "listless": (raw(errors={"tools/list": {"code": -32603, "message": "lost it"}}), "lost it"),
    }
    configs = [
        stdio(name, command, start_timeout=0.5 if name == "mute" else 30.0) for name, (command, _) in broken.items()
    ]
    with started(*configs, stdio("good", raw())) as servers:
        assert list(tools(servers)) == ["mcp__good__say"]
        warnings = servers.warnings()
        for name, (_, words) in broken.items():
            told = [warning for warning in warnings if f"`{name}` is left out" in warning]
            assert len(told) == 1 and words in told[0], (name, warnings)
        assert any("set TICKETS_KEY first" in warning for warning in warnings), "what it wrote to stderr is shown"
        assert call(servers, "mcp__good__say").outcome is Outcome.OK


def test_a_server_that_is_killed_in_mid_call_is_started_again_once(tmp_path: Path) -> None:
    with started(stdio("raw", raw(tools={"die": {}, "say": {}}))) as servers:
        output = call(servers, "mcp__raw__die")
        assert output.outcome is Outcome.KILLED
        assert "signal 9" in text(output) and "about to die" in text(output)
        assert "unknown" in text(output), "what it did by then"
        assert call(servers, "mcp__raw__say").outcome is Outcome.OK, "started again with the next call"
        assert call(servers, "mcp__raw__die").outcome is Outcome.KILLED
        assert call(servers, "mcp__raw__die").outcome is Outcome.KILLED, "started again, as a call had succeeded"
        down = call(servers, "mcp__raw__say")
        assert down.outcome is Outcome.FAILED
        assert "down" in text(down) and "about to die" in text(down), "it ended twice without a success between"


def test_a_call_that_takes_too_long_is_given_up_and_the_server_goes_on(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with started(stdio("raw", raw(tools={"hang": {}}, fifo=str(fifo)), timeout=0.3)) as servers:
        output = call(servers, "mcp__raw__hang")
        assert output.outcome is Outcome.TIMED_OUT
        assert "0.3 s" in output.note


def test_an_interrupt_ends_the_waiting_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    stop = threading.Event()

    def interrupt() -> None:
        fifo.read_text()
        stop.set()

    with started(stdio("raw", raw(tools={"hang": {}}, fifo=str(fifo)))) as servers:
        threading.Thread(target=interrupt, daemon=True).start()
        output = call(servers, "mcp__raw__hang", stop=stop)
        assert output.outcome is Outcome.INTERRUPTED


def test_all_that_a_server_started_ends_with_it(tmp_path: Path) -> None:
    """(C95) The shell between mm and the server, and a child that the server left running."""
    shell = ("sh", "-c", '"$0" "$@"; true', *raw(child=str(tmp_path / "pids")))
    with started(stdio("raw", shell)) as servers:
        assert call(servers, "mcp__raw__say").outcome is Outcome.OK
        server, child = map(int, (tmp_path / "pids").read_text().split())
        assert is_alive(child)
    assert not is_alive(server) and not is_alive(child)


def test_a_server_that_ignores_all_requests_to_end_is_killed(tmp_path: Path) -> None:
    stubborn = f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 100; done"
    with started(stdio("stubborn", ("sh", "-c", stubborn), start_timeout=0.5)):
        pid = int((tmp_path / "pid").read_text())
    assert not is_alive(pid)


def test_a_ctrl_c_in_the_terminal_does_not_reach_a_server(tmp_path: Path) -> None:
    """It runs in a session of its own; mm itself ends it."""
    with started(stdio("raw", raw(child=str(tmp_path / "pids")))):
        server, child = map(int, (tmp_path / "pids").read_text().split())
        assert os.getsid(server) == os.getsid(child) == server


def test_a_changed_list_of_tools_is_taken_over_and_what_stays_the_same_stays() -> None:
    echo = (sys.executable, str(Path(__file__).parents[1] / "mcp_servers" / "echo.py"))
    with started(stdio("echo", echo, start_timeout=60)) as servers:
        before, revision = tools(servers), servers.revision
        assert list(before) == [f"mcp__echo__{name}" for name in _ECHO], "all pages, in the server's order"
        assert call(servers, "mcp__echo__grow", {"called": "new"}).outcome is Outcome.OK
        until_changed(servers, revision, "mcp__echo__echo")
        after = tools(servers)
        assert list(after) == [*before, "mcp__echo__new"]
        assert all(after[name] is tool for name, tool in before.items())


def test_a_tool_that_changed_after_it_was_approved_does_not_run(tmp_path: Path) -> None:
    plan = raw(tools={"change": {}, "say": {}}, changed=str(tmp_path / "changed"), log=str(tmp_path / "log"))
    with started(stdio("raw", plan)) as servers:
        approved, revision = tools(servers)["mcp__raw__change"], servers.revision
        assert call(servers, "mcp__raw__change").outcome is Outcome.OK
        until_changed(servers, revision, "mcp__raw__say")
        assert tools(servers)["mcp__raw__change"].spec != approved.spec
        calls = (tmp_path / "log").read_text().count("tools/call")
        assert isinstance(approved.spec, McpTool)
        output = servers.call(approved.spec, {}, Run(threading.Event(), tmp_path))
        assert output.outcome is Outcome.FAILED and "changed" in text(output) and "nothing ran" in text(output)
        assert (tmp_path / "log").read_text().count("tools/call") == calls


def test_an_sdk_that_fails_in_the_middle_costs_that_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of another version would: what it raises is no error that it knows of."""
    ask = JSONRPCDispatcher.send_raw_request

    async def asked(self: Any, method: str, *rest: Any, **named: Any) -> Any:
        if method == "tools/list":
            raise AttributeError("no such method")
        return await ask(self, method, *rest, **named)

    monkeypatch.setattr(JSONRPCDispatcher, "send_raw_request", asked)
    with started(stdio("raw", raw())) as servers:
        assert tools(servers) == {}
        assert servers.warnings() == ["The MCP server `raw` is left out: it failed: no such method."]
