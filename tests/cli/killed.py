"""A conversation in which mm is killed, and what must be left of it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mm.messages import Message
from mm.session.records import Record
from tests.cli.running import Place, call
from tests.terminal.real import records, resumed

_ROUNDS = 6


def conversation(place: Place, *more: object) -> None:
    """Six replies with calls, one of them with three that run side by side, then an answer, then `more` steps."""
    place.write("slow.sh", f'#!/bin/sh\necho "begin $1" >> {place.folder}/log\nsleep 0.02\necho "end $1"\n', 0o755)
    slow = {
        "name": "slow",
        "description": "Takes a moment.",
        "command": ["./slow.sh", "{{what}}"],
        "parameters": {"what": {"type": "string", "description": "Any word"}},
        "readonly": True,
    }
    steps: list[object] = [
        {"pieces": ["I will ", "look. "], "delay": 0.005, "calls": call("slow", what=f"one{number}")["calls"]}
        for number in range(_ROUNDS - 1)
    ]
    steps.append({"calls": [call("slow", what=f"three{number}")["calls"][0] for number in range(3)]})
    steps.append({"pieces": ["All ", "is ", "done."], "delay": 0.01})
    place.agent([*steps, *more], [slow], yolo=True)


def kept_whole(place: Place) -> tuple[Record, ...]:
    """What is stored, once it is sure that each call has its reply and that all that ran is known to have run."""
    told = _told(resumed(place))
    for line in place.log():
        what = line.removeprefix("begin ")
        reply = told.get(what, "there is no such call")
        assert f"end {what}" in reply or reply.startswith("started, outcome unknown"), f"{what} ran: {reply}"
    return records(place)


def _told(messages: Sequence[Message]) -> dict[str, str]:
    """What the model is told of each call, by what that was called with."""
    return {
        json.loads(call.arguments).get("what"): messages[place + position].content
        for place, message in enumerate(messages)
        for position, call in enumerate(message.tool_calls, 1)
    }
