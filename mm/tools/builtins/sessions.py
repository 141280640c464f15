"""session_search: what was said in earlier sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run

SearchSessions: TypeAlias = Callable[[str, int], str]
"""Words and the most results to what was found, as text for the model; "" for nothing. May raise ToolError."""

PARAMETERS = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "description": "Words to look for"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "Most results"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Query:
    words: str
    limit: int


def session_tools(search: SearchSessions) -> list[Builtin]:
    def plan(arguments: Arguments) -> Plan:
        query = Query(arguments["query"], int(arguments.get("limit", 5)))
        return free("session_search", query, query=query.words)

    def run(call: ApprovedCall, run: Run) -> Output:
        query = call.plan.what
        assert isinstance(query, Query)
        found = search(query.words, query.limit)
        nothing = f"Nothing in earlier sessions matches `{query.words}`. Try fewer or other words."
        return Output.text(Outcome.OK, found or nothing)

    return [
        Builtin(
            name="session_search",
            description="Search earlier sessions.",
            parameters=PARAMETERS,
            plan=plan,
            run=run,
            readonly=True,
        )
    ]
