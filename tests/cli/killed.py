"""A conversation in which mm is killed, and what must be left of it."""

from __future__ import annotations

from mm.messages import Role
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
    """What is stored, once it is sure that each call has its reply and that all that ran is known."""
    kept = records(place)
    began = place.log()
    messages = resumed(place)
    told = "".join(message.content for message in messages if message.role is Role.TOOL)
    for line in began:
        if line.startswith("begin "):
            what = line.removeprefix("begin ")
            known = any(what in item.arguments for record in kept for item in record.calls)
            assert known, "what ran had been written down before"
    assert told.count("end ") + told.count("outcome unknown") >= len(set(began)) - 1
    return kept
