"""Messages and offers → the body of a request, in a form that strict servers and prompt caches like.

The same messages and offers always give the same bytes, and a longer conversation begins with the bytes of the
shorter one, so that a server finds its cached prompt again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NoReturn

from mm.config.schema import ModelConfig
from mm.messages import JSON, Message, Role, ToolCall, ToolOffer

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NAME = 64
_SMALL = frozenset({"local", "ollama", "llamacpp", "lmstudio"})
"""Providers whose models run on the user's machine, and are small. After a tool's result such models lose the thread
(Qwen2.5-Coder 1.5B repeats its system text, or the call) unless the result ends with what to do next."""
_WHAT_NEXT = "\n(If that is all you need, answer the user now, in words.)"


def build(
    messages: Sequence[Message],
    offers: Sequence[ToolOffer],
    config: ModelConfig,
    *,
    with_usage: bool = True,
    limit_key: str = "max_tokens",
) -> dict[str, JSON]:
    """The body of a streamed request. Empty fields are left out; `extra` has the last word, and null removes a key."""
    body: dict[str, JSON] = {"model": config.name, "messages": [_message(message, config) for message in messages]}
    if offers:
        body["tools"] = [_tool(offer) for offer in offers]
    body["stream"] = True
    if with_usage:
        body["stream_options"] = {"include_usage": True}
    if config.temperature is not None:
        body["temperature"] = config.temperature
    if config.max_tokens is not None:
        body[limit_key] = config.max_tokens
    body.update(config.extra)
    return {key: value for key, value in body.items() if value is not None}


def encode(body: dict[str, JSON]) -> bytes:
    """The body as bytes. Half characters, which no server accepts, are replaced."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub("\ufffd", text).encode()


def count_words(body: bytes) -> int:
    """Words in a body: fewer than its tokens, for any tokenizer, in any text that is not machine noise."""
    return len(_WORD.findall(body))


_WORD = re.compile(rb"[A-Za-z]{2,}")


def _message(message: Message, config: ModelConfig) -> dict[str, JSON]:
    """`content` is always there: templates need the key, and some refuse null."""
    body: dict[str, JSON] = {"role": message.role.value}
    content = message.content
    if message.role is Role.TOOL:
        body["tool_call_id"] = message.tool_call_id
        content += _WHAT_NEXT if config.provider in _SMALL else ""
    body["content"] = content
    if message.role is Role.ASSISTANT and message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    return body


def _call(call: ToolCall) -> dict[str, JSON]:
    function = {"name": _legal_name(call.name), "arguments": _object_text(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _tool(offer: ToolOffer) -> dict[str, JSON]:
    function = {"name": offer.name, "description": offer.description, "parameters": dict(offer.parameters)}
    return {"type": "function", "function": {key: value for key, value in function.items() if value != ""}}


def _legal_name(name: str) -> str:
    """A name that a server accepts in a history: one illegal name makes it refuse every later request."""
    return _ILLEGAL.sub("_", name)[:_LONGEST_NAME] or "unknown"


def _object_text(arguments: str) -> str:
    """The arguments as they are if they are one JSON object, else an empty one: what was wrong is in the reply."""
    try:
        value = json.loads(arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "{}"
    return arguments if isinstance(value, dict) else "{}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
