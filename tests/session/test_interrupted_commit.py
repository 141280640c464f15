"""Ctrl-C while something is written down: it is written whole, and only then does the interrupt count."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from mm.interrupt import Interrupt


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    made = Interrupt()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_commit_while_waiting_for_the_model_is_finished_before_the_interrupt(interrupt: Interrupt) -> None:
    written = []
    with pytest.raises(KeyboardInterrupt), interrupt.waiting():
        with interrupt.committing():
            signal.raise_signal(signal.SIGINT)
            written.append("whole")
        written.append("the model is still read")
    assert written == ["whole"]


def test_a_commit_outside_of_waiting_is_never_interrupted(interrupt: Interrupt) -> None:
    with interrupt.committing():
        signal.raise_signal(signal.SIGINT)
    assert interrupt.stop.is_set()


def test_waiting_goes_on_after_a_commit_and_can_be_interrupted(interrupt: Interrupt) -> None:
    with pytest.raises(KeyboardInterrupt), interrupt.waiting():
        with interrupt.committing():
            pass
        signal.raise_signal(signal.SIGINT)
