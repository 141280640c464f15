"""Plans and runs built-in tools as the journey does: checked arguments, the same executor, a real folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema_rs

from mm.tools.builtin import Builtin, BuiltinExecutor
from mm.tools.spec import ApprovedCall, Output, Plan, Run


@dataclass
class Calls:
    """The tools of a test. `call` plans and runs; `plan` and `run` let something happen between the two."""

    tools: Sequence[Builtin]
    spill: Path
    stop: threading.Event = field(default_factory=threading.Event)

    def plan(self, tool_name: str, /, **arguments: Any) -> ApprovedCall:
        builtin = next(tool for tool in self.tools if tool.name == tool_name)
        jsonschema_rs.validate(dict(builtin.parameters), arguments)
        tool = builtin.tool()
        return ApprovedCall("call_1", tool, arguments, BuiltinExecutor().plan(tool, arguments))

    def run(self, call: ApprovedCall) -> Output:
        return BuiltinExecutor().run(call, Run(self.stop, self.spill))

    def call(self, tool_name: str, /, **arguments: Any) -> Output:
        return self.run(self.plan(tool_name, **arguments))

    def text(self, tool_name: str, /, **arguments: Any) -> str:
        return said(self.call(tool_name, **arguments))


def said(output: Output) -> str:
    """Everything of an output that reaches the model: the note first, as it is shaped."""
    note = f"({output.note})\n" if output.note else ""
    return note + output.stdout.head.decode()


def shown(plan: Plan) -> str:
    """Everything that a person is shown of a plan."""
    return "\n".join(f"{part.label}: {' '.join(part.entries)}" for part in plan.shown)
