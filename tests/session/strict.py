"""What a strict chat server refuses, as assertions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from mm.messages import Message, Role


def assert_strict(messages: Sequence[Message]) -> None:
    """Every call is answered once, directly after its message and in order; all text and names are legal."""
    rest = [message for message in messages if message.role is not Role.SYSTEM]
    if rest:
        assert rest[0].role is Role.USER
    before: Role | None = None
    position = 0
    while position < len(rest):
        message = rest[position]
        message.content.encode("utf-8")
        assert message.role is not Role.TOOL, "a reply without its call"
        assert message.role is not before, "two messages of one side"
        assert message.content.strip() or message.tool_calls, "a message that says nothing"
        identities = [call.id for call in message.tool_calls]
        assert len(set(identities)) == len(identities)
        assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", identity) for identity in identities)
        for call in message.tool_calls:
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call.name)
            assert isinstance(json.loads(call.arguments), dict)
            call.arguments.encode("utf-8")
        replies = rest[position + 1 : position + 1 + len(identities)]
        assert [reply.tool_call_id for reply in replies] == identities
        assert all(reply.role is Role.TOOL for reply in replies)
        before = None if identities else message.role
        position += 1 + len(identities)
