"""What holds for every test: a home of its own, and a bound on memory, so that a runaway test fails by itself."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from mm.interrupt import Interrupt

MEMORY = 4 * 1024**3  # bytes of data; reserved address space, which wasmtime takes a lot of, does not count


def pytest_configure() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _heard)  # what runs under `nohup` or behind `&` would make every program ignore it


def _heard(number: int, frame: FrameType | None) -> None:
    """Does nothing here; a program that a test starts has the default instead."""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes what the user has: sessions, trust, permissions, caches."""
    monkeypatch.setenv("MM_HOME", str(tmp_path / "mm-home"))


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    """One that handles the signals of this process, as in a run, until the test is over."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    made = Interrupt()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)
