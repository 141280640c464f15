"""`mm tools run`: what a person is told of a call that did not run."""

from __future__ import annotations

import os
from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"command": ["no-such-program"]}, "`no-such-program` is not installed"),
        ({"command": ["./gone.sh"]}, "gone.sh` is not there"),
        ({"command": ["./plain.sh"]}, "plain.sh` may not be executed"),
        ({"command": ["ls"], "cwd": "gone"}, "gone`, is not there"),
        ({"wasm": "gone.wasm"}, "gone.wasm` does not exist"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_tool_that_cannot_run_has_failed_and_its_arguments_are_not_blamed(
    place: Place, keys: dict[str, Any], says: str, dry: list[str]
) -> None:
    plain = place.write("plain.sh", "#!/bin/sh\n")
    if keys.get("command") == ["./plain.sh"] and os.access(plain, os.X_OK):
        pytest.skip("everything is executable here")
    place.agent([], [{"name": "t", "description": "The tool of a test.", **keys}])
    ran = place.mm("tools", "run", "t", "-a", "agent.yaml", "-y", *dry)
    assert (ran.code, ran.out) == (1, "")
    assert says in ran.err


def test_a_value_that_would_be_an_option_is_an_invalid_call(place: Place) -> None:
    place.agent([], [logging_tool(place, "say")])
    ran = place.mm("tools", "run", "say", "what=--force", "-a", "agent.yaml", "-y")
    assert (ran.code, ran.out) == (2, "")
    assert "begins with `-`" in ran.err
    assert place.log() == []


def test_a_dry_run_says_what_was_repaired_and_which_hooks_would_see_the_call(place: Place) -> None:
    place.write("look.sh", "#!/bin/sh\ntouch looked\n", 0o755)
    hooks = [
        {"matcher": "say", "command": ["./look.sh", "a b"]},
        {"matcher": "other", "command": ["./look.sh"]},
    ]
    tool = logging_tool(place, "say")
    tool["parameters"]["what"]["type"] = "integer"
    place.agent([], [tool, logging_tool(place, "other")], hooks={"preToolCall": hooks, "postToolCall": hooks})
    ran = place.mm("tools", "run", "say", "what=3", "-a", "agent.yaml", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    first, command, value, note, hook = ran.out.splitlines()
    assert first == "say (command) would run:"
    assert [*command.split(), *value.split()] == ["command:", f"{place.folder}/say.sh", "3"]
    assert note == '(took what="3" as 3)'
    assert hook.startswith(f"A hook would see it first, and may change or deny it: {place.folder}/look.sh 'a b' (")
    assert place.log() == [] and not (place.folder / "looked").exists()


def test_a_dry_run_says_that_a_rule_denies_the_call(place: Place) -> None:
    place.agent([], [logging_tool(place, "say")], permissions={"deny": ["say"]})
    ran = place.mm("tools", "run", "say", "what=x", "-a", "agent.yaml", "--dry-run")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "It would not run: a `deny` rule holds."


@pytest.mark.parametrize("option", ["--allow", "--deny"])
def test_a_misspelt_tool_to_allow_or_deny_is_answered_with_the_nearest(place: Place, option: str) -> None:
    place.agent([], [logging_tool(place, "count_lines")])
    ran = place.mm("-a", "agent.yaml", option, "count_line", "tools", "run", "count_lines", "what=x")
    assert (ran.code, ran.out, place.log()) == (2, "", [])
    assert "There is no tool `count_line` to allow or deny.\n" in ran.err
    assert "Did you mean `count_lines`? The tools are: " in ran.err
