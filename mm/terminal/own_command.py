"""`!command`: the person's own command, on the person's own terminal. The model has no part in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from mm.errors import MMError, ToolError
from mm.interrupt import Interrupt
from mm.terminal.modes import bring_to_front, cooked
from mm.tools.capture import Capture
from mm.tools.process import GRACE, LONGEST_ARGUMENT, Ended, Program, feed_program, wait_for_exit

_LARGEST = 30_000  # characters that go to the model
_LOOK = 0.1  # seconds between two looks whether the command was stopped, or mm is to end


def run_on_terminal(command: str, descriptor: int, interrupt: Interrupt, suspend: Callable[[], None]) -> int:
    """Run a shell command as a shell would: with the terminal, in a process group of its own. Returns its exit code.

    Ctrl-C goes to that group alone, and editors and pagers work. Ctrl-Z stops it, and mm with it by `suspend`; what
    ends mm ends it. A negative code is the signal that ended it. Raises MMError if it cannot be started.
    """
    _check(command)
    with cooked(descriptor), _passing_on_interrupts() as started:
        try:
            child = subprocess.Popen(command, shell=True, process_group=0)
        except OSError as error:
            raise MMError(f"The command could not be started: {error.strerror}.", _FILE) from error
        started(child.pid)
        with _in_front(child.pid, descriptor):
            return _wait(child, descriptor, interrupt, suspend)


def run_captured(command: str, interrupt: Interrupt) -> tuple[str, int]:
    """Run a shell command and keep its output, shortened in the middle. Returns output and exit code, as above.

    Ctrl-C ends all that it started; what it left running in the background is not waited for. Raises MMError if it
    cannot be started.
    """
    _check(command)
    output = Capture(None)
    program = Program(("/bin/sh", "-c", command), os.environ, _here(), timeout=None)
    try:
        finished = feed_program(program, stop=interrupt.stop, stdout=output, stderr=None)
    except ToolError as error:
        raise MMError(error.message) from error
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


def _check(command: str) -> None:
    """Refuse what no shell can be given."""
    size = len(command.encode("utf-8", "replace"))
    if size > LONGEST_ARGUMENT:
        raise MMError(f"The command has {size:,} bytes; a shell takes {LONGEST_ARGUMENT:,} at most.", _FILE)
    if "\0" in command:
        raise MMError("The command contains a NUL character, which no command line can carry.", "Write it without.")


_FILE = "Write it into a file, and run that: !sh FILE"


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise MMError("The folder that mm was started in is gone.", "Leave, and start mm in another one.") from error


def _wait(child: subprocess.Popen[bytes], descriptor: int, interrupt: Interrupt, suspend: Callable[[], None]) -> int:
    """Wait for the end. Command and mm are one job of the shell: they are suspended together, and go on together."""
    while child.returncode is None:
        if interrupt.stop.is_set():  # by SIGTERM or SIGHUP: Ctrl-C is the command's own
            _end(child)
        else:
            wait_for_exit(child, _LOOK)
        if child.returncode is None and (stopped_by := _stopped_by(child)):
            _go_on_together(child.pid, stopped_by, descriptor, suspend)
    return child.returncode


def _stopped_by(child: subprocess.Popen[bytes]) -> int:
    """The signal that has stopped it, 0 if none has. One that has ended has its exit code then."""
    process, status = os.waitpid(child.pid, os.WUNTRACED | os.WNOHANG)
    if process and os.WIFSTOPPED(status):
        return os.WSTOPSIG(status)
    if process:
        child.returncode = os.waitstatus_to_exitcode(status)
    return 0


def _end(child: subprocess.Popen[bytes]) -> None:
    """End all of the command: what ignores SIGTERM, or was stopped, too."""
    for number in (signal.SIGTERM, signal.SIGCONT):
        _signal(child.pid, number)
    wait_for_exit(child, GRACE)
    _signal(child.pid, signal.SIGKILL)


def _go_on_together(group: int, stopped_by: int, descriptor: int, suspend: Callable[[], None]) -> None:
    """A command that was stopped goes on in front, once mm does."""
    if stopped_by not in (signal.SIGTTIN, signal.SIGTTOU):  # with these it only asked for the terminal
        suspend()
    in_front = bring_to_front(group, descriptor)
    _signal(group, signal.SIGCONT if in_front else signal.SIGKILL)


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
    try:
        bring_to_front(group, descriptor)
        _signal(group, signal.SIGCONT)  # it may have asked for input before it was in front
        yield
    finally:
        bring_to_front(os.getpgrp(), descriptor)


def _shortened(text: str) -> str:
    if len(text) <= _LARGEST:
        return text
    half = _LARGEST // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
