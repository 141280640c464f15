"""What one call would run, found out without running it."""

from __future__ import annotations

from dataclasses import dataclass

from mm.app.assembly import Assembly
from mm.config.schema import Hook, HookEvent
from mm.dispatch import arguments as steps
from mm.dispatch.consent import is_denied
from mm.dispatch.hooks import fitting
from mm.dispatch.names import Names
from mm.messages import ToolCall
from mm.tools.spec import Plan, Tool


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A call as it would run if the hooks before it leave it alone. `notes` say what was repaired in its arguments."""

    tool: Tool
    plan: Plan
    notes: tuple[str, ...]
    hooks: tuple[Hook, ...]  # before the call: each may change its arguments, or deny it
    denied: bool  # by a rule: it would not run at all


def foresee(assembly: Assembly, call: ToolCall) -> Foreseen:
    """Starts nothing but MCP servers, and these only for a tool of theirs.

    Raises ToolError for a call that would be answered instead.
    """
    tool = Names(assembly.catalog_for(call).tools()).find(call.name)
    checked = steps.check(tool, steps.parse(call.arguments))
    return Foreseen(
        tool,
        assembly.executors()[tool.kind].plan(tool, checked.arguments),
        checked.notes,
        tuple(fitting(assembly.config.hooks, HookEvent.BEFORE, tool.name)),
        is_denied(tool.name, assembly.config.permissions, assembly.options.deny),
    )
