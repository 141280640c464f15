"""Asking a model over HTTP, from a server that behaves and from servers that do not."""

import email.utils
import json
import socket
import threading
import time

import pytest

from mm.config.schema import ModelConfig
from mm.errors import MMError, ModelError
from mm.interrupt import Interrupted
from mm.messages import Message, Reply, Role, ToolOffer
from mm.models.exchange import Timeouts
from mm.models.openai import OpenAIModel
from tests.models.loopback import Loopback, data, die, piece, reply, say, serving, stream

KEY = "sk-very-secret-0123456789"
PROMPT = [Message(Role.USER, "hi")]


class Asking:
    """One model, and what it told while it was asked."""

    def __init__(self, url: str, *, provider="openai", delays=(0.0, 0.0), timeouts=None, **config) -> None:
        self.model = OpenAIModel(
            ModelConfig(provider, "m", base_url=url, **config), delays=delays, timeouts=timeouts or Timeouts()
        )
        self.shown: list[str] = []
        self.notices: list[str] = []
        self.sent = 0
        self.stop = threading.Event()

    def ask(self, messages=PROMPT, offers=(), on_delta=None, on_sent=None, on_notice=None) -> Reply:
        return self.model.ask(
            messages,
            offers,
            on_delta=on_delta or (lambda delta: self.shown.append(delta.text)),
            on_notice=on_notice or self.notices.append,
            on_sent=on_sent or self._sent,
            stop=self.stop,
        )

    def fail(self, **more) -> ModelError:
        with pytest.raises(ModelError) as caught:
            self.ask(**more)
        assert KEY not in str(caught.value)
        return caught.value

    def _sent(self) -> None:
        self.sent += 1


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_a_reply_is_streamed_and_returned_whole(server: Loopback):
    server.answers = [stream(piece("Hel"), piece("lo"), b"data: [DONE]\n\n")]
    asking = Asking(server.url, api_key=KEY, temperature=0.5, max_tokens=9, headers={"X-Team": "ops"})
    assert asking.ask(offers=[ToolOffer("f", "Do it.", {"type": "object"})]).text == "Hello"
    assert (asking.shown, asking.sent) == (["Hel", "lo"], 1)
    seen = server.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["x-team"] == "ops"
    assert seen.body["stream_options"] == {"include_usage": True}
    assert (seen.body["temperature"], seen.body["max_tokens"], len(seen.body["tools"])) == (0.5, 9, 1)


def test_a_completion_that_is_not_streamed_is_accepted(server: Loopback):
    message = {"role": "assistant", "content": "whole"}
    server.answers = [reply(body={"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})]
    assert Asking(server.url).ask().text == "whole"


def test_the_request_is_reported_as_sent_before_any_answer(server: Loopback):
    def answer(handler):
        assert server.released.wait(10)
        say("late")(handler)

    server.answers = [answer]
    assert Asking(server.url).ask(on_sent=server.released.set).text == "late"


def test_a_url_that_names_the_endpoint_itself_is_understood(server: Loopback):
    server.answers = [say("x")]
    Asking(server.url + "/chat/completions/").ask()
    assert server.seen[0].path == "/v1/chat/completions"


def test_loopback_is_never_asked_through_a_proxy(server: Loopback, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port()}")
    server.answers = [say("direct")]
    assert Asking(server.url).ask().text == "direct"


def test_a_server_that_keeps_the_connection_open_after_done_does_not_hold_the_reply(server: Loopback):
    server.answers = [stream(piece("x"), b"data: [DONE]\n\n", then=server.hang)]
    assert Asking(server.url).ask().text == "x"
    assert server.hung_up.wait(10)


def test_stream_options_are_dropped_for_a_server_that_refuses_them(server: Loopback):
    server.answers = [reply(400, {"error": {"message": "Unknown field stream_options"}}), say("a"), say("b")]
    asking = Asking(server.url)
    assert [asking.ask().text, asking.ask().text] == ["a", "b"]
    assert [("stream_options" in seen.body) for seen in server.seen] == [True, False, False]


# --- trying again


@pytest.mark.parametrize(
    "trouble",
    [reply(429, "slow down"), reply(503, "loading"), reply(500), die, stream(then=die), reply(529, {"error": "busy"})],
)
def test_trouble_that_may_pass_is_tried_again_and_told(server: Loopback, trouble):
    server.answers = [trouble, say("ok")]
    asking = Asking(server.url)
    assert asking.ask().text == "ok"
    assert len(asking.notices) == 1
    assert "Trying again" in asking.notices[0]


def test_an_error_that_passes_inside_a_stream_is_tried_again_before_text_was_shown(server: Loopback):
    server.answers = [stream(data({"error": {"message": "overloaded", "code": 502}})), say("ok")]
    assert Asking(server.url).ask().text == "ok"


def test_nothing_is_tried_again_once_text_was_shown(server: Loopback):
    server.answers = [stream(piece("half"), then=die), say("never")]
    asking = Asking(server.url)
    assert asking.fail().partial == "half"
    assert len(server.seen) == 1


def test_trying_again_ends(server: Loopback):
    server.answers = [reply(503, {"error": {"message": "Loading model"}})]
    assert "Loading model" in Asking(server.url).fail().message
    assert len(server.seen) == 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed(server: Loopback, form):
    after = "0" if form == "seconds" else email.utils.formatdate(time.time() - 5, usegmt=True)
    server.answers = [reply(429, retry_after=after), say("ok")]
    asking = Asking(server.url, delays=(50.0,))
    assert asking.ask().text == "ok"
    assert "in 0 s" in asking.notices[0]


def test_a_long_retry_after_is_told_instead_of_waited_for(server: Loopback):
    server.answers = [reply(429, {"error": {"message": "come back tomorrow"}}, retry_after="86400")]
    assert "come back tomorrow" in Asking(server.url).fail().message


def test_an_exhausted_account_is_not_tried_again(server: Loopback):
    server.answers = [reply(429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})]
    assert "billing" in Asking(server.url).fail().hint
    assert len(server.seen) == 1


def test_a_kept_connection_that_the_server_closed_is_replaced_silently(server: Loopback, monkeypatch):
    monkeypatch.setattr("mm.models.openai.LOOPBACK", frozenset())
    server.answers = [say("a"), die, say("b")]
    asking = Asking(server.url, delays=())
    assert [asking.ask().text, asking.ask().text] == ["a", "b"]
    assert asking.notices == []
    asking.model.close()


# --- errors that the user can mend


@pytest.mark.parametrize(
    ("answer", "provider", "words"),
    [
        (reply(401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "openai", ["401", "Check the key"]),
        (reply(403, "no"), "openai", ["403"]),
        (reply(404, {"error": {"message": "model 'm' not found"}}), "ollama", ["not found", "ollama pull m"]),
        (reply(404, "<html>"), "openai", ["does not know `m`", "name of the model"]),
        (reply(400, {"error": {"message": "bad tools"}}), "openai", ["bad tools", "agent file"]),
        (reply(400, {"error": {"message": "request exceeds the available context size"}}), "llamacpp", ["/compact"]),
        (reply(422, {"detail": [{"msg": "field required"}]}), "openai", ["field required"]),
        (reply(302, location="https://login.example"), "openai", ["redirects to https://login.example"]),
        (reply(200, "<html>Sign in</html>", content_type="text/html"), "openai", ["web page"]),
        (reply(200, {"error": "out of memory"}), "ollama", ["out of memory"]),
    ],
)
def test_a_refusal_names_its_cause_and_what_to_try(server: Loopback, answer, provider, words):
    server.answers = [answer]
    text = str(Asking(server.url, provider=provider, api_key=KEY).fail())
    assert [word for word in words if word not in text] == []


def test_without_a_key_the_refusal_says_that_none_was_sent(server: Loopback):
    server.answers = [reply(401)]
    assert "No key was sent" in Asking(server.url).fail().hint


@pytest.mark.parametrize(
    ("provider", "words"), [("ollama", "ollama serve"), ("llamacpp", "llama-server"), ("lmstudio", "lms server start")]
)
def test_a_server_that_does_not_run_is_told_with_how_to_start_it(provider, words):
    error = Asking(f"http://127.0.0.1:{unused_port()}/v1", provider=provider).fail()
    assert words in error.hint
    assert error.message.endswith("cannot be reached: Connection refused.")


def test_a_host_that_does_not_exist_is_told():
    assert "cannot be reached" in Asking("http://no-such-host.invalid/v1", delays=()).fail().message


def test_plain_http_behind_https_is_told_as_a_failed_secure_connection(server: Loopback):
    server.answers = [say("x")]
    assert "secure connection" in Asking(server.url.replace("http:", "https:")).fail().message


def test_a_proxy_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    error = Asking("http://model.example/v1", delays=()).fail()
    assert "proxy" in error.hint


@pytest.mark.parametrize("url", ["http://[::bad/v1", "not a url", "ftp://x/v1"])
def test_a_wrong_base_url_is_told(url):
    with pytest.raises(MMError) as caught:
        Asking(url).ask()
    assert "base_url" in str(caught.value)


def test_a_key_with_a_line_end_inside_is_refused_without_showing_it():
    with pytest.raises(MMError) as caught:
        Asking("http://127.0.0.1:1/v1", api_key=f"{KEY}\nX-Evil: 1")
    assert KEY not in str(caught.value)
    assert "api_key" in str(caught.value)


def test_the_key_is_not_in_the_repr():
    assert KEY not in repr(Asking("http://127.0.0.1:1/v1", api_key=KEY).model)


def test_a_key_that_a_server_echoes_inside_its_stream_is_not_shown(server: Loopback):
    server.answers = [stream(data({"error": {"message": f"bad key {KEY}"}}))]
    assert "bad key …" in Asking(server.url, api_key=KEY).fail().message


# --- silence and interruption


def test_no_answer_within_the_time_limit_is_told(server: Loopback):
    server.answers = [server.hang]
    error = Asking(server.url, timeouts=Timeouts(first=0.1)).fail()
    assert "silent for 0.1 s to begin its answer" in error.message
    assert server.hung_up.wait(10)


def test_a_role_and_comments_are_not_yet_the_first_token(server: Loopback):
    """A server may send them at once, and then read a long prompt for minutes."""
    role = data({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "", "tool_calls": []}}]})
    server.answers = [stream(b": waiting\n\n", role, b": waiting\n\n", then=server.hang)]
    error = Asking(server.url, timeouts=Timeouts(first=0.3, silence=0.1)).fail()
    assert "silent for 0.3 s to begin its answer" in error.message


@pytest.mark.parametrize(
    "delta", [{"content": "<"}, {"reasoning_content": "h"}, {"tool_calls": [{"index": 0, "function": {"name": "f"}}]}]
)
def test_after_the_first_token_of_any_kind_only_silence_is_waited_for(server: Loopback, delta):
    server.answers = [stream(data({"choices": [{"index": 0, "delta": delta}]}), then=server.hang)]
    error = Asking(server.url, timeouts=Timeouts(first=60, silence=0.1)).fail()
    assert "silent for 0.1 s in the middle of its answer" in error.message


def test_silence_in_the_middle_is_told_and_keeps_the_text_as_partial(server: Loopback):
    server.answers = [stream(piece("half"), then=server.hang)]
    error = Asking(server.url, timeouts=Timeouts(silence=0.1)).fail()
    assert "in the middle" in error.message
    assert error.partial == "half"


def test_the_stop_event_drops_a_request_that_has_no_answer_yet(server: Loopback):
    server.answers = [server.hang]
    asking = Asking(server.url)
    with pytest.raises(Interrupted):
        asking.ask(on_sent=asking.stop.set)
    assert server.hung_up.wait(10)


def test_the_stop_event_drops_a_stream_and_the_next_request_works(server: Loopback):
    server.answers = [stream(piece("x"), then=server.hang), say("again")]
    asking = Asking(server.url)
    with pytest.raises(Interrupted):
        asking.ask(on_delta=lambda delta: asking.stop.set())
    assert server.hung_up.wait(10)
    asking.stop.clear()
    assert asking.ask().text == "again"


def test_the_stop_event_ends_the_wait_before_another_attempt(server: Loopback):
    server.answers = [reply(503)]
    asking = Asking(server.url, delays=(50.0,))
    asking.model.ask  # noqa: B018
    with pytest.raises(Interrupted):
        asking.ask(on_notice=lambda text: asking.stop.set())


def test_a_keyboard_interrupt_passes_through_and_closes_the_stream(server: Loopback):
    def interrupt(delta):
        raise KeyboardInterrupt

    server.answers = [stream(piece("x"), then=server.hang)]
    with pytest.raises(KeyboardInterrupt):
        Asking(server.url).ask(on_delta=interrupt)
    assert server.hung_up.wait(10)


# --- context


def long_prompt(words: int) -> list[Message]:
    return [Message(Role.USER, "word " * words)]


def test_a_server_that_cuts_the_prompt_is_told_once_with_the_remedy(server: Loopback):
    """(C58)"""
    server.answers = [say("x", usage={"prompt_tokens": 2051})]
    asking = Asking(server.url, provider="ollama")
    asking.ask(long_prompt(12_000))
    asking.ask(long_prompt(12_500))
    assert len(asking.notices) == 1
    assert "num_ctx" in asking.notices[0]


def test_a_count_that_stops_growing_is_told(server: Loopback):
    """(C58)"""
    server.answers = [say("x", usage={"prompt_tokens": 4096})]
    asking = Asking(server.url, provider="ollama")
    asking.ask(long_prompt(4000))
    assert asking.notices == []
    asking.ask(long_prompt(5000))
    assert len(asking.notices) == 1


def test_a_server_that_reads_the_whole_prompt_is_not_accused(server: Loopback):
    server.answers = [say("x", usage={"prompt_tokens": 5000}), say("x", usage={"prompt_tokens": 6000}), say("x")]
    asking = Asking(server.url)
    for words in (4800, 5800, 6800):
        asking.ask(long_prompt(words))
    assert asking.notices == []


@pytest.mark.parametrize(
    ("provider", "answers", "size"),
    [
        ("llamacpp", {"/props": {"default_generation_settings": {"n_ctx": 8192}}}, 8192),
        ("ollama", {"/api/ps": {"models": [{"name": "m:latest", "context_length": 4096}]}}, 4096),
        ("ollama", {"/api/show": {"parameters": "stop  x\nnum_ctx    16384"}}, 16384),
        ("ollama", {"/api/show": {"model_info": {"qwen2.context_length": 32768}}}, None),
        ("lmstudio", {"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 5000}]}}, 5000),
        ("openrouter", {"/v1/models": {"data": [{"id": "x"}, {"id": "m", "context_length": 131072}]}}, 131072),
        ("custom", {"/v1/models": {"data": [{"id": "m", "max_model_len": 2048}]}}, 2048),
        ("custom", {"/v1/models": [1, 2]}, None),
        ("openai", {}, None),
    ],
)
def test_the_context_size_is_asked_of_the_server(server: Loopback, provider, answers, size):
    def answer(handler):
        reply(200 if handler.path in answers else 404, answers.get(handler.path, {}))(handler)

    server.answers = [answer]
    model = Asking(server.url, provider=provider).model
    assert [model.context_size(), model.context_size()] == [size, size]
    assert len({seen.path for seen in server.seen}) == len(server.seen)


def test_a_configured_context_is_not_asked_for():
    assert Asking("http://127.0.0.1:1/v1", context=4000).model.context_size() == 4000


def test_a_server_that_cannot_be_reached_tells_no_context_size():
    assert Asking(f"http://127.0.0.1:{unused_port()}/v1", provider="ollama").model.context_size() is None


def test_a_server_that_was_down_or_just_starting_is_asked_again_for_its_context_size():
    port = unused_port()
    model = Asking(f"http://127.0.0.1:{port}/v1").model
    assert model.context_size() is None
    with serving(port) as server:
        server.answers = [reply(503), reply(200, {"data": [{"id": "m", "max_model_len": 2048}]})]
        assert [model.context_size() for _ in range(3)] == [None, 2048, 2048]
        assert len(server.seen) == 2


def test_bodies_are_valid_json_in_utf8(server: Loopback):
    server.answers = [say("x")]
    Asking(server.url).ask([Message(Role.USER, "Zürich \ud83e")])
    assert json.loads(server.seen[0].raw.decode())["messages"][0]["content"] == "Zürich \ufffd"
