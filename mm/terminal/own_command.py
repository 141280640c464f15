"""`!command`: the person's own command, on the person's own terminal. The model has no part in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator

from mm.interrupt import Interrupt
from mm.terminal.modes import cooked

_LARGEST = 30_000  # characters that go to the model


def run_on_terminal(command: str, descriptor: int) -> int:
    """Run a shell command as a shell would: with the terminal, in a process group of its own. Returns its exit code.

    Ctrl-C goes to that group alone, and editors and pagers work.
    """
    with cooked(descriptor):
        child = subprocess.Popen(command, shell=True, process_group=0)
        with _in_front(child.pid, descriptor):
            return _wait(child)


def run_captured(command: str, interrupt: Interrupt) -> tuple[str, int]:
    """Run a shell command and keep its output, whole up to a bound. Ctrl-C kills its group. Returns output and code."""
    child = subprocess.Popen(
        command,
        shell=True,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    data = bytearray()
    assert child.stdout is not None
    try:
        with interrupt.waiting():
            while piece := os.read(child.stdout.fileno(), 65536):
                data += piece[: max(4 * _LARGEST - len(data), 0)]
    except KeyboardInterrupt:
        _kill(child)
        data += b"\n(interrupted)"
    finally:
        child.stdout.close()
    return _shortened(data.decode("utf-8", "replace")), _wait(child)


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for the end. A stopped child (Ctrl-Z) is ended: there is no job control here to bring it back."""
    while True:
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode
        _kill(child)


def _kill(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


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
