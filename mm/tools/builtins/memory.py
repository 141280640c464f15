"""memory: what the agent wants to know in later sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mm.counts import count
from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free
from mm.tools.memory import Memory
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run

PARAMETERS = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["add", "replace", "remove"]},
        "text": {"type": "string", "description": "Text to remember (add, replace)"},
        "old_text": {"type": "string", "description": "Part of the entry meant (replace, remove)"},
    },
    "required": ["action"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Change:
    action: str
    text: str
    old: str


def memory_tools(memory: Callable[[], Memory]) -> list[Builtin]:
    """`memory` is looked for when it is first written to: declaring the tool makes no folder."""

    def plan(arguments: Arguments) -> Plan:
        change = Change(arguments["action"], str(arguments.get("text", "")), str(arguments.get("old_text", "")))
        if change.action == "remove" and not change.old:
            change = Change("remove", "", change.text)  # only one text is wanted here, whichever name it came under
        _refuse_missing(change)
        return free("memory", change, action=change.action, old_text=change.old, text=change.text)

    def run(call: ApprovedCall, run: Run) -> Output:
        change = call.plan.what
        assert isinstance(change, Change)
        if change.action == "add":
            entries = memory().add(change.text, run.stop)
        elif change.action == "replace":
            entries = memory().replace(change.old, change.text, run.stop)
        else:
            entries = memory().remove(change.old, run.stop)
        done = {"add": "Remembered", "replace": "Replaced", "remove": "Removed"}[change.action]
        kept = count(len(entries), "entry", "entries")
        return Output.reply(Outcome.OK, f"{done}. The memory has {kept} now and is shown to you in later sessions.")

    return [
        Builtin(
            name="memory",
            description="Remember something for later sessions, or change what is remembered.",
            parameters=PARAMETERS,
            plan=plan,
            run=run,
        )
    ]


def _refuse_missing(change: Change) -> None:
    if change.action != "remove" and not change.text.strip():
        raise ToolError(f"`text` is missing: the text to remember. {change.action} needs it.")
    if change.action != "add" and not change.old.strip():
        raise ToolError(f"`old_text` is missing: a part of the entry that you mean. {change.action} needs it.")
