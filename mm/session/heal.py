"""Makes of any records a conversation that a strict server accepts: every call with one reply, all text legal."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from mm.messages import JSON, Message, Role, ToolCall
from mm.session.records import NOTE_MARK, Record

INTERRUPTED = (
    "interrupted, outcome unknown: mm ended before this call was answered. "
    "Check what happened before you make the call again."
)
STARTED_UNKNOWN = (
    "started, outcome unknown: mm ended while this call ran, so it may have had an effect. "
    "Check what happened before you make the call again."
)
BEGINNING_LOST = "[The beginning of this conversation is lost.]"

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_LEGAL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")  # 40: OpenAI's limit
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def sendable(records: Sequence[Record], summary: str = "") -> list[Message]:
    """The messages to send. Equal records give equal messages, so what a server has cached stays valid.

    A call stays as the model wrote it, also where a person or a hook changed what was run: the words are its own. Each
    call gets exactly one reply, directly after its message and in the order of the calls; replies without a call are
    dropped; two messages of one side in a row become one, since strict chat templates refuse them.
    """
    replies = _match(records)
    messages: list[Message] = []
    if summary:
        _append(messages, Message(Role.USER, heal_text(summary)))
    for index, record in enumerate(records):
        if record.role is Role.USER:
            mark = NOTE_MARK if record.is_note else ""
            _append(messages, Message(Role.USER, mark + heal_text(record.content)))
        elif record.role is Role.ASSISTANT:
            _append_reply(messages, record, replies.get(index, {}))
    if messages and messages[0].role is not Role.USER:
        messages.insert(0, Message(Role.USER, BEGINNING_LOST))
    return messages


def with_request(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages, and behind them one more of the person's side."""
    asked = list(messages)
    _append(asked, Message(Role.USER, text))
    return asked


def _append_reply(messages: list[Message], record: Record, replies: dict[int, Record]) -> None:
    text = heal_text(record.content)
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for position, call in enumerate(record.calls):
        reply = replies.get(position)
        ran = reply.calls[0] if reply and reply.calls else call
        identity = _free_id(call.id or f"call_{position}", taken)
        calls.append(ToolCall(identity, heal_name(ran.name), _own_arguments(call, ran), call.written))
    if not calls and not text.strip():
        return  # strict servers refuse a message that says nothing
    _append(messages, Message(Role.ASSISTANT, text, tool_calls=tuple(calls)))
    for position, call in enumerate(calls):
        messages.append(Message(Role.TOOL, _reply_text(call, replies.get(position)), tool_call_id=call.id))


def _own_arguments(call: ToolCall, ran: ToolCall) -> str:
    """The arguments as the model wrote them; if those are no JSON object, as mm read them."""
    own = heal_arguments(call.arguments)
    return heal_arguments(ran.arguments) if own == "{}" and call.arguments.strip() != "{}" else own


def _append(messages: list[Message], message: Message) -> None:
    last = messages[-1] if messages else None
    if last is None or last.role is not message.role or last.tool_calls:
        messages.append(message)
        return
    content = "\n\n".join(text for text in (last.content, message.content) if text)
    messages[-1] = replace(message, content=content)


def _reply_text(call: ToolCall, reply: Record | None) -> str:
    """What the model is told of `call`, which is as it is sent. What a person changed is said in its result; where
    there is none, here."""
    if reply is None:
        return INTERRUPTED
    if not reply.is_running:
        return heal_text(reply.content)
    ran = heal_arguments(reply.calls[0].arguments) if reply.calls else call.arguments
    if json.loads(ran) == json.loads(call.arguments):
        return STARTED_UNKNOWN
    return f"{STARTED_UNKNOWN}\n(It was started with these arguments: {ran})"


def _match(records: Sequence[Record]) -> dict[int, dict[int, Record]]:
    """Which reply belongs to which call: index of the assistant's record → position of the call → reply.

    A reply belongs to the nearest message before it that has an open call of that id: servers use ids again.
    """
    waiting: dict[str, list[tuple[int, int]]] = {}
    matched: dict[int, dict[int, Record]] = {}
    for index, record in enumerate(records):
        if record.role is Role.ASSISTANT:
            for position in reversed(range(len(record.calls))):  # the first of equal ids is answered first
                waiting.setdefault(record.calls[position].id, []).append((index, position))
        elif record.role is Role.TOOL and waiting.get(record.call_id):
            owner, position = waiting[record.call_id].pop()
            matched.setdefault(owner, {})[position] = record
    return matched


def _free_id(wanted: str, taken: set[str]) -> str:
    """A call's id that is legal and, within one message, its own."""
    identity = heal_id(wanted)
    while identity in taken:
        identity = heal_id(f"{identity}_{len(taken)}")
    taken.add(identity)
    return identity


def heal_id(identity: str) -> str:
    """An id that every server accepts: 1 to 40 of `[A-Za-z0-9_-]`. Another server's is renamed, the same one alike."""
    if _LEGAL_ID.fullmatch(identity):
        return identity
    return f"call_{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def heal_name(name: str) -> str:
    """A tool name that every server accepts: 1 to 64 of `[A-Za-z0-9_-]`."""
    return _ILLEGAL.sub("_", name)[:64] or "unknown_tool"


def heal_text(text: str) -> str:
    """The text without lone surrogates: two halves become their character, one half becomes U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@lru_cache(maxsize=16_384)
def heal_arguments(arguments: str) -> str:
    """The arguments as the text of one JSON object; `{}` if they are not one. Legal text is kept byte for byte."""
    try:
        value = json.loads(arguments, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return "{}"
    if not isinstance(value, dict):
        return "{}"
    if heal_text(arguments) is arguments and _ESCAPED_SURROGATE.search(arguments) is None:
        return arguments
    return heal_text(json.dumps(value, ensure_ascii=False))


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not JSON")
