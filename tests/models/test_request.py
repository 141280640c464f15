"""The body of a request: what strict servers accept and prompt caches recognise."""

import json

import pytest

from mm.config.schema import ModelConfig
from mm.messages import Message, Role, ToolCall, ToolOffer
from mm.models.request import build, encode

CONFIG = ModelConfig("openai", "m")
OFFERS = [ToolOffer("f", "Do it.", {"type": "object", "properties": {"x": {"type": "integer"}}})]


def history(*calls: ToolCall) -> list[Message]:
    results = [Message(Role.TOOL, "ok", tool_call_id=call.id) for call in calls]
    return [
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "Go."),
        Message(Role.ASSISTANT, "", tuple(calls)),
        *results,
    ]


def sent_call(name: str, arguments: str) -> dict:
    body = json.loads(encode(build(history(ToolCall("a", name, arguments)), OFFERS, CONFIG)))
    return body["messages"][2]["tool_calls"][0]["function"]


def test_empty_fields_are_left_out():
    """(C52)"""
    body = build([Message(Role.USER, "hi"), Message(Role.ASSISTANT, "hello")], [], CONFIG)
    assert set(body) == {"model", "messages", "stream", "stream_options"}
    assert body["messages"][1] == {"role": "assistant", "content": "hello"}


def test_content_is_always_there():
    """(C53)"""
    body = build(history(ToolCall("a", "f", "{}")), OFFERS, CONFIG)
    assert [message["content"] for message in body["messages"]] == ["Be brief.", "Go.", "", "ok"]
    assert body["messages"][3]["tool_call_id"] == "a"


@pytest.mark.parametrize(
    "arguments", ["", "null", "[1]", '"x"', '{"command": "cd ..', '{"a":1}{"a":1}', '{"a": NaN}', "[" * 100_000]
)
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(arguments):
    """(C51)"""
    assert sent_call("f", arguments) == {"name": "f", "arguments": "{}"}


def test_valid_arguments_are_sent_as_they_were_written():
    assert sent_call("f", '{ "x" : 1.10 }')["arguments"] == '{ "x" : 1.10 }'


@pytest.mark.parametrize(
    ("name", "legal"),
    [("multi_tool_use.parallel", "multi_tool_use_parallel"), ("", "unknown"), ("é" * 70, "_" * 64), ("f g", "f_g")],
)
def test_an_illegal_name_is_made_legal(name, legal):
    """(C51, C119)"""
    assert sent_call(name, "{}")["name"] == legal


def test_half_characters_are_replaced_everywhere():
    """(C119)"""
    messages = [Message(Role.USER, "a\ud99cb"), Message(Role.TOOL, "\udc00", tool_call_id="x")]
    assert "a\ufffdb" in encode(build(messages, [], CONFIG)).decode()


def test_the_same_conversation_gives_the_same_bytes_and_a_longer_one_begins_with_them():
    shorter = encode(build(history(), OFFERS, CONFIG))
    assert shorter == encode(build(history(), list(OFFERS), CONFIG))
    longer = encode(build([*history(), Message(Role.USER, "More.")], OFFERS, CONFIG))
    messages, tools = shorter.split(b',"tools":')
    assert longer.startswith(messages.removesuffix(b"]"))
    assert longer.endswith(tools)


def test_extra_has_the_last_word_and_null_removes_a_key():
    config = ModelConfig("openai", "m", temperature=0.2, max_tokens=5, extra={"top_k": 1, "stream_options": None})
    body = build([Message(Role.USER, "hi")], [], config)
    assert (body["temperature"], body["max_tokens"], body["top_k"]) == (0.2, 5, 1)
    assert "stream_options" not in body


@pytest.mark.parametrize(
    ("provider", "told"), [("local", True), ("ollama", True), ("openai", False), ("openrouter", False)]
)
def test_a_model_on_the_users_machine_is_told_to_answer_after_a_result(provider, told):
    """Qwen2.5-Coder 1.5B goes on with its system text, or the same call, without it."""
    body = build(history(ToolCall("a", "f", "{}")), OFFERS, ModelConfig(provider, "m"))
    assert ("answer the user now" in body["messages"][3]["content"]) is told
    assert body["messages"][3]["content"].startswith("ok")
    assert not any("answer the user now" in message["content"] for message in body["messages"][:3])
