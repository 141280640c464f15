"""When a step of mm itself breaks: each call is answered once, none looks like a success, none runs unchecked."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mm.config.schema import Hook, HookEvent, OnError, Place
from mm.dispatch import hooks, schedule
from mm.dispatch.names import Names
from mm.dispatch.open_call import OpenCall
from mm.dispatch.person import Answer, ConsentRequest
from mm.errors import MMError
from mm.events import Notice
from mm.messages import Outcome, ToolCall
from mm.schemas.schema import Schema
from mm.tools.builtin import Builtin
from mm.tools.spec import Arguments, Captured, Kind, Output, Plan, Tool
from tests.journey import Asked, Book, Journey, acting

PLACE = Place(Path("agent.yaml"), 3, 5)


class Acts:
    """What a tool does, and how often it did."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, arguments: Any, run: Any) -> Output:
        self.count += 1
        return Output.text(Outcome.OK, "done")


def unplanned(arguments: Arguments) -> Plan:
    raise ImportError("no module named wasmtime")


def no_folder() -> Path:
    raise MMError("`/cache` belongs to another user, so mm does not use it.", "Remove it, or set MM_HOME.")


class BrokenPerson(Asked):
    def decide(self, request: ConsentRequest) -> Answer:
        raise ValueError("the dialog broke")


class FullBook(Book):
    def call_started(self, call: ToolCall) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def with_broken_plan(folder: Path, act: Acts) -> Journey:
    made = Builtin("act", "Acts.", {}, unplanned, lambda call, run: act(call.arguments, run))
    return Journey(folder, [made.tool()])


def with_a_wrong_record(folder: Path, act: Acts) -> Journey:
    return Journey(folder, [Tool("act", Kind.COMMAND, "Acts.", Schema({}), spec=None)])


BROKEN: dict[str, tuple[Callable[[Path, Acts], Journey], str]] = {
    "plan": (with_broken_plan, "ImportError: no module named wasmtime"),
    "record": (with_a_wrong_record, "AssertionError"),
    "spill": (
        lambda folder, act: Journey(folder, [acting("act", act)], spill=no_folder),
        "`/cache` belongs to another user, so mm does not use it. Remove it, or set MM_HOME",
    ),
    "person": (
        lambda folder, act: Journey(folder, [acting("act", act)], yolo=False, person=BrokenPerson()),
        "ValueError: the dialog broke",
    ),
    "journal": (
        lambda folder, act: Journey(folder, [acting("act", act)], book=FullBook()),
        "No space left on device",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("beside", [False, True])
def test_a_call_is_answered_and_never_run_when_a_step_before_the_run_breaks(
    tmp_path: Path, broken: str, beside: bool
) -> None:
    act = Acts()
    make, words = BROKEN[broken]
    trip = make(tmp_path, act)
    trip.tools[0] = replace(trip.tools[0], readonly=beside)
    answered = trip.send(("act", {"n": 1}), ("act", {"n": 2}))
    assert [result.outcome for result in answered.results] == [Outcome.FAILED, Outcome.FAILED]
    assert all("nothing ran" in result.content and words in result.content for result in answered.results)
    assert [result.call.id for result in trip.book.results] == ["call0", "call1"]
    assert act.count == 0


def test_without_a_thread_left_a_call_is_answered_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = Acts()
    work_beside, refused = schedule.work_beside, ["one"]

    def no_thread(work: Callable[[], None]) -> None:
        if refused:
            refused.clear()
            raise RuntimeError("can't start new thread")
        work_beside(work)

    monkeypatch.setattr(schedule, "work_beside", no_thread)
    answered = Journey(tmp_path, [acting("act", act, readonly=True)]).send(("act", {"n": 1}), ("act", {"n": 2}))
    assert [result.outcome for result in answered.results] == [Outcome.FAILED, Outcome.OK]
    assert "nothing ran: RuntimeError: can't start new thread" in answered.results[0].content
    assert act.count == 1


def test_a_call_that_could_not_be_run_is_shown_to_no_hook_and_lets_no_other_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = Acts()
    seen = tmp_path / "seen"
    watching = Hook(HookEvent.AFTER, "look", ("touch", str(seen)), PLACE)
    trip = Journey(tmp_path, [acting("act", act), acting("look", act)], hooks=[watching])
    assert trip.one("act", {}).outcome is Outcome.OK

    def no_thread(work: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(schedule, "work_beside", no_thread)
        assert trip.one("look", {}).outcome is Outcome.FAILED
    assert not seen.exists()
    assert trip.one("act", {}).outcome is Outcome.REPEATED
    assert act.count == 1


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(1)])
def test_a_call_that_breaks_while_it_runs_is_answered_and_not_simply_run_again(
    tmp_path: Path, error: BaseException
) -> None:
    count = 0

    def die(arguments: Any, run: Any) -> Output:
        nonlocal count
        count += 1
        raise error

    trip = Journey(tmp_path, [acting("act", die)])
    first, again = trip.one("act", {}), trip.one("act", {})
    assert first.outcome is Outcome.KILLED and type(error).__name__ in first.content
    assert "unknown" in first.content
    assert (again.outcome, count) == (Outcome.STOPPED, 1)


def unreadable(folder: Path) -> Output:
    """Output whose file cannot be read, as when it was taken away."""
    size = folder.stat().st_size
    return Output(Outcome.OK, Captured(head=b"x", tail=b"y", size=size, file=folder))


def test_an_output_that_gets_lost_is_no_success_no_answer_and_no_reason_to_run_again(tmp_path: Path) -> None:
    lost = acting("act", lambda arguments, run: unreadable(tmp_path), final=True)
    trip = Journey(tmp_path, [lost])
    answered = trip.send(("act", {}))
    assert answered.answer is None
    assert answered.results[0].outcome is Outcome.FAILED
    assert "ran, but its output got lost: IsADirectoryError" in answered.results[0].content
    again = trip.one("act", {})
    assert again.outcome is Outcome.REPEATED and "got lost" in again.content
    assert len(trip.book.started) == 1


def test_a_folder_for_long_outputs_that_is_gone_later_costs_only_the_file(tmp_path: Path) -> None:
    folders = iter([tmp_path])

    def spill() -> Path:
        return next(folders, None) or no_folder()

    long = acting("act", lambda arguments, run: Output.text(Outcome.OK, "x" * 50_000))
    result = Journey(tmp_path, [long], spill=spill, output_limit=1000).one("act", {})
    assert result.outcome is Outcome.OK
    assert "characters left out here ...]" in result.content


def guard(event: HookEvent, on_error: OnError = OnError.BLOCK) -> Hook:
    return Hook(event, "act", ("true",), PLACE, on_error=on_error)


@pytest.fixture
def broken_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_descriptor(*given: Any, **named: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(hooks, "run_program", no_descriptor)


@pytest.mark.usefixtures("broken_hooks")
def test_a_hook_that_mm_cannot_run_guards_all_the_same(tmp_path: Path) -> None:
    act = Acts()
    before = Journey(tmp_path, [acting("act", act)], hooks=[guard(HookEvent.BEFORE)]).one("act", {})
    assert (before.outcome, act.count) == (Outcome.DENIED, 0)
    assert "agent.yaml:3:5" in before.content and "Too many open files" in before.content
    after = Journey(tmp_path, [acting("act", act)], hooks=[guard(HookEvent.AFTER)]).one("act", {})
    assert (after.outcome, act.count) == (Outcome.OK, 1)
    assert "withheld" in after.content and "done" not in after.content


@pytest.mark.usefixtures("broken_hooks")
def test_a_relaxed_hook_that_mm_cannot_run_is_told_to_the_user(tmp_path: Path) -> None:
    trip = Journey(tmp_path, [acting("act", Acts())], hooks=[guard(HookEvent.BEFORE, OnError.ALLOW)])
    assert trip.one("act", {}).outcome is Outcome.OK
    assert any(isinstance(event, Notice) and "Too many open files" in event.text for event in trip.events)


def test_only_so_many_calls_run_side_by_side(tmp_path: Path) -> None:
    tool = acting("look", Acts(), readonly=True)
    opened = [OpenCall(ToolCall(f"call{number}", "look", "{}"), number) for number in range(300)]
    made = list(schedule.groups(opened, Names([tool])))
    assert [item for group in made for item in group] == opened
    assert {len(group) for group in made[:-1]} == {schedule.MOST_BESIDE}
    assert len(made[-1]) <= schedule.MOST_BESIDE
