"""Programs are started alone, fed, drained and ended in time, whatever they do."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools import process
from mm.tools.process import (
    Ended,
    Finished,
    Program,
    as_output,
    end_program,
    feed_program,
    run_program,
    start_program,
)


def program(*argv: str, stdin: bytes | None = None, timeout: float | None = 20, cwd: Path = Path("/")) -> Program:
    return Program(argv=argv, env=dict(os.environ), cwd=cwd, timeout=timeout, stdin=stdin)


def run(one: Program, spill: Path | None = None, stop: threading.Event | None = None) -> tuple[Finished, float]:
    start = time.monotonic()
    finished = run_program(one, stop=stop or threading.Event(), spill=spill)
    return finished, time.monotonic() - start


def shell(text: str, **given: object) -> Program:
    return program("/bin/sh", "-c", text, **given)  # type: ignore[arg-type]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_output_error_output_and_exit_code_are_kept_apart() -> None:
    finished, _ = run(shell("echo out; echo err >&2; exit 3"))
    assert (finished.stdout.head, finished.stderr.head, finished.exit_code) == (b"out\n", b"err\n", 3)


def test_a_program_that_reads_finds_an_empty_input(tmp_path: Path) -> None:
    """(C66)"""
    finished, seconds = run(program("/bin/cat"))
    assert (finished.stdout.head, finished.exit_code) == (b"", 0)
    assert seconds < 2


def test_there_is_no_controlling_terminal() -> None:
    finished, _ = run(shell("echo x > /dev/tty"))
    assert finished.exit_code != 0
    finished, _ = run(program(sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid())"))
    assert finished.stdout.head == b"True\n"


def test_input_larger_than_any_pipe_is_written_while_output_is_read() -> None:
    data = b"line\n" * 400_000
    finished, _ = run(program("/bin/cat", stdin=data))
    assert finished.stdout.size == len(data)


def test_a_program_that_does_not_read_its_input_hangs_nobody() -> None:
    data = b"x" * 5_000_000
    assert run(program("/bin/true", stdin=data))[0].exit_code == 0
    assert run(shell("exec 0<&-; echo closed", stdin=data))[0].stdout.head == b"closed\n"
    assert run(program("/bin/cat", stdin=b""))[0].exit_code == 0


def test_a_timeout_ends_the_shell_and_what_it_started() -> None:
    """(C67)"""
    finished, seconds = run(shell("sleep 100 & echo $!; sleep 100; echo late", timeout=0.3))
    assert finished.ended is Ended.TIMED_OUT
    assert seconds < 2
    child = int(finished.stdout.head)
    wait_until(lambda: not is_running(child))


def test_a_timeout_reaches_process_groups_of_their_own() -> None:
    """A program such as `timeout` leaves the group that a kill would reach."""
    text = "import os, time\nif os.fork() == 0: os.setpgid(0, 0); print(os.getpid(), flush=True)\ntime.sleep(100)"
    finished, seconds = run(program(sys.executable, "-c", text, timeout=1))
    assert seconds < 3
    child = int(finished.stdout.head)
    wait_until(lambda: not is_running(child))


def test_a_program_that_ignores_the_polite_signal_is_killed() -> None:
    """(C69)"""
    finished, seconds = run(shell("trap '' TERM; echo $$; sleep 100 & wait; sleep 100", timeout=0.2))
    assert finished.ended is Ended.TIMED_OUT
    assert 2 <= seconds < 4
    assert not is_running(int(finished.stdout.head))


def test_a_program_may_clean_up_when_it_is_ended() -> None:
    finished, _ = run(shell("trap 'echo cleaned; exit 0' TERM; sleep 100 & wait", timeout=0.3))
    assert (finished.ended, finished.stdout.head) == (Ended.TIMED_OUT, b"cleaned\n")


def test_an_interrupt_ends_the_program_soon() -> None:
    """(C75)"""
    stop = threading.Event()
    one = program(sys.executable, "-c", "import time; print('up', flush=True); time.sleep(100)")
    start = time.monotonic()
    finished = run_program(one, stop=stop, spill=None, watch=lambda line: stop.set())
    assert finished.ended is Ended.INTERRUPTED
    assert time.monotonic() - start < 3


def test_nothing_is_started_after_an_interrupt(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    finished, _ = run(shell(f"touch {tmp_path}/made"), stop=stop)
    assert (finished.ended, list(tmp_path.iterdir())) == (Ended.INTERRUPTED, [])


def test_a_grandchild_that_holds_the_pipe_delays_the_reply_a_little_and_lives_on() -> None:
    finished, seconds = run(shell("sleep 30 & echo $!"))
    child = int(finished.stdout.head)
    try:
        assert (finished.ended, finished.exit_code, finished.held_open) == (Ended.EXITED, 0, True)
        assert seconds < 2
        assert is_running(child)
        assert "still runs" in as_output(finished, 20).note
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_grandchild_in_a_session_of_its_own_holds_nobody_up_at_a_timeout() -> None:
    text = "import os, time\nif os.fork() == 0: os.setsid(); print(os.getpid(), flush=True)\ntime.sleep(30)"
    finished, seconds = run(program(sys.executable, "-c", text, timeout=1))
    os.kill(int(finished.stdout.head), signal.SIGKILL)
    assert finished.ended is Ended.TIMED_OUT
    assert seconds < 4


def test_endless_output_ends_at_the_timeout_in_bounded_memory(tmp_path: Path) -> None:
    """(C70)"""
    finished, seconds = run(program("/usr/bin/yes", timeout=0.5), spill=tmp_path)
    assert finished.ended is Ended.TIMED_OUT
    assert seconds < 4
    assert len(finished.stdout.head) + len(finished.stdout.tail) <= 256 * 1024
    assert finished.stdout.file is not None
    assert finished.stdout.file.stat().st_size == min(finished.stdout.size, 64 * 1024 * 1024)


def test_one_line_of_50_megabytes_is_kept_on_file(tmp_path: Path) -> None:
    finished, _ = run(shell("head -c 50000000 /dev/zero | tr '\\0' x >&2"), spill=tmp_path)
    assert (finished.stdout.size, finished.stderr.size) == (0, 50_000_000)
    assert finished.stderr.file is not None
    assert finished.stderr.file.stat().st_size == 50_000_000


def test_the_last_line_is_told_while_it_runs() -> None:
    told: list[str] = []
    one = shell("printf 'first\\nsecond 10%%\\rsecond 90%%\\n'")
    run_program(one, stop=threading.Event(), spill=None, watch=told.append)
    assert told[-1] == "second 90%"


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (None, 0o755, "there is no program"),
        ("#!/bin/sh\n", 0o644, "may not be executed"),
        ("echo no first line\n", 0o755, "`#!` line"),
        ("#!/no/such/interpreter\n", 0o755, "interpreter"),
    ],
)
def test_what_cannot_be_started_is_said_in_words(tmp_path: Path, content: str | None, mode: int, words: str) -> None:
    file = tmp_path / "tool"
    if content is not None:
        file.write_text(content)
        file.chmod(mode)
    with pytest.raises(ToolError, match=words) as raised:
        run(program(str(file)))
    assert str(file) in raised.value.message


def test_a_missing_folder_is_named_and_not_the_program(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="working directory"):
        run(program("/bin/true", cwd=tmp_path / "gone"))


def test_limits_of_the_kernel_are_said_with_a_way_out() -> None:
    """(C64, C65)"""
    assert run(program("/bin/true", "a" * 131_071))[0].exit_code == 0
    with pytest.raises(ToolError, match=r"131,071.*stdin"):
        run(program("/bin/true", "a" * 131_072))
    with pytest.raises(ToolError, match=r"131,071.*stdin"):
        run(program("/bin/true", "é" * 65_536))
    with pytest.raises(ToolError, match="NUL"):
        run(program("/bin/true", "a\0b"))
    with pytest.raises(ToolError, match="too long together"):
        run(program("/bin/true", *["a" * 100_000] * 100))
    with pytest.raises(ToolError, match="'BAD' has a NUL"):
        run_program(Program(("/bin/true",), {"BAD": "\0"}, Path("/"), 1.0), stop=threading.Event(), spill=None)


def test_death_by_a_signal_is_a_kill_with_the_shell_s_exit_code() -> None:
    output = as_output(run(shell("kill -SEGV $$"))[0], 20)
    assert (output.outcome, output.exit_code) == (Outcome.KILLED, 139)
    assert "SIGSEGV" in output.note


def test_a_server_that_was_started_is_ended_with_its_children() -> None:
    process = start_program(shell("trap '' TERM; sleep 100 & echo $!; wait"), stdin=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    end_program(process, grace=0.2)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not is_running(child))
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_no_descriptor_and_no_child_is_left_behind() -> None:
    def left() -> tuple[int, str]:
        return sum(1 for _ in Path("/proc/self/fd").iterdir()), Path("/proc/thread-self/children").read_text()

    before = left()
    for _ in range(5):
        run(shell("echo x; cat", stdin=b"y"))
        run(shell("sleep 100", timeout=0.05))
    assert left() == before


class Failing:
    """A sink that takes one piece and cannot keep it."""

    def __init__(self) -> None:
        self.taken = b""

    def write(self, data: bytes) -> None:
        self.taken += data
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_program_that_cannot_be_followed_to_its_end_is_ended() -> None:
    taken, rest = Failing(), Failing()
    with pytest.raises(OSError, match="No space left"):
        feed_program(shell("sleep 100 & echo $! $$; wait"), stop=threading.Event(), stdout=taken, stderr=rest)
    child, leader = map(int, taken.taken.split())
    assert not is_running(leader)
    wait_until(lambda: not is_running(child))


def test_a_program_whose_output_no_descriptor_is_left_for_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when many calls run side by side: its own pipes could just be made."""
    started: list[subprocess.Popen[bytes]] = []

    def no_descriptor(given: subprocess.Popen[bytes], *rest: object) -> None:
        started.append(given)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(process, "Drain", no_descriptor)
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="Too many open files"):
        run(shell("sleep 100", stdin=b"x"))
    assert started[0].returncode == -signal.SIGKILL
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before
