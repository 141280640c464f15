"""Text that comes on stdin piece by piece."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mm.cli import piped
from tests.cli.running import unread, wait_until


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of what is read as stdin; nothing is waited for but the first byte, and that not at all."""
    reader, writer = os.pipe()
    monkeypatch.setattr(piped, "_STDIN", reader)
    monkeypatch.setattr(piped, "FIRST_BYTE", 0.0)
    yield writer
    os.close(reader)


def test_after_a_first_byte_it_is_read_to_the_end_however_long_that_takes(writer: int) -> None:
    os.write(writer, b"the first ")

    def write_the_rest() -> None:
        for piece in (b"and ", b"the last"):
            wait_until(lambda: unread(piped._STDIN) == 0)
            os.write(writer, piece)
        wait_until(lambda: unread(piped._STDIN) == 0)
        os.close(writer)

    slow = threading.Thread(target=write_the_rest)
    slow.start()
    assert piped.prompt_from("why?", []) == "the first and the last\n\nwhy?"
    slow.join()


def test_without_a_first_byte_it_goes_on_with_a_notice(writer: int, tmp_path: Path) -> None:
    notices: list[str] = []
    assert piped.prompt_from("why?", notices) == "why?"
    assert len(notices) == 1
    os.close(writer)
