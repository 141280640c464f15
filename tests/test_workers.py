"""Threads that are kept: used again, never waited for."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading

from mm.workers import work_beside


def _thread_of_one_piece() -> int:
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    work_beside(lambda: done.put(threading.get_ident()))
    return done.get(timeout=10)


def test_a_thread_that_is_done_is_used_again() -> None:
    threads = {_thread_of_one_piece() for _ in range(50)}

    # A thread says that it is idle just after its work, so the next piece may come a moment too early for it.
    assert len(threads) < 25


def test_work_that_never_ends_keeps_no_other_waiting() -> None:
    release = threading.Event()
    for _ in range(3):
        work_beside(release.wait)
    try:
        assert _thread_of_one_piece()
    finally:
        release.set()


def test_pieces_that_are_started_together_run_at_the_same_time() -> None:
    met = threading.Barrier(4)
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    for _ in range(3):
        work_beside(lambda: done.put(met.wait(timeout=10)))

    met.wait(timeout=10)

    assert {done.get(timeout=10) for _ in range(3)} <= {0, 1, 2, 3}


def test_a_process_ends_though_work_hangs_and_threads_are_idle() -> None:
    program = (
        "import threading, mm.workers as workers\n"
        "done = threading.Event()\n"
        "workers.work_beside(done.set); done.wait()\n"
        "workers.work_beside(threading.Event().wait)\n"
        "print('end')\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")
