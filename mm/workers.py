"""Daemon threads that are kept for the next piece of work: starting one costs more than a small tool call.

No executor of the standard library: leaving one waits for its threads, and a guest that hangs would keep mm from
ending. A thread whose work never comes back is simply never used again.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

MOST_IDLE = 16  # threads that are kept while there is nothing to do

_Inbox: TypeAlias = "queue.SimpleQueue[Callable[[], None]]"
_idle: list[_Inbox] = []


def work_beside(work: Callable[[], None]) -> None:
    """Start `work`, which handles its own errors, on a thread of its own, and come back at once.

    Raises RuntimeError if this machine has no thread left to give.
    """
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="mm worker", daemon=True).start()
    inbox.put(work)


def _serve(inbox: _Inbox) -> None:
    """Do what is put into the inbox, one piece after the other. An idle inbox belongs to whoever takes it."""
    while True:
        inbox.get()()
        if len(_idle) >= MOST_IDLE:
            return
        _idle.append(inbox)
