"""clarify, todo_list, session_search and delegate_task: what the model sees of them, with the edges injected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from builtin_calls import Calls, said, shown

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtins.clarify import clarify_tools
from mm.tools.builtins.delegate import delegate_tools
from mm.tools.builtins.sessions import session_tools
from mm.tools.builtins.todo import TodoState, todo_tools
from mm.tools.spec import Need, Output, Run

QUESTIONS = [{"question": "Which colour?", "choices": ["red", "blue"]}, {"question": "Why?"}]


def test_several_questions_are_asked_at_once(tmp_path: Path) -> None:
    asked: list[Sequence[tuple[str, Sequence[str]]]] = []

    def ask(questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        asked.append(questions)
        return ["blue", ""]

    calls = Calls(clarify_tools(ask), tmp_path)
    assert calls.plan("clarify", questions=QUESTIONS).plan.need is Need.NONE
    text = calls.text("clarify", questions=QUESTIONS)
    assert list(asked[0]) == [("Which colour?", ("red", "blue")), ("Why?", ())]
    assert text == "Which colour?\n→ blue\n\nWhy?\n→ (skipped: decide yourself)"


def test_clarify_never_runs_beside_others(tmp_path: Path) -> None:
    assert all(tool.interactive for tool in [*clarify_tools(None), *delegate_tools(lambda task, run: None)])  # type: ignore[arg-type,return-value]


def test_where_nobody_can_be_asked_the_model_is_told_what_to_do_instead(tmp_path: Path) -> None:
    output = Calls(clarify_tools(None), tmp_path).call("clarify", questions=QUESTIONS)
    assert output.outcome is Outcome.FAILED
    assert "Take the most likely meaning, go on" in said(output)


def test_an_interrupt_at_a_question_stops_the_turn(tmp_path: Path) -> None:
    def ask(questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        raise KeyboardInterrupt

    calls = Calls(clarify_tools(ask), tmp_path)
    assert calls.call("clarify", questions=QUESTIONS).outcome is Outcome.INTERRUPTED
    assert calls.stop.is_set()


TODOS = [
    {"content": "Read the code", "status": "done"},
    {"content": "Mend\nthe bug", "status": "in_progress", "subtasks": [{"content": "Write a test"}]},
]
RENDERED = "[x] Read the code\n[>] Mend the bug\n  [ ] Write a test"


def test_a_todo_list_is_replaced_as_a_whole_and_shown(tmp_path: Path) -> None:
    state, seen = TodoState(), []
    calls = Calls(todo_tools(state, seen.append), tmp_path)
    assert calls.text("todo_list", todos=TODOS) == f"{RENDERED}\n1 of 3 done."
    assert seen == [RENDERED]
    assert state.rendered() == RENDERED
    assert calls.text("todo_list", todos=[]) == "The list is empty now."
    assert state.rendered() == ""


def test_a_plan_alone_changes_no_list(tmp_path: Path) -> None:
    state = TodoState()
    plan = Calls(todo_tools(state), tmp_path).plan("todo_list", todos=TODOS).plan
    assert plan.need is Need.NONE
    assert shown(plan) == f"todos: {RENDERED}"
    assert state.rendered() == ""


def test_a_saved_todo_list_comes_back(tmp_path: Path) -> None:
    state, other = TodoState(), TodoState()
    Calls(todo_tools(state), tmp_path).call("todo_list", todos=TODOS)
    other.restore(state.saved())
    assert other.todos == state.todos


@pytest.mark.parametrize(
    "saved",
    [None, "x", 3, {"content": "a"}, [None, 1, {"content": 2}], [{"content": "a", "status": ["x"], "subtasks": 3}]],
)
def test_a_damaged_saved_list_is_no_obstacle(saved: object) -> None:
    state = TodoState()
    state.restore(saved)
    assert state.rendered() in ("", "[ ] a")


def test_too_deep_and_too_long_lists_are_answered(tmp_path: Path) -> None:
    calls = Calls(todo_tools(TodoState()), tmp_path)
    nested: dict[str, object] = {"content": "x"}
    for _ in range(5):
        nested = {"content": "x", "subtasks": [nested]}
    with pytest.raises(ToolError, match="more than 5 levels"):
        calls.plan("todo_list", todos=[nested])
    with pytest.raises(ToolError, match="more than 200 tasks"):
        calls.plan("todo_list", todos=[{"content": "x", "subtasks": [{"content": "y"}] * 200}])


def test_a_todo_with_keys_of_other_tools_is_taken(tmp_path: Path) -> None:
    text = Calls(todo_tools(TodoState()), tmp_path).text("todo_list", todos=[{"content": "a", "id": "1"}])
    assert text.startswith("[ ] a")


def test_earlier_sessions_are_searched(tmp_path: Path) -> None:
    queries: list[tuple[str, int]] = []

    def search(words: str, limit: int) -> str:
        queries.append((words, limit))
        return "found" if words == "release" else ""

    calls = Calls(session_tools(search), tmp_path)
    assert calls.text("session_search", query="release") == "found"
    assert "Nothing in earlier sessions matches `x`" in calls.text("session_search", query="x", limit=3)
    assert queries == [("release", 5), ("x", 3)]


def test_a_task_is_handed_over_with_its_context(tmp_path: Path) -> None:
    tasks: list[str] = []

    def delegate(task: str, run: Run) -> Output:
        tasks.append(task)
        if len(tasks) > 2:
            raise ToolError("Sub-agents cannot delegate further. Do the work yourself.")
        return Output.text(Outcome.OK, "done")

    calls = Calls(delegate_tools(delegate), tmp_path)
    assert calls.text("delegate_task", task="Count the files") == "done"
    assert calls.text("delegate_task", task="Count", context="In src.") == "done"
    assert tasks == ["Count the files", "Count\n\nContext:\nIn src."]
    refused = calls.call("delegate_task", task="again")
    assert refused.outcome is Outcome.FAILED
    assert said(refused) == "Sub-agents cannot delegate further. Do the work yourself."
