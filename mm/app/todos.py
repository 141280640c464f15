"""The model's todo list, read from the conversation: what is undone or resumed changes it along."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mm.messages import Outcome
from mm.session.records import Record
from mm.tools.builtins.todo import TodoState

_TOOL = "todo_list"


def todo_list_of(records: Sequence[Record]) -> str:
    """The list that the last successful call of `todo_list` set, one line a task; "" if there is none."""
    for record in reversed(records):
        if record.outcome == Outcome.OK and record.calls and record.calls[0].name == _TOOL:
            return _rendered(record.calls[0].arguments)
    return ""


def _rendered(arguments: str) -> str:
    state = TodoState()
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    state.restore(given.get("todos") if isinstance(given, dict) else None)
    return state.rendered()
