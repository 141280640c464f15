"""`!command`: the person's own command, on the person's own terminal. The model has no part in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from mm.interrupt import Interrupt
from mm.terminal.modes import cooked
from mm.tools.capture import Capture
from mm.tools.process import Ended, Program, feed_program

_LARGEST = 30_000  # characters that go to the model


def run_on_terminal(command: str, descriptor: int) -> int:
    """Run a shell command as a shell would: with the terminal, in a process group of its own. Returns its exit code.

    Ctrl-C goes to that group alone, and editors and pagers work. A negative code is the signal that ended it.
    """
    with cooked(descriptor), _passing_on_interrupts() as started:
        child = subprocess.Popen(command, shell=True, process_group=0)
        started(child.pid)
        with _in_front(child.pid, descriptor):
            return _wait(child)


def run_captured(command: str, interrupt: Interrupt) -> tuple[str, int]:
    """Run a shell command and keep its output, shortened in the middle. Returns output and exit code, as above.

    Ctrl-C ends all that it started; what it left running in the background is not waited for.
    """
    output = Capture(None)
    program = Program(("/bin/sh", "-c", command), os.environ, Path.cwd(), timeout=None)
    finished = feed_program(program, stop=interrupt.stop, stdout=output, stderr=None)
    captured = output.finish()
    text = (captured.head + captured.tail).decode("utf-8", "replace")
    if captured.size > len(captured.head) + len(captured.tail):
        text = f"{captured.head.decode('utf-8', 'replace')}\n…\n{captured.tail.decode('utf-8', 'replace')}"
    if finished.ended is Ended.INTERRUPTED:
        return _shortened(text + "\n(interrupted)"), -signal.SIGINT
    return _shortened(text), 1 if finished.exit_code is None else finished.exit_code


def ending(code: int) -> str:
    """How a command ended, as people say it: `exit code 3`, `ended by SIGINT`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal
        return f"ended by signal {-code}"


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for the end. A stopped child (Ctrl-Z) is ended: there is no job control here to bring it back."""
    while True:
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode
        _signal(child.pid, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


@contextlib.contextmanager
def _passing_on_interrupts() -> Iterator[Callable[[int], None]]:
    """Ctrl-C that comes while the command is not yet in front reaches mm, and is meant for the command.

    Gives a function that is to be told the command's process group.
    """
    groups: list[int] = []
    early: list[int] = []

    def received(number: int, frame: FrameType | None) -> None:
        if groups:
            _signal(groups[0], number)
        else:
            early.append(number)

    def started(group: int) -> None:
        groups.append(group)
        if early:
            _signal(group, signal.SIGINT)

    before = signal.signal(signal.SIGINT, received)
    try:
        yield started
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _in_front(group: int, descriptor: int) -> Iterator[None]:
    """Give the terminal to a process group, and take it back. Without a terminal: nothing to give."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # taking it back from behind would stop mm
    try:
        _bring_to_front(group, descriptor)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGCONT)  # it may have asked for input before it was in front
        yield
    finally:
        _bring_to_front(os.getpgrp(), descriptor)
        signal.signal(signal.SIGTTOU, before)


def _bring_to_front(group: int, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.tcsetpgrp(descriptor, group)


def _shortened(text: str) -> str:
    if len(text) <= _LARGEST:
        return text
    half = _LARGEST // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
