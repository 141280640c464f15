"""One call of a wasm module: a fresh instance on its own thread, its output drained, its limits kept."""

from __future__ import annotations

import atexit
import errno
import os
import select
import time
from dataclasses import dataclass
from enum import Enum

from wasmtime import InstancePre, Memory, Store, Trap, WasmtimeError

from mm.tools.capture import Capture
from mm.tools.sandbox.engine import Runtime
from mm.tools.sandbox.host import Cut, Guest, enter
from mm.tools.sandbox.module import ModuleError
from mm.tools.sandbox.plan import WasmRun
from mm.tools.sandbox.words import describe_error, describe_trap
from mm.tools.sandbox.world import OutputPipe, open_pipes, open_world
from mm.tools.spec import Run
from mm.workers import work_beside

_TICK = 0.05  # seconds between two looks at the stop event
_GRACE = 0.8  # seconds that an ended guest gets before its thread is left behind
_CHUNK = 1 << 16
_TELL = 0.2  # seconds between two lines told to the watcher
_LINE = 200  # bytes of such a line


class How(Enum):
    """How a run ended."""

    EXITED = "exited"
    CRASHED = "crashed"
    UNFIT = "unfit"  # it never started
    TIME = "time"
    STOPPED = "stopped"
    STUCK = "stuck"  # out of time, and its thread hangs in the operating system
    SLOW = "slow"  # out of time before `_start` was called


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, with a clause in `why` for crashes and modules that do not fit. `memory` is in bytes."""

    how: How
    exit_code: int | None = None
    why: str = ""
    memory: int = 0


class Call:
    """One call: made, run once, thrown away."""

    def __init__(self, runtime: Runtime, what: WasmRun) -> None:
        self._runtime = runtime
        self._what = what
        self._guest = Guest(runtime.engine)
        self._deadline: float | None = None  # set when the module is compiled and about to start
        self._started = False
        self._ending: Ending | None = None
        self._told_at = time.monotonic()

    def run(self, run: Run, stdout: Capture, stderr: Capture) -> Ending:
        """Blocks until the module ended, or was ended and left behind. Raises OSError if it cannot have a thread."""
        if run.stop.is_set():
            return Ending(How.STOPPED)
        with open_pipes() as (out, err):
            _live.add(self)
            try:
                self._start(out, err)
                self._drain(run, {out.reader: stdout, err.reader: stderr})
            finally:
                _live.discard(self)
                if self._ending is None:
                    self._guest.end(Cut.EXIT)
        return self._ending or self._ending_by_cut()

    def end(self) -> None:
        """End the guest because mm itself ends."""
        self._guest.end(Cut.EXIT)

    def _start(self, out: OutputPipe, err: OutputPipe) -> None:
        try:
            work_beside(lambda: self._thread(out, err))
        except RuntimeError as error:
            out.close_writer()
            err.close_writer()
            raise OSError(errno.EAGAIN, "no more threads") from error

    def _drain(self, run: Run, streams: dict[int, Capture]) -> None:
        """Read both streams to their ends, which come when the instance is gone, or until it is left behind."""
        poll = select.poll()
        for reader in streams:
            poll.register(reader, select.POLLIN)
        open_streams = set(streams)
        cut_at: float | None = None
        while open_streams:
            for reader, _ in poll.poll(self._patience() * 1000):
                data = os.read(reader, _CHUNK)
                if data:
                    streams[reader].write(data)
                    self._tell(run, data)
                else:
                    poll.unregister(reader)
                    open_streams.discard(reader)
            cut = self._due_cut(run)
            if cut is not None:
                self._guest.end(cut)
                cut_at = cut_at or time.monotonic()
                if time.monotonic() - cut_at > _GRACE:
                    return

    def _tell(self, run: Run, data: bytes) -> None:
        """Tell the watcher the last whole line, now and then."""
        line = data.rpartition(b"\n")[0].rpartition(b"\n")[2].strip()
        if line and time.monotonic() - self._told_at > _TELL:
            self._told_at = time.monotonic()
            run.watch(line[:_LINE].decode("utf-8", "replace"))

    def _patience(self) -> float:
        """Seconds to wait for output before looking at the clock and the stop event again."""
        if self._deadline is None or self._guest.cut is not None:
            return _TICK
        return max(0.0, min(_TICK, self._deadline - time.monotonic()))

    def _due_cut(self, run: Run) -> Cut | None:
        if self._guest.cut is not None:
            return self._guest.cut
        if run.stop.is_set():
            return Cut.STOP
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return Cut.TIME
        return None

    def _ending_by_cut(self) -> Ending:
        """The guest never came to an end of its own: its thread hangs, or was ended before the guest began."""
        if self._guest.cut is Cut.TIME:
            return Ending(How.STUCK if self._started else How.SLOW)
        return Ending(How.STOPPED)

    def _thread(self, out: OutputPipe, err: OutputPipe) -> None:
        """The guest's own thread. Its ending is noted before the readers see the end of both streams."""
        try:
            module = self._runtime.ready(self._what.digest, self._what.binary)
            if self._guest.cut is None:
                with self._runtime.new_store(self._what.memory) as store:
                    self._guest.clock_start = open_world(store, self._what, out, err)
                    self._ending = self._execute(module, store)
        except (ModuleError, OSError, MemoryError) as error:
            self._ending = Ending(How.UNFIT, why=str(error) or "needs more memory than this machine has")
        except Exception as error:  # noqa: BLE001 - nobody else would see it: the thread is the guest's alone
            self._ending = self._ending or self._ending_by_fault(error)
        finally:
            out.close_writer()
            err.close_writer()

    def _ending_by_fault(self, error: Exception) -> Ending:
        """Something of the runtime or of mm failed, and not the guest."""
        why = describe_error(error) if isinstance(error, WasmtimeError) else f"{type(error).__name__}: {error}"
        if self._started:
            return Ending(How.CRASHED, why=why)
        return Ending(How.UNFIT, why=f"could not be set up ({why})")

    def _execute(self, module: InstancePre, store: Store) -> Ending:
        enter(self._guest, store)
        self._deadline = time.monotonic() + self._what.timeout
        try:
            exports = module.instantiate(store).exports(store)
        except WasmtimeError as error:
            if self._guest.exit_code is None and self._guest.cut is None:
                return Ending(How.UNFIT, why=f"cannot start: {describe_error(error)}")
            return self._explain(error, memory=0)
        except Trap as trap:
            return self._explain(trap, memory=0)
        memory = exports.get("memory")
        self._started = True
        try:
            exports["_start"](store)  # type: ignore[operator]
        except (Trap, WasmtimeError) as error:
            return self._explain(error, memory.data_len(store) if isinstance(memory, Memory) else 0)
        return Ending(How.EXITED, exit_code=0)

    def _explain(self, error: Trap | WasmtimeError, memory: int) -> Ending:
        """Why the guest did not come back from `_start`: it exited, was ended, or crashed."""
        if self._guest.exit_code is not None:
            return Ending(How.EXITED, exit_code=self._guest.exit_code, memory=memory)
        if self._guest.cut is not None:
            return Ending(How.TIME if self._guest.cut is Cut.TIME else How.STOPPED)
        why = describe_trap(error) if isinstance(error, Trap) else describe_error(error)
        return Ending(How.CRASHED, why=why, memory=memory)


_live: set[Call] = set()


def _end_all() -> None:
    """A guest that runs on while the interpreter shuts down would call into what is gone."""
    for call in tuple(_live):
        call.end()
    limit = time.monotonic() + _GRACE / 2
    while _live and time.monotonic() < limit:
        time.sleep(0.01)


atexit.register(_end_all)
