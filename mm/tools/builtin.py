"""Tools that mm implements itself: a declaration and two functions each, run through the same table as all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import JSON, Outcome
from mm.schemas.schema import Schema
from mm.tools.spec import ApprovedCall, Arguments, Kind, Output, Plan, Run, Tool


@dataclass(frozen=True, slots=True)
class Builtin:
    """One built-in tool. `plan` and `run` get arguments that were checked against `parameters`.

    `run` may raise ToolError, OSError and Interrupted, which are then the call's answer.
    """

    name: str
    description: str
    parameters: Mapping[str, JSON]
    plan: Callable[[Arguments], Plan]
    run: Callable[[ApprovedCall, Run], Output]
    readonly: bool = False
    repeat: bool = False
    interactive: bool = False

    def tool(self) -> Tool:
        """The entry of the one table of tools."""
        return Tool(
            name=self.name,
            kind=Kind.BUILTIN,
            description=self.description,
            schema=Schema(self.parameters),
            spec=self,
            readonly=self.readonly,
            repeat=self.repeat,
            interactive=self.interactive,
        )


class BuiltinExecutor:
    """Runs built-in tools."""

    def plan(self, tool: Tool, arguments: Arguments) -> Plan:
        return _builtin(tool).plan(arguments)

    def run(self, call: ApprovedCall, run: Run) -> Output:
        try:
            return _builtin(call.tool).run(call, run)
        except ToolError as error:
            return Output.reply(Outcome.FAILED, error.message)
        except OSError as error:
            return Output.reply(Outcome.FAILED, f"The system refused it: {(error.strerror or str(error)).lower()}.")
        except Interrupted:
            return Output.reply(Outcome.INTERRUPTED, "The person interrupted this call.")


def _builtin(tool: Tool) -> Builtin:
    assert isinstance(tool.spec, Builtin)
    return tool.spec
