"""What waits to be read from a terminal."""

from __future__ import annotations

import os
import threading

from mm.terminal.keys import as_line
from mm.terminal.modes import take_typed


def test_the_enter_that_follows_a_letter_typed_ahead_is_taken_with_it() -> None:
    """Left over it would answer the question that appears in between."""
    reader, writer = os.pipe()

    def press_enter() -> None:
        os.write(writer, b"\r")
        os.close(writer)

    os.write(writer, b"y")
    person = threading.Timer(0.05, press_enter)
    person.start()
    assert take_typed(reader, idle=20) == "y\r"
    person.join()
    os.close(reader)


def test_what_was_typed_unseen_becomes_the_text_that_it_makes() -> None:
    assert as_line("first\rsecons\x7fd\x1b[D\r") == "first\nsecond"
    assert as_line("wrong\x15right") == "right"
    assert as_line("\x1b[200~pasted\rlines\x1b[201~") == "pasted\nlines"
