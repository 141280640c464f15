"""Built-in tools on the whole way of a call: slips are mended from their schemas alone, as for any other tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mm.config.load import load
from mm.messages import Outcome
from mm.tools.builtins.clarify import clarify_tools
from mm.tools.builtins.delegate import delegate_tools
from mm.tools.builtins.files import file_tools
from mm.tools.builtins.memory import memory_tools
from mm.tools.builtins.sessions import session_tools
from mm.tools.builtins.skills import skill_tools
from mm.tools.builtins.todo import TodoState, todo_tools
from mm.tools.memory import Memory
from mm.tools.places import Places
from mm.tools.skills import catalogue, load_skills
from mm.tools.spec import Output, Run
from tests.journey import Journey

EXAMPLES = Path(__file__).parent.parent / "examples"


class World:
    """A journey with every built-in tool of this folder, and what their edges were told."""

    def __init__(self, folder: Path, *, yolo: bool) -> None:
        self.questions: list[Any] = []
        self.searched: list[Any] = []
        self.tasks: list[str] = []
        self.todos = TodoState()
        self.memory = Memory(folder / "memory.md")
        builtins = [
            *file_tools(Places(folder)),
            *clarify_tools(self._ask),
            *todo_tools(self.todos),
            *memory_tools(lambda: self.memory),
            *session_tools(self._search),
            *delegate_tools(self._delegate),
            *skill_tools(load_skills([EXAMPLES / "skills-demo" / "skills"])[0]),
        ]
        self.journey = Journey(folder, [builtin.tool() for builtin in builtins], yolo=yolo)

    def _ask(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        self.questions += questions
        return ["blue"] * len(questions)

    def _search(self, words: str, limit: int) -> str:
        self.searched.append((words, limit))
        return "found"

    def _delegate(self, task: str, run: Run) -> Output:
        self.tasks.append(task)
        return Output.text(Outcome.OK, "done")


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\ntwo\nthree\n")
    return World(tmp_path / "work", yolo=True)


SLIPS: dict[str, tuple[str, dict[str, Any], Callable[[World], bool]]] = {
    "a list of questions as text": (
        "clarify",
        {"questions": json.dumps([{"question": "Which?", "choices": ["red", "blue"]}, {"question": "Why?"}])},
        lambda world: world.questions == [("Which?", ("red", "blue")), ("Why?", ())],
    ),
    "choices as text inside an object as text": (
        "clarify",
        {"questions": [json.dumps({"question": "Which?", "choices": '["red"]'})]},
        lambda world: world.questions == [("Which?", ("red",))],
    ),
    "one question where a list is wanted": (
        "clarify",
        {"questions": {"question": "Which?"}},
        lambda world: world.questions == [("Which?", ())],
    ),
    "nested todos as text": (
        "todo_list",
        {"todos": [{"content": "a", "subtasks": '[{"content": "b", "status": "done"}]'}]},
        lambda world: world.todos.rendered() == "[ ] a\n  [x] b",
    ),
    "a limit as text": (
        "session_search",
        {"query": "release", "limit": "7"},
        lambda world: world.searched == [("release", 7)],
    ),
    "null for what may be left out": (
        "memory",
        {"action": "add", "text": "x", "old_text": None},
        lambda world: world.memory.entries() == ["x"],
    ),
    "null for the context": (
        "delegate_task",
        {"task": "Count", "context": None},
        lambda world: world.tasks == ["Count"],
    ),
    "a boolean as text": (
        "edit_file",
        {"path": "a.txt", "old_text": "e", "new_text": "E", "replace_all": "True"},
        lambda world: (world.journey.folder / "a.txt").read_text() == "onE\ntwo\nthrEE\n",
    ),
    "content that looks like JSON": (
        "write_file",
        {"path": "b.json", "content": '{"a": [1, 2]}'},
        lambda world: (world.journey.folder / "b.json").read_text() == '{"a": [1, 2]}',
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_mended_for_a_builtin_as_for_any_tool(
    world: World, slip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(C07, C10, C11, C12, C17)"""
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    tool, arguments, holds = SLIPS[slip]
    result = world.journey.one(tool, arguments)
    assert result.outcome is Outcome.OK, result.content
    assert holds(world)


def test_lines_given_as_text_are_numbers(world: World) -> None:
    result = world.journey.one("read_file", {"path": "a.txt", "offset": "2", "limit": "1"})
    assert "two" in result.content
    assert "offset=3" in result.content


def test_an_append_that_write_file_does_not_know_is_answered_and_loses_nothing(world: World) -> None:
    result = world.journey.one("write_file", {"path": "a.txt", "content": "x", "append": True})
    assert result.outcome is Outcome.INVALID
    assert (world.journey.folder / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_a_structure_as_content_is_answered(world: World) -> None:
    """(C13)"""
    result = world.journey.one("write_file", {"path": "b.json", "content": {"a": 1}})
    assert result.outcome is Outcome.INVALID
    assert not (world.journey.folder / "b.json").exists()


def test_reading_inside_needs_nobody_and_everything_else_does(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("inside")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "work" / "link").symlink_to("../secret.txt")
    journey = World(tmp_path / "work", yolo=False).journey
    allowed = [("read_file", {"path": "a.txt"}), ("list_files", {}), ("search_files", {"pattern": "inside"})]
    for name, given in allowed:
        assert journey.one(name, given).outcome is Outcome.OK
    refused = [
        ("read_file", {"path": "link"}),
        ("list_files", {"path": ".."}),
        ("search_files", {"path": "..", "pattern": "secret"}),
        ("write_file", {"path": "a.txt", "content": "x"}),
        ("edit_file", {"path": "a.txt", "old_text": "inside", "new_text": "x"}),
    ]
    for name, given in refused:
        result = journey.one(name, given)
        assert result.outcome is Outcome.UNASKED, name
        assert "secret" not in result.content
    assert (tmp_path / "work" / "a.txt").read_text() == "inside"


def test_an_agent_file_is_not_changed_even_under_yolo_when_nobody_can_be_asked(world: World) -> None:
    result = world.journey.one("write_file", {"path": "agent.yaml", "content": "yolo: true\n"})
    assert result.outcome is Outcome.UNASKED
    assert not (world.journey.folder / "agent.yaml").exists()


def test_two_edits_in_one_reply_both_apply(world: World) -> None:
    edits = [("one", "1"), ("two", "2"), ("1\n2", "12")]
    answered = world.journey.send(
        *(("edit_file", {"path": "a.txt", "old_text": old, "new_text": new}) for old, new in edits)
    )
    assert [result.outcome for result in answered.results] == [Outcome.OK] * 3
    assert (world.journey.folder / "a.txt").read_text() == "12\nthree\n"


def test_the_skill_of_the_example_is_offered_and_read(world: World) -> None:
    config = load(EXAMPLES / "skills-demo" / "agent.yaml", environ={})
    skills, warnings = load_skills(config.skills)
    assert warnings == []
    assert "- changelog: How to write an entry" in catalogue(skills)
    assert "read_skill" in config.builtins
    assert "template.md" in world.journey.one("read_skill", {"name": "changelog"}).content
    assert "**Fixed**" in world.journey.one("read_skill", {"name": "changelog", "file": "template.md"}).content
