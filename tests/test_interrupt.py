"""A signal at the worst moment: while the main thread is in the middle of setting or awaiting the stop event."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from mm.errors import ExitCode
from mm.interrupt import Interrupt

PROGRAM = """
import signal, sys, threading
from mm.interrupt import Interrupt

interrupt = Interrupt()
interrupt.install()

def send_signal(frame, event, argument):
    locked = type(frame.f_locals.get("self")) is threading.Condition
    if event == "call" and frame.f_code.co_name == "{moment}" and locked:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

sys.setprofile(send_signal)
interrupt.stop.{what}
print(interrupt.stop.is_set())
"""


def test_one_interrupt_is_raised_once_however_deep_the_waiting(interrupt: Interrupt) -> None:
    """Pressed again, Ctrl-C would cut short what puts the terminal in order."""
    in_order = []
    with pytest.raises(KeyboardInterrupt), interrupt.waiting():
        try:
            with interrupt.waiting():
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            in_order.append(True)
    assert in_order == [True]


def test_a_new_turn_forgets_ctrl_c_and_not_what_the_system_said(interrupt: Interrupt) -> None:
    signal.raise_signal(signal.SIGINT)
    interrupt.clear()
    assert not interrupt.stop.is_set()
    signal.raise_signal(signal.SIGTERM)
    interrupt.clear()
    with pytest.raises(KeyboardInterrupt) as caught, interrupt.waiting():
        raise AssertionError("not waited for")
    assert caught.value.args == (ExitCode.TERMINATED,)


@pytest.mark.parametrize(("moment", "what"), [("notify_all", "set()"), ("wait", "wait(600)")])
def test_a_signal_in_the_middle_of_the_stop_event_stops_and_never_hangs(moment: str, what: str) -> None:
    """Ctrl-C held down: each signal arrives while the last one is still being handled."""
    program = PROGRAM.format(moment=moment, what=what)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout == "True\n", done.stderr
