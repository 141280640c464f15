"""`mm tools run`: what a person is told of a call that did not run."""

from __future__ import annotations

from tests.cli.running import Place, logging_tool


def test_a_person_is_told_what_is_wrong_as_it_was_typed_and_not_to_send_the_call_again(place: Place) -> None:
    tool = logging_tool(place, "say")
    tool["parameters"]["what"]["enum"] = ["über", "…"]
    place.agent([], [tool])
    ran = place.mm("tools", "run", "say", "what=größer…", "-a", "agent.yaml", "-y")
    assert ran.code == 2
    assert "- `what` must be one of" in ran.err
    assert 'You sent: {"what": "größer…"}' in ran.err
    assert ran.err.splitlines()[-1].startswith("A correct call of `say` has these arguments:")
    assert place.log() == []


def test_a_value_reaches_the_tool_letter_by_letter(place: Place) -> None:
    place.agent([], [logging_tool(place, "say")])
    ran = place.mm("tools", "run", "say", "what=größer… 👍", "-a", "agent.yaml", "-y")
    assert (ran.code, ran.out) == (0, "done größer… 👍\n")
