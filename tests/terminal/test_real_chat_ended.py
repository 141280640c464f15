"""SIGTERM, SIGHUP and a closed window in each state of the real `mm`: its own exit code, and nothing left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import Place, call, logging_tool, wait_until
from tests.terminal.pty import Terminal
from tests.terminal.real import left_behind, mm_chat, sleeping_tool

STATES = {
    "at the prompt": ("", ""),
    "while the model is silent": ("wait", "waiting for the model"),
    "at a question": ("act", "y, n, … > "),
    "while a tool runs": ("rest", "rest runs"),
    "while an own command runs": ("!echo $((1 + 1)) runs; sleep 600", "2 runs"),
}


@contextmanager
def chat_in(place: Place, state: str, errors: Path) -> Iterator[Terminal]:
    message, awaited = STATES[state]
    steps = {"wait": {"text": "late", "delay": 600}, "act": call("act", what="x"), "rest": call("rest")}
    place.agent(
        [steps.get(message, "never asked")],
        [logging_tool(place, "act"), sleeping_tool(place, "rest")],
        permissions={"allow": ["rest"]},
    )
    with mm_chat(place, errors=errors) as it:
        if message:
            it.say(message)
            it.wait_for(awaited)
        yield it
    assert errors.read_text() == ""
    wait_until(lambda: left_behind(place) == [])
    assert place.log() == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("state", STATES)
def test_a_signal_to_end_gives_its_own_exit_code(
    place: Place, tmp_path: Path, state: str, number: int, code: int
) -> None:
    with chat_in(place, state, tmp_path / "errors") as it:
        os.kill(it.process, number)
        assert it.end() == code


@pytest.mark.parametrize("state", STATES)
def test_a_closed_window_ends_mm_as_a_hang_up(place: Place, tmp_path: Path, state: str) -> None:
    with chat_in(place, state, tmp_path / "errors") as it:
        assert it.close() == 129


def test_an_own_command_that_will_not_end_is_killed(place: Place) -> None:
    place.agent([])
    with mm_chat(place) as it:
        it.say("!trap '' TERM HUP INT; echo $((1 + 1)) runs; sleep 600")
        it.wait_for("2 runs")
        os.kill(it.process, signal.SIGTERM)
        assert it.end() == 143
    wait_until(lambda: left_behind(place) == [])
