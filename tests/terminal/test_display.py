"""The painter of a turn: who waits for it, and what it shows that was told outside of a turn."""

from __future__ import annotations

import io
import signal
import threading

import pytest

from mm.config.schema import Permissions
from mm.dispatch.consent import Consent
from mm.events import Event, Notice, TextShown
from mm.interrupt import Interrupt
from mm.terminal.chat_person import ChatPerson
from mm.terminal.display import TurnDisplay
from mm.terminal.screen import Screen
from tests.terminal.stand_in import plan, tool


class SlowTerminal(io.StringIO):
    """A terminal that takes a text only once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = threading.Event()
        self.may_go_on = threading.Event()

    def write(self, text: str) -> int:
        self.busy.set()
        assert self.may_go_on.wait(20)
        return super().write(text)


class Nobody:
    """Reads no answer: the test never comes that far."""

    def ask(self, label: str) -> str | None:
        raise AssertionError("asked")

    def edit(self, text: str) -> str | None:
        raise AssertionError("asked")

    def take_typed_ahead(self) -> str:
        return ""


def test_ctrl_c_while_the_last_frame_before_a_question_is_painted_ends_the_question_and_no_more(
    interrupt: Interrupt,
) -> None:
    """Raised there, it would leave the painter at rest for ever, and whoever waits for the painter too."""
    terminal = SlowTerminal()
    screen = Screen(terminal)
    display = TurnDisplay(screen)
    consent = Consent(Permissions(), False, ChatPerson(screen, display, Nobody(), interrupt), interrupt)

    def press_ctrl_c() -> None:
        assert terminal.busy.wait(20)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        interrupt.stop.wait(1)  # not heard if it came just before the wait: then it is heard behind it
        terminal.may_go_on.set()

    person = threading.Thread(target=press_ctrl_c)
    with display.showing():
        display(TextShown("a large block"))
        person.start()
        with pytest.raises(KeyboardInterrupt):
            consent.approve("1", tool(), {}, plan("./release.sh"))
    person.join()
    assert terminal.getvalue() == "a large block\n"


def test_a_fault_in_painting_is_raised_after_the_turn_and_questions_are_still_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    display = TurnDisplay(Screen(io.StringIO()))
    asked = []

    def fail(event: Event, width: int) -> None:
        raise ZeroDivisionError("a bug in mm")

    with pytest.raises(ZeroDivisionError), display.showing():
        monkeypatch.setattr(display._frame, "report", fail)
        display(TextShown("text"))
        with display.paused():
            asked.append("y?")
    assert asked == ["y?"]


def test_what_is_told_between_two_turns_is_shown_once() -> None:
    out = io.StringIO()
    display = TurnDisplay(Screen(out))
    display(Notice("kept in memory only"))
    for _ in range(2):
        display.show_pending()
    assert out.getvalue() == "! kept in memory only\n"
