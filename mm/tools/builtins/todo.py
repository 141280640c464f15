"""todo_list: the model's plan of its work, replaced as a whole each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mm.errors import ToolError
from mm.messages import JSON, Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run

DEEPEST = 5
MOST = 200

PARAMETERS = {
    "type": "object",
    "properties": {"todos": {"type": "array", "items": {"$ref": "#/$defs/todo"}, "description": "The whole list"}},
    "required": ["todos"],
    "additionalProperties": False,
    "$defs": {
        "todo": {
            "type": "object",
            "properties": {
                "content": {"type": "string", "minLength": 1},
                "status": {"type": "string", "enum": ["pending", "in_progress", "done"], "default": "pending"},
                "subtasks": {"type": "array", "items": {"$ref": "#/$defs/todo"}},
            },
            "required": ["content"],
        }
    },
}


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"


_MARKS = {Status.PENDING: "[ ]", Status.IN_PROGRESS: "[>]", Status.DONE: "[x]"}


@dataclass(frozen=True, slots=True)
class Todo:
    content: str
    status: Status = Status.PENDING
    subtasks: tuple[Todo, ...] = ()


@dataclass(slots=True)
class TodoState:
    """The list of one session. `saved` and `restore` turn it into JSON and back."""

    todos: tuple[Todo, ...] = ()

    def saved(self) -> JSON:
        """As JSON of the same form as the tool's `todos`."""
        return [_as_json(todo) for todo in self.todos]

    def restore(self, saved: JSON) -> None:
        """Take a saved list. What is damaged in it is left out: the list is a convenience."""
        self.todos = _restored(saved, 1)

    def rendered(self) -> str:
        """One line a task, subtasks indented; "" for an empty list."""
        return "\n".join(_lines(self.todos, ""))


def todo_tools(state: TodoState, shown: Callable[[str], None] = lambda rendered: None) -> list[Builtin]:
    """`shown` is told the rendered list whenever it changes."""

    def plan(arguments: Arguments) -> Plan:
        todos = _read(arguments["todos"], 1)
        if sum(_count(todos).values()) > MOST:
            raise ToolError(f"The list has more than {MOST} tasks. Send a shorter one.")
        return free("todo_list", todos, todos="\n".join(_lines(todos, "")))

    def run(call: ApprovedCall, run: Run) -> Output:
        todos = call.plan.what
        assert isinstance(todos, tuple)
        state.todos = todos
        shown(state.rendered())
        count = _count(todos)
        total = sum(count.values())
        if total == 0:
            return Output.text(Outcome.OK, "The list is empty now.")
        done = f"{count[Status.DONE]} of {total} done."
        return Output.text(Outcome.OK, f"{state.rendered()}\n{done}")

    return [
        Builtin(
            name="todo_list",
            description="Keep a list of the steps of a long task. Send the whole list each time.",
            parameters=PARAMETERS,
            plan=plan,
            run=run,
        )
    ]


def _read(items: Sequence[JSON], depth: int) -> tuple[Todo, ...]:
    if items and depth > DEEPEST:
        raise ToolError(f"`subtasks` are nested more than {DEEPEST} levels deep. Send a flatter list.")
    return tuple(
        Todo(item["content"], Status(item.get("status", "pending")), _read(item.get("subtasks", ()), depth + 1))
        for item in items
    )


def _restored(saved: JSON, depth: int) -> tuple[Todo, ...]:
    if not isinstance(saved, list) or depth > DEEPEST:
        return ()
    items = [item for item in saved if isinstance(item, dict) and isinstance(item.get("content"), str)]
    return tuple(
        Todo(item["content"], _status(item.get("status")), _restored(item.get("subtasks"), depth + 1))
        for item in items[:MOST]
    )


def _status(text: JSON) -> Status:
    return Status(text) if text in list(Status) else Status.PENDING


def _as_json(todo: Todo) -> Mapping[str, JSON]:
    subtasks = [_as_json(subtask) for subtask in todo.subtasks]
    whole = {"content": todo.content, "status": str(todo.status)}
    return {**whole, "subtasks": subtasks} if subtasks else whole


def _count(todos: Sequence[Todo]) -> Counter[Status]:
    counter = Counter(todo.status for todo in todos)
    for todo in todos:
        counter += _count(todo.subtasks)
    return counter


def _lines(todos: Sequence[Todo], indent: str) -> list[str]:
    lines = []
    for todo in todos:
        lines.append(f"{indent}{_MARKS[todo.status]} {' '.join(todo.content.split())}")
        lines += _lines(todo.subtasks, indent + "  ")
    return lines
