"""The journey of one call, for every kind of tool and every schedule: the same slip is treated the same everywhere."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mm.config.schema import (
    CommandTool,
    Grant,
    Hook,
    HookEvent,
    Literal,
    OnError,
    Permissions,
    Place,
    Slot,
    Template,
    WasmTool,
)
from mm.dispatch.person import Answer, Decision
from mm.events import CallAnnounced, CallEnded, Notice
from mm.messages import Outcome, ToolCall
from mm.session.history import History
from mm.session.records import Record, new_session
from mm.session.store import Store
from mm.tools.spec import Kind, Need, Output, Tool
from tests.case_list import CASES, Case, expected
from tests.journey import KINDS, Asked, Gathering, Journey, Over, Schedule, acting, echo_tool, failing_tool

SCHEMA = {
    "type": "object",
    "properties": {"limit": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind | Over:
    chosen: Kind | Over = request.param
    return chosen


@pytest.fixture(params=list(Schedule))
def schedule(request: pytest.FixtureRequest) -> Schedule:
    return Schedule(request.param)


def journey(folder: Path, kind: Kind | Over, schedule: Schedule, schema: Any = SCHEMA, **rest: Any) -> Journey:
    beside = schedule is Schedule.BESIDE
    return Journey(folder, [echo_tool(kind, folder, schema, readonly=beside, repeat=True)], **rest)


def send(trip: Journey, schedule: Schedule, given: Any) -> list[Any]:
    """One call, or three at once."""
    count = 3 if schedule is Schedule.BESIDE else 1
    return list(trip.send(*[("echo", given)] * count).results)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_case_holds_for_every_kind_and_schedule(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule, case: Case
) -> None:
    trip = journey(tmp_path, kind, schedule, case.schema)
    results = send(trip, schedule, case.raw)
    for result in results:
        ran = result.outcome is Outcome.OK
        received = json.loads(result.answer) if ran else None
        assert expected(case, received, result.content), f"{case.why}\n{result.outcome}: {result.content}"


def test_a_right_call_runs_with_its_arguments(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    for result in send(journey(tmp_path, kind, schedule), schedule, {"name": "a", "limit": 3}):
        assert result.outcome is Outcome.OK
        assert json.loads(result.answer) == {"name": "a", "limit": 3}


def test_a_repaired_call_runs_and_the_reply_says_what_was_repaired(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    for result in send(journey(tmp_path, kind, schedule), schedule, {"name": "a", "limit": "3"}):
        assert json.loads(result.answer) == {"name": "a", "limit": 3}
        assert 'limit="3"' in result.content


def test_an_invalid_call_is_answered_in_words_and_never_runs(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    trip = journey(tmp_path, kind, schedule)
    for result in send(trip, schedule, {"name": "a", "limit": "three"}):
        assert result.outcome is Outcome.INVALID
        assert "limit" in result.content and "three" in result.content
    assert trip.book.started == []


def test_a_refused_call_never_runs_and_the_reason_reaches_the_model(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    person = Asked([Answer(Decision.NO, "use the other one")] * 3)
    trip = journey(tmp_path, kind, schedule, yolo=False, person=person)
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.REFUSED
    assert "use the other one" in trip.book.results[0].content
    assert trip.book.started == []
    assert len(person.requests) == 1, "the same call is not asked about again after a no"


def test_a_call_that_nobody_can_be_asked_about_never_runs(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    trip = journey(tmp_path, kind, schedule, yolo=False)
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.UNASKED
    assert trip.book.started == []
    assert any(isinstance(event, Notice) and "--allow echo" in event.text for event in trip.events)


def test_what_is_approved_is_what_runs(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    """(C104) Conversion comes before the question, and the plan that was shown is the plan that runs."""
    person = Asked()
    trip = journey(tmp_path, kind, schedule, yolo=False, person=person)
    for result in send(trip, schedule, {"name": "a", "limit": "7"}):
        assert result.outcome is Outcome.OK
    assert all(request.arguments == {"name": "a", "limit": 7} for request in person.requests)
    assert '"7"' not in str(person.requests[0].plan)


def test_a_deny_rule_beats_yolo(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    trip = journey(tmp_path, kind, schedule, permissions=Permissions(deny=frozenset({"echo"})))
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.DENIED
    assert trip.book.started == []


def script(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def hook(folder: Path, text: str, event: HookEvent = HookEvent.BEFORE) -> Hook:
    return Hook(event, "echo", (script(folder, f"{event}.sh", text),), Place(folder / "agent.yaml", 1, 1))


def test_a_hook_that_fails_blocks_the_call(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    """(C108) No hook, no run."""
    trip = journey(tmp_path, kind, schedule, hooks=[hook(tmp_path, "exit 1")])
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.DENIED
    assert trip.book.started == []


def test_what_a_hook_rewrites_is_converted_and_checked_again(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    good = hook(tmp_path, """echo '{"updatedInput": {"name": "b", "limit": "4"}}'""")
    trip = journey(tmp_path, kind, schedule, hooks=[good])
    for result in send(trip, schedule, {"name": "a"}):
        assert json.loads(result.answer) == {"name": "b", "limit": 4}
    assert {call.arguments for call in trip.book.started} == {'{"name": "b", "limit": 4}'}, "as it ran"
    bad = hook(tmp_path, """echo '{"updatedInput": {"name": "b", "limit": "none"}}'""")
    trip = journey(tmp_path, kind, schedule, hooks=[bad])
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.INVALID
    assert trip.book.started == []


def test_a_person_is_asked_about_what_the_hook_made_of_the_call(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    """(C104) Hooks come before consent."""
    person = Asked()
    rewrite = hook(tmp_path, """echo '{"updatedInput": {"name": "b"}}'""")
    trip = journey(tmp_path, kind, schedule, yolo=False, person=person, hooks=[rewrite])
    send(trip, schedule, {"name": "a"})
    assert all(request.arguments == {"name": "b"} for request in person.requests)
    assert person.requests


def test_a_hook_can_have_a_person_asked_or_answer_for_one(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    """Beside yolo "ask" asks; without it "allow" needs nobody, but never beats an ask rule."""
    ask = hook(tmp_path, """echo '{"permissionDecision": "ask"}'""")
    for result in send(journey(tmp_path, kind, schedule, hooks=[ask]), schedule, {"name": "a"}):
        assert result.outcome is Outcome.UNASKED
    allow = hook(tmp_path, """echo '{"permissionDecision": "allow"}'""")
    for result in send(journey(tmp_path, kind, schedule, hooks=[allow], yolo=False), schedule, {"name": "a"}):
        assert result.outcome is Outcome.OK
    rule = Permissions(ask=frozenset({"echo"}))
    trip = journey(tmp_path, kind, schedule, hooks=[allow], yolo=False, permissions=rule)
    for result in send(trip, schedule, {"name": "a"}):
        assert result.outcome is Outcome.UNASKED


def test_a_hook_after_the_call_that_fails_withholds_the_output(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    after = hook(tmp_path, "echo private >&2; exit 2", HookEvent.AFTER)
    trip = journey(tmp_path, kind, schedule, hooks=[after])
    for result in send(trip, schedule, {"name": "secret-output"}):
        assert "secret-output" not in result.content and "secret-output" not in result.answer
        assert "ran; its output is withheld" in result.content


def test_a_hook_after_the_call_does_not_see_calls_that_did_not_run(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    seen = tmp_path / "seen"
    after = hook(tmp_path, f"cat >> {seen}", HookEvent.AFTER)
    trip = journey(tmp_path, kind, schedule, hooks=[after])
    send(trip, schedule, {"limit": 1})
    assert not seen.exists()
    send(trip, schedule, {"name": "a"})
    assert '"tool_response"' in seen.read_text()


def test_a_failing_call_says_so_and_may_be_made_again(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    beside = schedule is Schedule.BESIDE
    trip = Journey(tmp_path, [replace(failing_tool(kind, tmp_path), readonly=beside)])
    calls = [("fail", {})] * 2
    results = trip.send(*calls).results if beside else [trip.one(*call) for call in calls]
    for result in results:
        assert result.outcome is Outcome.FAILED
        assert "no luck" in result.content
    assert len(trip.book.started) == 2


def test_a_looping_call_is_noticed_then_refused_then_ends_the_turn(
    tmp_path: Path, kind: Kind | Over, schedule: Schedule
) -> None:
    tool = echo_tool(kind, tmp_path, SCHEMA, readonly=True)
    trip = Journey(tmp_path, [tool])
    replies = [trip.send(("echo", {"name": "a"})) for _ in range(4)]
    outcomes = [reply.results[0].outcome for reply in replies]
    assert outcomes == [Outcome.OK, Outcome.OK, Outcome.STOPPED, Outcome.STOPPED]
    assert "Notice" in replies[1].results[0].content
    assert not replies[2].stopped
    assert replies[3].stopped and json.loads(replies[3].answer or "") == {"name": "a"}
    assert len(trip.book.started) == 2


def test_a_tool_that_cannot_run_fails_unasked_and_counts_as_a_loop(tmp_path: Path) -> None:
    """Other arguments would not help, so they are not what is wrong."""
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    echo = Literal("x")
    broken: dict[str, CommandTool | WasmTool] = {
        "is not installed": CommandTool(program="no-such-program", arguments=(Template((echo,)),)),
        "is not there": CommandTool(program=f"{tmp_path}/gone", arguments=()),
        "may not be executed": CommandTool(program=f"{tmp_path}/plain", arguments=()),
        "working directory": CommandTool(program="cat", arguments=(), cwd=tmp_path / "gone"),
        "one argument may have at most": CommandTool(program="cat", arguments=(Template((Literal("x" * 200_000),)),)),
        "does not exist": WasmTool(module=tmp_path / "gone.wasm"),
        "is not a folder": WasmTool(module=tmp_path / "echo.wasm", grants=(Grant(tmp_path / "plain", "p", False),)),
    }
    made = {kind: echo_tool(kind, tmp_path, SCHEMA) for kind in (Kind.COMMAND, Kind.WASM)}
    for says, spec in broken.items():
        person = Asked()
        tool = replace(made[Kind.WASM if isinstance(spec, WasmTool) else Kind.COMMAND], spec=spec)
        trip = Journey(tmp_path, [tool], yolo=False, person=person)
        replies = [trip.send(("echo", {"name": "a"})) for _ in range(4)]
        outcomes = [reply.results[0].outcome for reply in replies]
        assert outcomes == [Outcome.FAILED, Outcome.FAILED, Outcome.STOPPED, Outcome.STOPPED], says
        assert says in replies[0].results[0].content
        assert [bool(reply.stopped) for reply in replies] == [False, False, False, True]
        assert (trip.book.started, person.requests) == ([], [])


def test_a_tool_that_could_not_run_lets_no_call_be_run_again(tmp_path: Path) -> None:
    """It had no effect, so it stands between nothing."""
    echo = echo_tool(Kind.COMMAND, tmp_path, SCHEMA)
    gone = replace(echo, name="gone", spec=CommandTool(program="no-such-program", arguments=()))
    trip = Journey(tmp_path, [echo, gone])
    outcomes = [trip.one(name, {"name": "a"}).outcome for name in ("echo", "gone", "echo")]
    assert outcomes == [Outcome.OK, Outcome.FAILED, Outcome.REPEATED]


def test_a_value_that_no_argument_can_carry_is_the_arguments_fault(tmp_path: Path) -> None:
    spec = CommandTool(program="echo", arguments=(Template((Slot("name"),)),))
    trip = Journey(tmp_path, [replace(echo_tool(Kind.COMMAND, tmp_path, SCHEMA), spec=spec)])
    for value in ("--help", "x" * 200_000):
        assert trip.one("echo", {"name": value}).outcome is Outcome.INVALID


def test_invalid_calls_are_counted_as_a_loop(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    """(C111)"""
    trip = journey(tmp_path, kind, schedule)
    replies = [trip.send(("echo", '{"limit": ')) for _ in range(4)]
    assert [bool(reply.stopped) for reply in replies] == [False, False, False, True]


def test_a_call_that_just_succeeded_is_not_run_again(tmp_path: Path, kind: Kind | Over) -> None:
    trip = Journey(tmp_path, [echo_tool(kind, tmp_path, SCHEMA)])
    first, second = trip.one("echo", {"name": "a", "limit": 1}), trip.one("echo", {"limit": "1", "name": "a"})
    assert first.outcome is Outcome.OK
    assert second.outcome is Outcome.REPEATED
    assert first.answer.strip() in second.content
    assert len(trip.book.started) == 1


def test_the_repeat_check_comes_before_consent(tmp_path: Path, kind: Kind | Over) -> None:
    person = Asked()
    trip = Journey(tmp_path, [echo_tool(kind, tmp_path, SCHEMA)], yolo=False, person=person)
    trip.one("echo", {"name": "a"})
    trip.one("echo", {"name": "a"})
    assert len(person.requests) == 1


def test_long_output_is_cut_for_every_kind(tmp_path: Path, kind: Kind | Over, schedule: Schedule) -> None:
    trip = journey(tmp_path, kind, schedule, output_limit=1000)
    for result in send(trip, schedule, {"name": "x" * 50_000}):
        assert len(result.content) < 2000
        assert str(tmp_path / "spill") in result.content


def test_every_call_gets_one_reply_in_the_models_order(tmp_path: Path) -> None:
    """Whatever happens to the calls, and whichever ends first."""
    first_may_end = threading.Event()

    def slow(arguments: Any, run: Any) -> Output:
        assert first_may_end.wait(10)
        return Output.text(Outcome.OK, "slow")

    def quick(arguments: Any, run: Any) -> Output:
        first_may_end.set()
        return Output.text(Outcome.OK, "quick")

    tools = [acting("slow", slow, readonly=True), acting("quick", quick, readonly=True)]
    trip = Journey(tmp_path, tools)
    answered = trip.send(("slow", {}), ("quick", {}), ("nothing", {}), ("quick", "not json"))
    assert [result.call.id for result in answered.results] == ["call0", "call1", "call2", "call3"]
    assert [result.outcome for result in answered.results] == [
        Outcome.OK,
        Outcome.OK,
        Outcome.UNKNOWN,
        Outcome.INVALID,
    ]
    assert [result.answer for result in trip.book.results][:2] == ["quick", "slow"], "committed as they end"
    assert len(trip.book.results) == 4


def test_only_tools_without_effect_run_side_by_side(tmp_path: Path) -> None:
    """Those that do have all been approved before the first runs; another is not even looked at before its turn."""
    together = Gathering(2)
    trip = Journey(tmp_path, [])

    def write(arguments: Any, run: Any) -> Output:
        announced = sum(isinstance(event, CallAnnounced) for event in trip.events)
        return Output.text(Outcome.OK, f"{announced} announced, {len(trip.book.results)} answered")

    trip.tools += [
        acting("reads", lambda a, r: Output.text(Outcome.OK, str(together.met())), readonly=True),
        acting("writes", write),
    ]
    answered = trip.send(("reads", {"n": 1}), ("reads", {"n": 2}), ("writes", {"n": 1}), ("writes", {"n": 2}))
    assert [result.answer for result in answered.results] == [
        *("True", "True", "3 announced, 2 answered", "4 announced, 3 answered")
    ]


def test_one_call_that_dies_takes_no_sibling_along(tmp_path: Path) -> None:
    def die(arguments: Any, run: Any) -> Output:
        raise RuntimeError("broken tool")

    trip = Journey(tmp_path, [acting("die", die, readonly=True), echo_tool(Kind.COMMAND, tmp_path, {}, readonly=True)])
    answered = trip.send(("die", {}), ("echo", {"a": 1}))
    assert [result.outcome for result in answered.results] == [Outcome.KILLED, Outcome.OK]
    assert "broken tool" in answered.results[0].content


def test_an_unknown_tool_is_answered_with_the_names_and_never_fuzzily_run(tmp_path: Path) -> None:
    """(C115)"""
    trip = Journey(tmp_path, [acting("read_file", lambda a, r: Output.text(Outcome.OK, "ran"))])
    for name in ("read_fil", "", "readfile", "multi_tool_use.parallel"):
        result = trip.one(name, {})
        assert result.outcome is Outcome.UNKNOWN
        assert "read_file" in result.content
    for name in ("functions.read_file", "Read-File", "read file"):
        trip.dispatcher.loops.start_turn()
        assert trip.one(name, {}).outcome is Outcome.OK


def test_an_interrupt_answers_every_open_call(tmp_path: Path) -> None:
    trip = Journey(tmp_path, [])

    def wait(arguments: Any, run: Any) -> Output:
        trip.interrupt.stop.set()
        assert run.stop.wait(5)
        return Output.reply(Outcome.INTERRUPTED, "Interrupted.")

    trip.tools += [acting("wait", wait), acting("later", lambda a, r: Output.text(Outcome.OK, "ran"))]
    answered = trip.send(("wait", {}), ("later", {}))
    assert [result.outcome for result in answered.results] == [Outcome.INTERRUPTED, Outcome.INTERRUPTED]
    assert [call.name for call in trip.book.started] == ["wait"]


def test_a_person_who_interrupts_at_the_question_stops_the_turn(tmp_path: Path) -> None:
    class Leaves(Asked):
        def decide(self, request: Any) -> Answer:
            raise KeyboardInterrupt

    tool = acting("act", lambda a, r: Output.text(Outcome.OK, "ran"))
    trip = Journey(tmp_path, [tool], yolo=False, person=Leaves())
    answered = trip.send(("act", {"n": 1}), ("act", {"n": 2}))
    assert [result.outcome for result in answered.results] == [Outcome.INTERRUPTED, Outcome.INTERRUPTED]
    assert trip.book.started == []


def test_edited_arguments_go_the_whole_way_again_and_the_model_is_told(tmp_path: Path) -> None:
    person = Asked([Answer(Decision.EDIT, arguments='{"name": "b", "limit": "9"}'), Answer(Decision.YES)])
    trip = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, SCHEMA)], yolo=False, person=person)
    result = trip.one("echo", {"name": "a"})
    assert json.loads(result.answer) == {"name": "b", "limit": 9}
    assert "the user changed the arguments" in result.content
    assert [request.arguments for request in person.requests] == [{"name": "a"}, {"name": "b", "limit": 9}]
    written_down = {"name": "b", "limit": 9}
    assert json.loads(trip.book.started[0].arguments) == json.loads(result.call.arguments) == written_down
    assert person.requests[0].complaint('{"name": 1.5, "limit": 0}')
    assert person.requests[0].complaint('{"name": "fine"}') == ""


def test_what_is_stored_before_a_call_runs_is_what_was_approved(tmp_path: Path) -> None:
    """After kill -9 it is known what was started, and not what the model had in mind."""
    store = Store(tmp_path / "sessions.db")
    history = History(lambda: store, new_session(str(tmp_path)), warn=pytest.fail)
    stored: list[Record] = []

    def look(arguments: Any, run: Any) -> Output:
        other = Store(store.path)
        stored.extend(other.records(history.session_id)[0])
        other.close()
        return Output.text(Outcome.OK, "deployed")

    person = Asked([Answer(Decision.EDIT, arguments='{"to": "staging"}'), Answer(Decision.YES)])
    trip = Journey(tmp_path, [acting("deploy", look)], yolo=False, person=person, book=history)  # type: ignore[arg-type]
    history.add_reply("", [ToolCall("call0", "deploy", '{"to": "prod"}')])
    assert trip.one("deploy", {"to": "prod"}).outcome is Outcome.OK
    assert [record.calls[0].arguments for record in stored] == ['{"to": "prod"}', '{"to": "staging"}']
    assert stored[-1].is_running
    history.close()


def test_an_always_frees_the_siblings_that_wait(tmp_path: Path) -> None:
    person = Asked([Answer(Decision.ALWAYS_SESSION)])
    trip = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, SCHEMA)], yolo=False, person=person)
    answered = trip.send(("echo", {"name": "a"}), ("echo", {"name": "b"}))
    assert [result.outcome for result in answered.results] == [Outcome.OK, Outcome.OK]
    assert len(person.requests) == 1


def test_a_no_to_one_call_leaves_its_siblings_to_be_asked(tmp_path: Path) -> None:
    person = Asked([Answer(Decision.NO), Answer(Decision.YES)])
    trip = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, SCHEMA)], yolo=False, person=person)
    answered = trip.send(("echo", {"name": "a"}), ("echo", {"name": "b"}))
    assert [result.outcome for result in answered.results] == [Outcome.REFUSED, Outcome.OK]


def test_what_mm_itself_trusts_is_asked_about_even_under_yolo(tmp_path: Path) -> None:
    tool = acting("act", lambda a, r: Output.text(Outcome.OK, "ran"), need=Need.ALWAYS)
    assert Journey(tmp_path, [tool]).one("act", {}).outcome is Outcome.UNASKED
    person = Asked([Answer(Decision.ALWAYS_SESSION), Answer(Decision.NO)])
    trip = Journey(tmp_path, [tool], person=person)
    assert trip.one("act", {"n": 1}).outcome is Outcome.OK
    assert trip.one("act", {"n": 2}).outcome is Outcome.REFUSED, "no always for these"


def final(tmp_path: Path, outcome: Outcome) -> Tool:
    return acting("end", lambda a, r: Output.text(outcome, "the output"), final=True)


def test_a_final_tool_that_succeeds_last_ends_the_turn_with_its_output(tmp_path: Path) -> None:
    echo = echo_tool(Kind.COMMAND, tmp_path, {})
    assert Journey(tmp_path, [final(tmp_path, Outcome.OK), echo]).send(("end", {})).answer == "the output"
    assert Journey(tmp_path, [final(tmp_path, Outcome.FAILED), echo]).send(("end", {})).answer is None
    after = Journey(tmp_path, [final(tmp_path, Outcome.OK), echo]).send(("end", {}), ("echo", {}))
    assert after.answer is None, "it was not the last call"
    beside_failure = Journey(tmp_path, [final(tmp_path, Outcome.OK), echo]).send(("nothing", {}), ("end", {}))
    assert beside_failure.answer is None, "another call failed"


def test_a_final_tool_whose_output_is_withheld_leaves_the_answer_to_the_model(tmp_path: Path) -> None:
    withholds = hook(tmp_path, "echo secret >&2; exit 2", HookEvent.AFTER)
    trip = Journey(tmp_path, [final(tmp_path, Outcome.OK)], hooks=[replace(withholds, matcher="end")])
    first, again = trip.send(("end", {})), trip.send(("end", {}))
    assert (first.answer, first.results[0].outcome) == (None, Outcome.OK)
    assert "withheld: secret" in first.results[0].content
    assert (again.answer, again.results[0].outcome) == (None, Outcome.REPEATED)
    trip.send(("end", {}))
    circle = trip.send(("end", {}))
    assert circle.stopped and circle.answer is None


def test_polling_ends_the_turn_with_its_twentieth_equal_result(tmp_path: Path) -> None:
    poll = acting("poll", lambda a, r: Output.text(Outcome.OK, "still building"), repeat=True)
    trip = Journey(tmp_path, [poll, final(tmp_path, Outcome.OK)])
    answers = [trip.send(("poll", {})) for _ in range(19)]
    assert not any(answered.stopped for answered in answers)
    last = trip.send(("poll", {}), ("end", {}))
    assert last.stopped and last.answer == "still building"
    assert [result.outcome for result in last.results] == [Outcome.OK, Outcome.STOPPED]
    assert len(trip.book.started) == 20


def test_calls_of_a_reply_that_was_cut_never_run(tmp_path: Path) -> None:
    trip = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, {})])
    answered = trip.dispatcher.cut([ToolCall("a", "echo", '{"a": 1}'), ToolCall("b", "echo", '{"a"')])
    assert [result.outcome for result in answered.results] == [Outcome.CUT, Outcome.CUT]
    assert trip.book.started == []
    kinds = [type(event) for event in trip.events]
    assert kinds == [CallAnnounced, CallAnnounced, CallEnded, CallEnded], "whoever watches hears of each call"


def test_the_reason_of_a_hook_that_denies_reaches_the_model(tmp_path: Path) -> None:
    denies = hook(tmp_path, "echo 'never on a Friday' >&2; exit 2")
    result = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, {})], hooks=[denies]).one("echo", {})
    assert result.outcome is Outcome.DENIED
    assert "never on a Friday" in result.content


def test_what_a_hook_adds_reaches_the_model_and_what_it_failed_at_the_user(tmp_path: Path) -> None:
    adds = hook(tmp_path, """echo '{"additionalContext": "the cache is cold"}'""")
    fails = replace(hook(tmp_path, "exit 1", HookEvent.AFTER), on_error=OnError.ALLOW)
    trip = Journey(tmp_path, [echo_tool(Kind.COMMAND, tmp_path, {})], hooks=[adds, fails])
    result = trip.one("echo", {})
    assert result.outcome is Outcome.OK
    assert "the cache is cold" in result.content
    assert any(isinstance(event, Notice) and "on_error" in event.text for event in trip.events)


def test_after_the_circle_is_ended_nothing_more_of_the_reply_runs(tmp_path: Path) -> None:
    same = echo_tool(Kind.COMMAND, tmp_path, {}, readonly=True)
    other = acting("other", lambda a, r: Output.text(Outcome.OK, "ran"))
    trip = Journey(tmp_path, [same, other])
    for _ in range(3):
        trip.one("echo", {})
    answered = trip.send(("echo", {}), ("other", {}))
    assert answered.stopped
    assert [result.outcome for result in answered.results] == [Outcome.STOPPED, Outcome.STOPPED]
    assert all(call.name != "other" for call in trip.book.started)


def test_a_cycle_is_seen_whichever_of_the_calls_side_by_side_ends_first(tmp_path: Path) -> None:
    ended: dict[str, threading.Event] = {}

    def after(other: str, own: str) -> Callable[[Any, Any], Output]:
        def act(arguments: Any, run: Any) -> Output:
            if other in ended:
                assert ended[other].wait(10)
            ended[own].set()
            return Output.text(Outcome.OK, own)

        return act

    trip = Journey(
        tmp_path, [acting("a", after("b", "a"), readonly=True), acting("b", after("none", "b"), readonly=True)]
    )
    ended |= {"a": threading.Event(), "b": threading.Event()}
    trip.send(("a", {}), ("b", {}))  # b ends first
    ended["b"].set()
    ended["a"] = threading.Event()
    trip.send(("a", {}), ("b", {}))
    assert trip.send(("a", {}), ("b", {})).results[0].outcome is Outcome.STOPPED
