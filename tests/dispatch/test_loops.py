"""The repeat check and the loop detector."""

from __future__ import annotations

from typing import Any

import pytest

from mm.dispatch.loops import Identity, Loops, Ruling
from mm.messages import Outcome
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool


def tool(name: str = "act", **rest: Any) -> Tool:
    return Tool(name=name, kind=Kind.BUILTIN, description="", schema=Schema({}), spec=None, **rest)


def identity(name: str, arguments: str = "{}") -> Identity:
    return Identity(name, arguments)


def call(loops: Loops, name: str, result: str = "same", *, polls: bool = False) -> tuple[Ruling, str]:
    """One call by the book: judged, then answered; a refused one counts with its earlier result."""
    who = identity(name)
    ruling = loops.rule(who)
    notice = loops.record(
        who, result, polls=polls, order=0, answer=f"{name} printed", as_before=ruling is not Ruling.GO_ON
    )
    return ruling, notice


def test_same_call_same_result_is_noticed_refused_and_ends_the_turn() -> None:
    loops = Loops()
    said = [call(loops, "a") for _ in range(4)]
    assert [ruling for ruling, _ in said] == [Ruling.GO_ON, Ruling.GO_ON, Ruling.REFUSE, Ruling.END_TURN]
    assert [bool(notice) for _, notice in said[:2]] == [False, True]


def test_changing_results_are_no_loop() -> None:
    """(C109) Polling a job whose progress changes goes on."""
    loops = Loops()
    assert all(call(loops, "status", f"{n}%")[0] is Ruling.GO_ON for n in range(40))


def test_a_changed_result_resets_the_count() -> None:
    loops = Loops()
    for result in ("x", "x", "y"):
        call(loops, "a", result) if loops.rule(identity("a")) is Ruling.GO_ON else loops.record(
            identity("a"), result, polls=False, order=0, answer=None
        )
    assert call(loops, "a", "y")[0] is Ruling.GO_ON


@pytest.mark.parametrize("cycle", ["ab", "abc", "abcd", "aab"])
def test_cycles_up_to_four_calls_are_seen(cycle: str) -> None:
    loops = Loops()
    rulings = [call(loops, name)[0] for name in cycle * 4]
    length = len(cycle)
    assert set(rulings[: 2 * length]) == {Ruling.GO_ON}
    assert set(rulings[2 * length : 3 * length]) == {Ruling.REFUSE}
    assert rulings[3 * length] is Ruling.END_TURN


def test_the_second_pass_of_a_cycle_is_noticed_once_it_is_whole() -> None:
    loops = Loops()
    notices = [call(loops, name)[1] for name in "abab"]
    assert [bool(notice) for notice in notices] == [False, False, False, True]


def test_five_different_calls_in_turn_are_left_to_the_cap_on_rounds() -> None:
    loops = Loops()
    assert all(call(loops, name)[0] is Ruling.GO_ON for name in "abcde" * 4)


def test_a_tool_made_for_polling_is_noticed_every_fifth_time_and_ends_at_the_twentieth() -> None:
    loops = Loops()
    said = [(*call(loops, "poll", polls=True), loops.has_polled_out) for _ in range(20)]
    assert {ruling for ruling, _, _ in said} == {Ruling.GO_ON}, "the twentieth result may be another"
    assert [n + 1 for n, (_, notice, _) in enumerate(said) if notice] == [5, 10, 15, 20]
    assert [n + 1 for n, (_, _, over) in enumerate(said) if over] == [20]


def test_polling_whose_twentieth_result_is_another_goes_on() -> None:
    loops = Loops()
    for _ in range(19):
        call(loops, "poll", polls=True)
    call(loops, "poll", "done", polls=True)
    assert not loops.has_polled_out


def test_a_cycle_with_polling_in_it_ends_at_its_twentieth_pass() -> None:
    loops = Loops()
    over = []
    for number in range(1, 41):
        call(loops, "wait" if number % 2 == 0 else "poll", polls=number % 2 == 1)
        over += [number] if loops.has_polled_out else []
    assert over == [40]


def test_polling_with_another_call_in_between_is_polling_still() -> None:
    loops = Loops()
    for _ in range(10):
        assert call(loops, "poll", polls=True)[0] is Ruling.GO_ON
        assert call(loops, "wait")[0] is Ruling.GO_ON


def test_a_new_turn_starts_afresh() -> None:
    loops = Loops()
    for _ in range(3):
        call(loops, "a")
    loops.start_turn()
    assert call(loops, "a")[0] is Ruling.GO_ON


def test_the_call_that_closes_the_circle_gives_the_answer_if_it_had_succeeded() -> None:
    loops = Loops()
    for _ in range(3):
        call(loops, "a")
    assert loops.circle_answer(identity("a")) == "a printed"
    assert loops.circle_answer(identity("never called")) is None


def test_calls_of_one_group_are_put_into_the_models_order() -> None:
    loops = Loops()
    for first, second in ((0, 1), (1, 0)):
        loops.start_reply()
        for order in (first, second):
            loops.record(identity("ab"[order]), "same", polls=False, order=order, answer=None)
        loops.settle()
    assert loops.rule(identity("a")) is Ruling.REFUSE, "a b, then b a that ended the other way round"


def repeated(loops: Loops, made: Tool, who: Identity) -> Outcome | None:
    found = loops.repeated(made, who)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        (Outcome.OK, Outcome.REPEATED),
        (Outcome.FAILED, None),
        (Outcome.TIMED_OUT, Outcome.STOPPED),
        (Outcome.KILLED, Outcome.STOPPED),
    ],
)
def test_what_became_of_a_call_decides_whether_it_runs_again(earlier: Outcome, expected: Outcome | None) -> None:
    loops = Loops()
    loops.remember(tool(), identity("act"), earlier, "it was done")
    assert repeated(loops, tool(), identity("act")) is expected


def test_the_earlier_result_is_given_again() -> None:
    loops = Loops()
    loops.remember(tool(), identity("act"), Outcome.OK, "published 1.4.2")
    found = loops.repeated(tool(), identity("act"))
    assert found is not None and "published 1.4.2" in found[1] and "Not run again" in found[1]


def test_readonly_calls_in_between_do_not_count_but_others_do() -> None:
    loops = Loops()
    loops.remember(tool(), identity("act"), Outcome.OK, "")
    loops.remember(tool("look", readonly=True), identity("look"), Outcome.OK, "")
    assert repeated(loops, tool(), identity("act")) is Outcome.REPEATED
    loops.remember(tool("other"), identity("other"), Outcome.OK, "")
    assert repeated(loops, tool(), identity("act")) is None


def test_other_arguments_readonly_tools_and_polling_tools_run() -> None:
    loops = Loops()
    loops.remember(tool(), identity("act"), Outcome.OK, "")
    assert repeated(loops, tool(), identity("act", '{"n":1}')) is None
    assert repeated(loops, tool(readonly=True), identity("act")) is None
    assert repeated(loops, tool(repeat=True), identity("act")) is None


def test_a_no_holds_for_the_turn() -> None:
    loops = Loops()
    loops.remember_refusal(identity("act"))
    assert repeated(loops, tool(readonly=True), identity("act")) is Outcome.REFUSED
    loops.start_turn()
    assert repeated(loops, tool(readonly=True), identity("act")) is None
