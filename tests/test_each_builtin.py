"""Each built-in tool, on the whole way of a call: right, repaired, invalid, refused, failing and looping, one at a time
and side by side. What holds for a declared tool in `test_journey.py` holds here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mm.config.schema import BUILTIN_NAMES, Permissions
from mm.dispatch.person import Answer, Decision
from mm.errors import ToolError
from mm.messages import Outcome, ToolResult
from mm.tools.background import Background
from mm.tools.builtins.clarify import clarify_tools
from mm.tools.builtins.delegate import delegate_tools
from mm.tools.builtins.files import file_tools
from mm.tools.builtins.memory import memory_tools
from mm.tools.builtins.sessions import session_tools
from mm.tools.builtins.shell import bash_tool, read_terminal_tool
from mm.tools.builtins.skills import skill_tools
from mm.tools.builtins.todo import TodoState, todo_tools
from mm.tools.memory import Memory
from mm.tools.places import Places
from mm.tools.skills import load_skills
from mm.tools.spec import Output, Run
from tests.journey import Asked, Journey, Schedule

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one built-in tool, and words of their replies."""

    right: dict[str, Any]
    says: str  # in the reply to the right call
    slip: dict[str, Any]  # means the same as `right`
    repaired: str  # in the reply to the slip
    wrong: dict[str, Any]
    why: str  # in the reply to the wrong call
    failing: dict[str, Any] = field(default_factory=dict)
    failure: str = ""  # in the reply to the failing call


TABLE = {
    "bash": Calls(
        {"command": "cat a.txt", "timeout": 9},
        "two",
        {"command": "cat a.txt", "timeout": "9"},
        'timeout="9"',
        {"command": ["cat", "a.txt"]},
        "command",
        {"command": "echo no luck >&2; exit 3"},
        "exit code: 3",
    ),
    "read_file": Calls(
        {"path": "a.txt", "offset": 2},
        "two",
        {"path": "a.txt", "offset": "2"},
        'offset="2"',
        {"path": "a.txt", "offset": "two"},
        "offset",
        {"path": "nowhere.txt"},
        "nowhere.txt",
    ),
    "write_file": Calls(
        {"path": "b.txt", "content": "3"},
        "b.txt",
        {"path": "b.txt", "content": 3},
        "content=3",
        {"path": "b.txt"},
        "content",
        {"path": "folder", "content": "x"},
        "folder",
    ),
    "edit_file": Calls(
        {"path": "a.txt", "old_text": "two", "new_text": "2", "replace_all": True},
        "a.txt",
        {"path": "a.txt", "old_text": "two", "new_text": "2", "replace_all": "true"},
        'replace_all="true"',
        {"path": "a.txt", "old_text": "two"},
        "new_text",
        {"path": "a.txt", "old_text": "not there", "new_text": "x"},
        "a.txt",
    ),
    "list_files": Calls(
        {"path": ".", "pattern": "*.txt"},
        "a.txt",
        {"path": ".", "pattern": "*.txt", "depth": None},
        "",
        {"path": ["."]},
        "path",
        {"path": "nowhere"},
        "nowhere",
    ),
    "search_files": Calls(
        {"pattern": "two"},
        "a.txt",
        {"pattern": "two", "path": None},
        "path",
        {"pattern": {"text": "two"}},
        "pattern",
        {"pattern": "two", "path": "nowhere"},
        "nowhere",
    ),
    "read_skill": Calls(
        {"name": "greet"},
        "Say hello.",
        {"name": "greet", "file": None},
        "file",
        {"skill": "greet"},
        "name",
        {"name": "nowhere"},
        "nowhere",
    ),
    "clarify": Calls(
        {"questions": [{"question": "Which?", "choices": ["red", "blue"]}]},
        "blue",
        {"questions": '[{"question": "Which?", "choices": ["red", "blue"]}]'},
        "questions",
        {"questions": []},
        "questions",
        {"questions": [{"question": "nobody"}]},
        "Nobody can be asked",
    ),
    "todo_list": Calls(
        {"todos": [{"content": "a", "subtasks": [{"content": "b", "status": "done"}]}]},
        "[x] b",
        {"todos": '[{"content": "a", "subtasks": "[{\\"content\\": \\"b\\", \\"status\\": \\"done\\"}]"}]'},
        "todos",
        {"todos": [{"content": "a", "status": "begun"}]},
        "begun",
        {"todos": [{"content": "a"}] * 201},
        "more than 200",
    ),
    "memory": Calls(
        {"action": "add", "text": "likes tea"},
        "",
        {"action": "add", "text": "likes tea", "old_text": None},
        "old_text",
        {"action": "forget", "text": "likes tea"},
        "forget",
        {"action": "remove", "old_text": "never said"},
        "Nothing is remembered yet",
    ),
    "session_search": Calls(
        {"query": "tea", "limit": 3},
        "found tea 3",
        {"query": "tea", "limit": "3"},
        'limit="3"',
        {"query": "tea", "limit": 0},
        "limit",
        {"query": "broken"},
        "cannot be read",
    ),
    "delegate_task": Calls(
        {"task": "count"},
        "did count",
        {"task": "count", "context": None},
        "context",
        {"task": ""},
        "task",
        {"task": "broken"},
        "gave up",
    ),
    "read_terminal": Calls(
        {"id": 1},
        "started here",
        {"id": "1"},
        'id="1"',
        {"id": "first"},
        "id",
        {"id": 7},
        "7",
    ),
}
NAMES = sorted(TABLE)


class World:
    """Every built-in tool in one folder, with edges that a test can break by what it asks for."""

    def __init__(self, folder: Path) -> None:
        (folder / "folder").mkdir()
        (folder / "a.txt").write_text("one\ntwo\n")
        (folder / "greet").mkdir()
        (folder / "greet" / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
        self.background = Background()
        made = [
            *file_tools(Places(folder)),
            bash_tool(ENVIRONMENT, folder, self.background),
            read_terminal_tool(self.background),
            *skill_tools(load_skills([folder])[0]),
            *clarify_tools(self._ask),
            *todo_tools(TodoState()),
            *memory_tools(lambda: Memory(folder / "memory.md")),
            *session_tools(self._search),
            *delegate_tools(self._delegate),
        ]
        self.tools = {builtin.name: builtin.tool() for builtin in made}
        self.folder = folder

    def journey(self, name: str, **rest: Any) -> Journey:
        """A journey on which `name` is called."""
        tools = list(self.tools.values())
        if name == "read_terminal":
            started = {"command": "echo started here; sleep 60", "background": True}
            Journey(self.folder, tools).one("bash", started)
        return Journey(self.folder, tools, **rest)

    @staticmethod
    def _ask(questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        if questions[0][0] == "nobody":
            raise ToolError("Nobody can be asked.")
        return ["blue"] * len(questions)

    @staticmethod
    def _search(words: str, limit: int) -> str:
        if words == "broken":
            raise ToolError("The sessions cannot be read.")
        return f"found {words} {limit}"

    @staticmethod
    def _delegate(task: str, run: Run) -> Output:
        return Output.text(Outcome.FAILED, "gave up") if task == "broken" else Output.text(Outcome.OK, f"did {task}")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.background.close()


@pytest.fixture(params=list(Schedule))
def schedule(request: pytest.FixtureRequest) -> Schedule:
    return Schedule(request.param)


def send(trip: Journey, schedule: Schedule, name: str, given: dict[str, Any]) -> Sequence[ToolResult]:
    """One call; or the same beside a call of another tool before and after it, in one reply."""
    if schedule is Schedule.ALONE:
        return [trip.one(name, given)]
    return trip.send(("list_files", {}), (name, given), ("list_files", {"path": "greet"})).results[1:2]


def test_the_table_holds_every_builtin() -> None:
    planned = {"web_fetch", "web_search"}
    assert set(BUILTIN_NAMES) - planned == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_right_call_runs(world: World, schedule: Schedule, name: str) -> None:
    [result] = send(world.journey(name), schedule, name, TABLE[name].right)
    assert result.outcome is Outcome.OK, result.content
    assert TABLE[name].says in result.content


@pytest.mark.parametrize("name", NAMES)
def test_a_slip_is_repaired_and_said(world: World, schedule: Schedule, name: str) -> None:
    trip = world.journey(name)
    [result] = send(trip, schedule, name, TABLE[name].slip)
    assert result.outcome is Outcome.OK, result.content
    assert TABLE[name].says in result.content
    assert TABLE[name].repaired in result.content.rpartition("\n(")[2]


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_call_is_answered_in_the_same_words(world: World, schedule: Schedule, name: str) -> None:
    trip = world.journey(name)
    [result] = send(trip, schedule, name, TABLE[name].wrong)
    assert result.outcome is Outcome.INVALID
    assert f"The call of `{name}` was not run: its arguments do not fit." in result.content
    assert TABLE[name].why in result.content and "You sent: " in result.content
    assert result.call.id not in [call.id for call in trip.book.started]


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_call_never_runs_and_the_reason_is_told(world: World, schedule: Schedule, name: str) -> None:
    person = Asked([Answer(Decision.NO, "not today")])
    trip = world.journey(name, person=person, permissions=Permissions(ask=frozenset({name})))
    given = TABLE[name].right
    if name == "list_files" and schedule is Schedule.BESIDE:
        [result] = trip.send((name, given), ("read_file", {"path": "a.txt"})).results[:1]
    else:
        [result] = send(trip, schedule, name, given)
    assert result.outcome is Outcome.REFUSED
    assert "not today" in result.content
    assert result.call.id not in [call.id for call in trip.book.started]


@pytest.mark.parametrize("name", NAMES)
def test_without_anybody_to_ask_an_ask_rule_refuses(world: World, schedule: Schedule, name: str) -> None:
    trip = world.journey(name, permissions=Permissions(ask=frozenset({name})))
    [result] = send(trip, schedule, name, TABLE[name].right)
    assert result.outcome is Outcome.UNASKED
    assert result.call.id not in [call.id for call in trip.book.started]


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_call_says_why_and_may_be_made_again(world: World, schedule: Schedule, name: str) -> None:
    trip = world.journey(name)
    for _ in range(2):
        [result] = send(trip, schedule, name, TABLE[name].failing)
        assert result.outcome in (Outcome.FAILED, Outcome.INVALID)
        assert TABLE[name].failure in result.content
    [right] = send(trip, schedule, name, TABLE[name].right)
    assert right.outcome is Outcome.OK, right.content


@pytest.mark.parametrize("name", NAMES)
def test_a_looping_call_is_told_then_refused_then_ends_the_turn(world: World, name: str) -> None:
    trip = world.journey(name)
    tool, given = world.tools[name], TABLE[name].right
    if tool.repeat:
        given = {}
        replies = [trip.send((name, given)) for _ in range(20)]
        assert [bool(reply.stopped) for reply in replies].index(True) == 19, "the twentieth equal result ends the turn"
        assert "5 times the same result" in replies[4].results[0].content
        return
    replies = [trip.send((name, given)) for _ in range(4)]
    second = Outcome.OK if tool.readonly else Outcome.REPEATED
    outcomes = [reply.results[0].outcome for reply in replies]
    assert outcomes == [Outcome.OK, second, Outcome.STOPPED, Outcome.STOPPED]
    assert [bool(reply.stopped) for reply in replies] == [False, False, False, True]
    assert TABLE[name].says in (replies[3].answer or "")
