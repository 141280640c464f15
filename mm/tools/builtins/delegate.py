"""delegate_task: gives a part of the work to a sub-agent, which starts with a context of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run

Delegate: TypeAlias = Callable[[str, Run], Output]
"""Lets a sub-agent do a task and gives its answer. Bounds how deep and how often, with a ToolError that says so."""

PARAMETERS = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "minLength": 1, "description": "What to do and what to answer"},
        "context": {"type": "string", "description": "What must be known for it; the sub-agent sees nothing else"},
    },
    "required": ["task"],
    "additionalProperties": False,
}


def delegate_tools(delegate: Delegate) -> list[Builtin]:
    """The sub-agent's own calls are asked about one by one, so that handing over a task asks nobody."""

    def plan(arguments: Arguments) -> Plan:
        task, context = arguments["task"], str(arguments.get("context", ""))
        whole = f"{task}\n\nContext:\n{context}" if context.strip() else task
        return free("delegate_task", whole, task=task, context=context)

    def run(call: ApprovedCall, run: Run) -> Output:
        task = call.plan.what
        assert isinstance(task, str)
        return delegate(task, run)

    return [
        Builtin(
            name="delegate_task",
            description="Let a sub-agent with the same tools do a separate part of the work. Gives its answer.",
            parameters=PARAMETERS,
            plan=plan,
            run=run,
            interactive=True,
        )
    ]
