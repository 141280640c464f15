"""Which calls of a reply may run side by side, and the running itself."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from mm.dispatch import last_guard
from mm.dispatch.brief import in_short
from mm.dispatch.names import Names
from mm.dispatch.open_call import OpenCall
from mm.errors import ToolError
from mm.events import CallProgress, CallStarted, Listener
from mm.interrupt import Interrupt, Interrupted
from mm.messages import Outcome, ToolCall
from mm.tools.spec import ApprovedCall, Executor, Kind, Output, Run
from mm.workers import work_beside

MOST_BESIDE = 16  # calls that run at once: each takes threads, pipes and memory
GRACE = 5.0  # seconds that an interrupted executor has to return
_LOOK = 0.5  # seconds between two looks at the stop event while nothing ends

_Ended: TypeAlias = tuple[OpenCall, Output]


def groups(opened: Sequence[OpenCall], names: Names) -> Iterator[list[OpenCall]]:
    """Calls of tools without effect, next to each other, may run side by side; every other call runs alone."""
    group: list[OpenCall] = []
    for item in opened:
        beside = _may_run_beside_others(item, names)
        if group and (not beside or len(group) == MOST_BESIDE):
            yield group
            group = []
        if beside:
            group.append(item)
        else:
            yield [item]
    if group:
        yield group


def _may_run_beside_others(item: OpenCall, names: Names) -> bool:
    if not names.is_offered(item.call.name):
        return False
    tool = names.find(item.call.name)
    return tool.readonly and not tool.interactive


class Runner:
    """Runs approved calls on daemon threads. A call that is already answered passes through."""

    def __init__(
        self,
        executors: Mapping[Kind, Executor],
        *,
        started: Callable[[ToolCall], None],
        interrupt: Interrupt,
        listen: Listener,
        spill: Callable[[], Path],
    ) -> None:
        self._executors = executors
        self._started = started
        self._interrupt = interrupt
        self._listen = listen
        self._spill = spill

    def run(self, group: Sequence[OpenCall]) -> Generator[OpenCall, None, None]:
        """Give each call of the group once it is answered: those that need no run first, the others as they end.

        Closing it early ends what still runs.
        """
        ended: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        running = [item for item in group if item.output is None]
        try:
            yield from self._run(group, running, ended)
        finally:
            self._end([item for item in running if item.started], ended)

    def _end(self, running: list[OpenCall], ended: queue.SimpleQueue[_Ended]) -> None:
        """Nobody waits for these any more, since mm itself failed: nothing that they started may run on."""
        if running:
            self._interrupt.stop.set()
        while running:
            running.remove(self._next(running, ended)[0])

    def _run(
        self, group: Sequence[OpenCall], running: list[OpenCall], ended: queue.SimpleQueue[_Ended]
    ) -> Iterator[OpenCall]:
        for item in running:
            self._start(item, ended)
        yield from (item for item in group if item.output is not None)
        while running:
            item, output = self._next(running, ended)
            running.remove(item)
            item.output = output
            item.seconds = time.monotonic() - item.started if item.started else 0.0
            yield item

    def _start(self, item: OpenCall, ended: queue.SimpleQueue[_Ended]) -> None:
        try:
            work = self._make_work(item, ended)
        except Exception as error:  # noqa: BLE001 - without all that surrounds it nothing runs
            ended.put((item, last_guard.not_run(item, error)))
            return
        item.started = time.monotonic()
        if item.approved is not None and item.approved.tool.interactive:
            # It reads from the terminal, where Ctrl-C arrives in the main thread; it runs alone anyway.
            work()
            return
        try:
            work_beside(work)
        except RuntimeError as error:  # no thread left
            ended.put((item, last_guard.not_run(item, error)))

    def _make_work(self, item: OpenCall, ended: queue.SimpleQueue[_Ended]) -> Callable[[], None]:
        """Write down that the call starts. Gives the work that runs it."""
        approved = item.approved
        assert approved is not None, "only what consent approved is run"
        executor = self._executors[approved.tool.kind]
        call_id, listen = item.call.id, self._listen
        run = Run(self._interrupt.stop, self._spill(), lambda line: listen(CallProgress(call_id, line)))
        self._started(item.as_written_down())
        listen(CallStarted(item.call, approved.tool.name, in_short(approved.arguments)))
        return lambda: ended.put((item, _run_safely(executor, approved, run)))

    def _next(self, running: Sequence[OpenCall], ended: queue.SimpleQueue[_Ended]) -> _Ended:
        """Wait for the next call to end; after an interrupt only for a short while, then give one up."""
        while not self._interrupt.stop.is_set():
            try:
                return ended.get(timeout=_LOOK)
            except queue.Empty:
                continue
        deadline = time.monotonic() + GRACE
        while (left := deadline - time.monotonic()) > 0:
            try:
                item, output = ended.get(timeout=left)
            except queue.Empty:
                break
            if item in running:
                return item, output
        return running[0], Output.reply(Outcome.INTERRUPTED, _ABANDONED)


def _run_safely(executor: Executor, approved: ApprovedCall, run: Run) -> Output:
    """Run a call. A fault of mm itself is that call's answer and takes no sibling along."""
    try:
        return executor.run(approved, run)
    except ToolError as error:
        return Output.reply(Outcome.FAILED, error.message)
    except (KeyboardInterrupt, Interrupted):
        run.stop.set()
        return Output.reply(Outcome.INTERRUPTED, _INTERRUPTED)
    except BaseException as error:  # noqa: BLE001 - whatever broke, also what would end a thread without a word
        return last_guard.broke_off(approved.tool.name, error)


_INTERRUPTED = "Interrupted by the user."
_ABANDONED = "Interrupted by the user. It did not end in time; what it did by then is unknown."
