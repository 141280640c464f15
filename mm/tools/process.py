"""Start a program in a session of its own, take what it writes, and end all of it in time."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mm.errors import CannotRunError, ToolError
from mm.messages import Outcome
from mm.tools.capture import Capture
from mm.tools.drain import Drain, Sink
from mm.tools.spec import Captured, Output

GRACE = 2.0  # seconds between TERM and KILL
LONGEST_ARGUMENT = 131_071  # bytes of one argv entry; the kernel's limit, less its closing NUL


@dataclass(frozen=True, slots=True)
class Program:
    """A program and all that it is given. `stdin` None means /dev/null, `timeout` None means no limit (seconds).

    `file` is what is executed, if it was looked up already; else `argv[0]`, a path.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    timeout: float | None
    stdin: bytes | None = None
    file: str = ""

    @property
    def name(self) -> str:
        return self.argv[0]


class Ended(StrEnum):
    """Why a program is no longer waited for."""

    EXITED = "exited"
    TIMED_OUT = "timed out"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended. `exit_code` is negative for a signal, None if it never started or could not be ended.

    `held_open` says that it exited but something it started still holds its output open; that is left alone.
    """

    ended: Ended
    exit_code: int | None
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)
    held_open: bool = False


def run_program(
    program: Program,
    *,
    stop: threading.Event,
    spill: Path | None,
    watch: Callable[[str], None] | None = None,
) -> Finished:
    """Run to the end, the time limit, or `stop`; past these two all of its session is killed.

    Long output goes to a private file in the folder `spill` (None: no file). `watch` is told the last line now and
    then. Raises ToolError if the program cannot be started.
    """
    stdout, stderr = Capture(spill), Capture(spill)
    try:
        finished = feed_program(program, stop=stop, stdout=stdout, stderr=stderr, watch=watch)
    finally:
        captured = stdout.finish(), stderr.finish()
    return Finished(finished.ended, finished.exit_code, *captured, held_open=finished.held_open)


def feed_program(
    program: Program,
    *,
    stop: threading.Event,
    stdout: Sink,
    stderr: Sink | None,
    watch: Callable[[str], None] | None = None,
) -> Finished:
    """The same, into sinks of the caller's; `stderr` None joins both streams, as on a terminal.

    What breaks in here, for want of a descriptor or in a sink, ends the program before it is raised.
    """
    if stop.is_set():
        return Finished(Ended.INTERRUPTED, None)
    process = start_program(program, join=stderr is None)
    deadline = None if program.timeout is None else time.monotonic() + program.timeout
    try:
        with Drain(process, stdout, stderr, program.stdin, watch) as drain:
            return _follow(process, drain, deadline, stop)
    except BaseException:
        _kill(process)
        raise


def _follow(process: subprocess.Popen[bytes], drain: Drain, deadline: float | None, stop: threading.Event) -> Finished:
    ended = Ended.EXITED
    if not drain.until(deadline, stop) and not drain.exited:
        ended = Ended.INTERRUPTED if stop.is_set() else Ended.TIMED_OUT
        signal_session(process.pid, signal.SIGTERM)
        drain.until(time.monotonic() + GRACE)
        # Always: some of the session may ignore TERM. The leader is not yet reaped, so the id is still its own.
        signal_session(process.pid, signal.SIGKILL)
        drain.until(time.monotonic() + GRACE)
    code = process.wait() if drain.exited else process.poll()
    return Finished(ended, code, held_open=ended is Ended.EXITED and not drain.all_read)


def start_program(program: Program, *, join: bool = False, stdin: bool = False) -> subprocess.Popen[bytes]:
    """Start in an own session: no controlling terminal, /dev/null as stdin unless there is something to write.

    `stdin` asks for a pipe in any case (a server that is talked to). Raises ToolError naming what is wrong.
    """
    check_program(program)
    try:
        return subprocess.Popen(
            [entry.encode() for entry in program.argv],
            executable=program.file or None,
            stdin=subprocess.PIPE if stdin or program.stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if join else subprocess.PIPE,
            bufsize=0,
            cwd=program.cwd,
            env=program.env,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(_why_not_started(program, error)) from error


def end_program(process: subprocess.Popen[bytes], grace: float = GRACE, *, patience: float = 0.0) -> None:
    """End a program that `start_program` started, with all of its session: TERM, then KILL.

    First it gets `patience` seconds to end by itself (a server whose stdin was closed).
    """
    if patience:
        wait_for_exit(process, patience)
    signal_session(process.pid, signal.SIGTERM)
    wait_for_exit(process, grace)
    signal_session(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End at once, with all of its session, a program that can no longer be followed."""
    for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
        with contextlib.suppress(OSError):
            stream.close()
    if process.returncode is None:
        signal_session(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)


def signal_session(leader: int, number: int) -> None:
    """Signal every process group of the session that `leader` leads.

    Shells with job control and programs such as `timeout` put their children into groups of their own, which a
    signal to the leader's group alone would miss. Call it before the leader is reaped: until then its id is its own.
    """
    for group in {leader, *_other_groups(leader)}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def check_program(program: Program) -> None:
    """Raise CannotRunError for what the kernel cannot take: NUL, an entry that is too long, text that is not Unicode.

    What was made of a call's values has been through `check_entry` before: what is wrong here is the author's.
    """
    for place, entry in enumerate(program.argv):
        try:
            check_entry(entry, f"Entry {place} of the command line of `{program.name}`")
        except ToolError as error:
            raise CannotRunError(error.message) from error
    for name, value in program.env.items():
        if "\0" in value or "\0" in name or "=" in name:
            raise CannotRunError(f"The environment variable {name!r} has a NUL, or `=` in its name. Tell the user.")


def check_entry(entry: str, what: str) -> None:
    """Raise ToolError if `entry` cannot be one argv entry; `what` begins the sentence."""
    if "\0" in entry:
        raise ToolError(f"{what} contains a NUL character. A command line cannot carry one: send the text without it.")
    try:
        size = len(entry.encode())
    except UnicodeEncodeError:
        raise ToolError(f"{what} contains half of a surrogate pair. Send valid Unicode text.") from None
    if size > LONGEST_ARGUMENT:
        raise ToolError(
            f"{what} is {size:,} bytes long; one argument may have at most {LONGEST_ARGUMENT:,} bytes. Send a shorter "
            "value, or put the text into a file and send the file's name. (The author of a tool can declare `stdin`, "
            "which has no such limit.)"
        )


def as_output(finished: Finished, timeout: float | None) -> Output:
    """What a call gave, in the dispatcher's words."""
    outcome, note = _outcome(finished, timeout)
    return Output(
        outcome,
        stdout=finished.stdout,
        stderr=finished.stderr,
        exit_code=_shell_code(finished.exit_code) if finished.ended is Ended.EXITED else None,
        note=note,
    )


def _outcome(finished: Finished, timeout: float | None) -> tuple[Outcome, str]:
    if finished.ended is Ended.TIMED_OUT:
        return Outcome.TIMED_OUT, f"stopped: it was still running after {timeout or 0:g} s, its time limit"
    if finished.ended is Ended.INTERRUPTED:
        return Outcome.INTERRUPTED, "stopped: the user interrupted it"
    if finished.exit_code is not None and finished.exit_code < 0:
        return Outcome.KILLED, f"ended by signal {_signal_name(-finished.exit_code)}"
    note = "something that it started still runs; what that writes from now on is not seen"
    outcome = Outcome.OK if finished.exit_code == 0 else Outcome.FAILED
    return outcome, note if finished.held_open else ""


def _shell_code(code: int | None) -> int | None:
    """128 + n for the end by signal n, as shells say it."""
    return 128 - code if code is not None and code < 0 else code


def _signal_name(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def _why_not_started(program: Program, error: OSError) -> str:
    name, file = program.name, Path(program.file or program.name)
    reasons = {
        errno.ENOEXEC: f"`{file}` is neither a binary nor a script with a `#!` line",
        errno.EACCES: f"`{file}` may not be executed (a user can allow it with `chmod +x`)",
        errno.E2BIG: "its arguments and environment are too long together; send shorter values "
        f"(one argument may have {LONGEST_ARGUMENT:,} bytes, and standard input has no such limit)",
    }
    if not program.cwd.is_dir():
        reason = f"its working directory `{program.cwd}` is not there"
    elif error.errno == errno.ENOENT and file.exists():
        reason = f"the first line of `{file}` names an interpreter that is not there"
    elif error.errno == errno.ENOENT:
        reason = f"there is no program `{file}`"
    else:
        reason = reasons.get(error.errno or 0, error.strerror or str(error))
    return f"`{name}` could not be started: {reason}. Nothing ran."


def wait_for_exit(process: subprocess.Popen[bytes], timeout: float) -> None:
    """Wait for its end, without reaping where the system can, so that the id stays the process's own."""
    if not hasattr(os, "pidfd_open") or process.returncode is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout)
        return
    descriptor = os.pidfd_open(process.pid)
    try:
        select.select([descriptor], [], [], timeout)
    finally:
        os.close(descriptor)


def _other_groups(session: int) -> set[int]:
    """Process groups of a session, from /proc; none where there is no /proc."""
    groups = set()
    with contextlib.suppress(OSError):  # where not one descriptor is left, the leader's group is all that is known
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                # pid (name) state parent group session …; the name may hold blanks and brackets
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                groups.add(int(fields[2]))
    return groups
