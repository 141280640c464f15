"""Sub-agents in a whole run: which model they ask, and what of a refusal in them reaches the turn outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mm.agent import Agent
from mm.app.assembly import Assembly
from mm.app.delegation import MOST_DELEGATED
from mm.config.load import load
from mm.dispatch.person import Answer, Decision
from mm.errors import ExitCode
from mm.interrupt import Interrupt
from mm.messages import Outcome
from mm.models.scripted import ScriptedModel, Step
from mm.options import Options
from tests.cli.running import Place, call, logging_tool
from tests.journey import Asked


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Place(tmp_path / "work", tmp_path / "home")


@contextmanager
def agent_of(place: Place, *steps: Any, person: Asked | None = None, **keys: Any) -> Iterator[Agent]:
    """An agent that may delegate and call `act`, with this script."""
    file = place.agent(list(steps), [logging_tool(place, "act")], builtins=["delegate_task"], **keys)
    assembly = Assembly(
        load(file, environ={}),
        Options(no_session=True),
        interrupt=Interrupt(),
        listen=lambda event: None,
        person=person,
    )
    agent = assembly.agent()
    try:
        yield agent
    finally:
        agent.close()
        assembly.close()


def delegate(task: str) -> Step:
    return Step.calling("delegate_task", {"task": task})


def test_sub_agents_ask_the_model_that_the_conversation_goes_on_with_and_leave_it_open(place: Place) -> None:
    with agent_of(place, "the model of the start") as agent:
        model = ScriptedModel([delegate("Count."), "Three.", delegate("Count again."), "Four.", "Three, then four."])
        agent.use_model(model)
        place.folder.joinpath("script.yaml").unlink()  # a model that is made anew would miss it
        end = agent.turn("How many?")
        assert (end.code, end.text) == (ExitCode.DONE, "Three, then four.")
        assert [result.answer for result in end.results] == ["Three.", "Four."]
        asked = [messages[-1].content for messages, _ in model.requests]
        assert (asked[1], asked[3]) == ("Count.", "Count again.")
        assert not model.closed
    assert model.closed


def test_sub_agents_are_counted_anew_with_each_message(place: Place) -> None:
    def round_of(*tasks: str) -> list[Any]:
        return [step for task in tasks for step in (call("delegate_task", task=task), f"Done: {task}")]

    many = [f"task {number}" for number in range(MOST_DELEGATED)]
    too_many = [*round_of(*many), call("delegate_task", task="one more"), "Enough."]
    with agent_of(place, *too_many, *round_of("next"), "Went on.", *too_many) as agent:
        first, second, third = (agent.turn(text) for text in ("Do it all.", "Go on.", "Once more."))
        assert [result.outcome for result in first.results] == [*[Outcome.OK] * MOST_DELEGATED, Outcome.FAILED]
        assert "10 sub-agents have run for this message already" in first.results[-1].answer
        assert [result.answer for result in second.results] == ["Done: next"]
        assert [result.outcome for result in third.results] == [result.outcome for result in first.results]


def test_sub_agents_of_sub_agents_count_for_the_message_too(place: Place) -> None:
    inner: list[Any] = []
    for number in range(MOST_DELEGATED):
        inner += [call("delegate_task", task=f"task {number}"), f"Done: {number}"]
    inner[-1] = "Nine were done."  # the last one is not started, so that this is said by who wanted it
    with agent_of(
        place, call("delegate_task", task="Delegate."), *inner, call("delegate_task", task="more"), "Enough."
    ) as agent:
        end = agent.turn("Do it all.")
        assert [result.outcome for result in end.results] == [Outcome.OK, Outcome.FAILED]
        assert end.text == "Enough."


def test_a_sub_agent_reckons_with_the_context_of_that_model(place: Place) -> None:
    small = {"name": "m", "base_url": "http://127.0.0.1:9/v1", "context": 512}
    with agent_of(place, model=small) as agent:
        agent.use_model(ScriptedModel([delegate("x " * 4000), "It fits.", "Done."]))
        end = agent.turn("Go.")
        assert [result.answer for result in end.results] == ["It fits."]


def test_a_call_that_nobody_could_be_asked_about_in_a_sub_agent_counts_for_the_turn(place: Place) -> None:
    steps = [call("delegate_task", task="Act."), call("act", what="x"), "I may not.", "It could not be done."]
    place.agent(steps, [logging_tool(place, "act")], builtins=["delegate_task"])
    ran = place.mm("-p", "act", "-a", "agent.yaml", "--output-format", "json")
    said = json.loads(ran.out)
    assert (ran.code, said["result"], said["subtype"]) == (4, "It could not be done.", "error_permission")
    assert [(one["tool_name"], one["outcome"]) for one in said["permission_denials"]] == [("act", "unasked")]
    assert [(one["name"], one["outcome"]) for one in said["tool_calls"]] == [("delegate_task", "ok")]
    assert "--allow act" in ran.err and place.log() == []


def test_what_a_sub_agent_of_a_sub_agent_was_refused_counts_too(place: Place) -> None:
    steps = [call("delegate_task", task="Delegate."), call("delegate_task", task="Act."), call("act", what="x")]
    with agent_of(place, *steps, "No.", "Not done.", "Nothing was done.") as agent:
        end = agent.turn("act")
        assert (end.code, end.text) == (ExitCode.REFUSED, "Nothing was done.")
        assert [(one.call.name, one.outcome) for one in end.denials] == [("act", Outcome.UNASKED)]


def test_what_a_person_refused_in_a_sub_agent_is_not_asked_about_outside(place: Place) -> None:
    person = Asked([Answer(Decision.NO)])
    act = call("act", what="x")
    steps = [call("delegate_task", task="Act."), act, "It was refused.", act, "Nobody acts."]
    with agent_of(place, *steps, act, "Done.", person=person) as agent:
        end = agent.turn("act")
        assert [result.outcome for result in end.results] == [Outcome.OK, Outcome.REFUSED]
        assert [(one.call.name, one.outcome) for one in end.denials] == 2 * [("act", Outcome.REFUSED)]
        assert (len(person.requests), end.code, place.log()) == (1, ExitCode.DONE, [])
        agent.turn("Well, do it.")
        assert (len(person.requests), place.log()) == (2, ["act x"]), "a new message starts afresh"


def test_what_a_person_refused_is_not_asked_about_in_a_sub_agent(place: Place) -> None:
    person = Asked([Answer(Decision.NO)])
    act = call("act", what="x")
    with agent_of(
        place, act, call("delegate_task", task="Act."), act, "It was refused.", "Nobody acts.", person=person
    ) as agent:
        end = agent.turn("act")
        assert [result.outcome for result in end.results] == [Outcome.REFUSED, Outcome.OK]
        assert (len(person.requests), place.log()) == (1, [])
