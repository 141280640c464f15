"""Real MCP servers over streamable HTTP, in every form that their answers take."""

from __future__ import annotations

import threading

import pytest

from mm.messages import Outcome
from mm.tools.spec import Output
from tests.mcp_servers.loopback import serving
from tests.mcp_servers.running import call, http, started, text, tools


@pytest.mark.parametrize("form", ["json", "sse", "sse-open"])
def test_answers_are_read_as_json_and_as_a_stream_that_may_stay_open(form: str) -> None:
    """(C94)"""
    with serving(form=form) as server, started(http("web", server.url)) as servers:
        output = call(servers, "mcp__web__say", {"a": 1})
        assert output.outcome is Outcome.OK and text(output) == '{"a": 1}'


@pytest.mark.parametrize("status", [404, 400])
def test_a_forgotten_session_is_begun_again_and_the_call_made_once_more(status: int) -> None:
    """(C94) As after a restart of the server."""
    with serving(unknown_status=status) as server, started(http("web", server.url)) as servers:
        server.sessions.clear()
        output = call(servers, "mcp__web__say", {"a": 1})
        assert output.outcome is Outcome.OK and text(output) == '{"a": 1}'
        assert server.methods().count("initialize") == 2
        assert server.methods().count("tools/call") == 2, "the first one was not taken"
        server.sessions.clear()
        assert call(servers, "mcp__web__say").outcome is Outcome.OK, "and again the next time"


def test_a_server_that_forgets_every_session_is_not_asked_for_ever() -> None:
    with serving() as server, started(http("web", server.url)) as servers:
        server.sessions = _Forgetful()
        output = call(servers, "mcp__web__say")
        assert output.outcome is Outcome.FAILED
        assert server.methods().count("tools/call") <= 2


def test_a_call_that_is_under_way_when_another_finds_the_session_forgotten_is_not_sent_again() -> None:
    """Nobody knows what it did by then: only the call that the server refused for that reason did nothing."""
    with serving() as server, started(http("web", server.url)) as servers:
        server.break_call = "held"
        outputs: list[Output] = []
        under_way = threading.Thread(target=lambda: outputs.append(call(servers, "mcp__web__say", {"held": 1})))
        under_way.start()
        assert server.held.wait(30)
        server.break_call = ""
        server.sessions.clear()
        assert call(servers, "mcp__web__say", {"a": 1}).outcome is Outcome.OK
        server.released.set()
        under_way.join(30)
        sent = [request["params"]["arguments"] for request in server.requests if request["method"] == "tools/call"]
        assert sent == [{"held": 1}, {"a": 1}, {"a": 1}]
        assert outputs[0].outcome is Outcome.KILLED and "unknown" in text(outputs[0])


def test_a_refusal_that_names_a_parameter_is_not_taken_for_a_forgotten_session() -> None:
    with serving() as server, started(http("web", server.url)) as servers:
        server.break_call = "parameter"
        output = call(servers, "mcp__web__say")
        assert output.outcome is Outcome.FAILED and "HTTP 400 Bad Request" in text(output)
        assert server.methods().count("initialize") == 1
        assert server.methods().count("tools/call") == 1


class _Forgetful(set[str]):
    """Knows a session until its tools were listed."""

    def __contains__(self, name: object) -> bool:
        return False


@pytest.mark.parametrize(
    "kind, outcome, words",
    [
        ("error", Outcome.FAILED, "no such city"),
        ("accepted", Outcome.FAILED, "202"),
        ("no-json", Outcome.FAILED, "JSON"),
        ("html", Outcome.FAILED, "text/html"),
        ("cut", Outcome.KILLED, "unknown"),
    ],
)
def test_a_call_that_is_answered_wrongly_is_told_and_the_server_goes_on(
    kind: str, outcome: Outcome, words: str
) -> None:
    with serving() as server, started(http("web", server.url, timeout=10.0)) as servers:
        server.break_call = kind
        output = call(servers, "mcp__web__say")
        assert output.outcome is outcome and words in text(output)
        server.break_call = ""
        assert call(servers, "mcp__web__say").outcome is Outcome.OK


def test_headers_of_the_agent_file_go_with_every_request() -> None:
    with serving() as server, started(http("web", server.url, headers={"Authorization": "Bearer x"})) as servers:
        call(servers, "mcp__web__say")
        assert all(headers["authorization"] == "Bearer x" for headers in server.headers)
        assert server.headers[-1]["mcp-protocol-version"] == "2025-06-18"


def test_a_server_that_refuses_is_named_with_what_it_said() -> None:
    with serving(refuse=401) as server, started(http("web", server.url)) as servers:
        assert tools(servers) == {}
        assert "HTTP 401 Unauthorized" in servers.warnings()[0]


def test_an_address_where_nobody_is_is_named() -> None:
    with serving() as server:
        url = server.url
    with started(http("web", url)) as servers:
        assert "cannot be reached" in servers.warnings()[0]


def test_a_request_that_is_refused_is_told_with_its_status() -> None:
    with serving() as server, started(http("web", server.url)) as servers:
        server.refuse = 503
        output = call(servers, "mcp__web__say")
        assert output.outcome is Outcome.FAILED and "HTTP 503 Service Unavailable" in text(output)
        server.refuse = 0
        assert call(servers, "mcp__web__say").outcome is Outcome.OK


def test_a_server_that_has_gone_costs_its_own_calls_until_it_is_back() -> None:
    with serving() as server, started(http("web", server.url), http("other", server.url)) as servers:
        server.stop()
        gone = call(servers, "mcp__web__say")
        assert gone.outcome is not Outcome.OK and "cannot be reached" in text(gone)
        with serving(port=server.port):
            assert call(servers, "mcp__web__say").outcome is Outcome.OK
            assert call(servers, "mcp__other__say").outcome is Outcome.OK
