"""What mm itself does for a running module: ends it, lets it sleep, and takes its exit code.

Three functions are called by the runtime, on the guest's own thread. They are handed over as C functions: the
runtime package's Python wrapper keeps a raised exception in a global that another thread may pick up. None of them
raises; each returns an error number, or a pointer to an error or trap that the runtime then owns.
"""

from __future__ import annotations

import ctypes
import threading
from enum import Enum
from typing import Any

from wasmtime import Caller, Engine, FuncType, Linker, Memory, Store, ValType, WasmtimeError
from wasmtime import _ffi as ffi

from mm.tools.sandbox.poll import (
    EVENT_SIZE,
    MOST_SUBSCRIPTIONS,
    SUBSCRIPTION_SIZE,
    Subscription,
    read_subscriptions,
    wait_for,
)

WASI = "wasi_snapshot_preview1"

_FAULT, _INVALID = 21, 28  # errno `fault`, `inval`


class Cut(Enum):
    """Why a guest was ended by mm."""

    TIME = "time"
    STOP = "stop"
    EXIT = "exit"  # mm itself ends


class Guest:
    """One running module, as its own thread and the thread that waits for it both see it."""

    def __init__(self, engine: Engine) -> None:
        self.cut: Cut | None = None
        self.exit_code: int | None = None
        self.clock_start = 0  # nanoseconds of this machine's monotonic clock
        self.ended = threading.Event()
        self._engine = engine

    def end(self, cut: Cut) -> None:
        """Make the guest stop at its next instruction that looks at the epoch. May be called again."""
        self.cut = self.cut or cut
        self._engine.increment_epoch()
        self.ended.set()


_running = threading.local()


def enter(guest: Guest, store: Store) -> None:
    """Say that this thread runs `guest` in `store` from now on. Before instantiation: a start function may loop."""
    _running.guest = guest
    store.set_epoch_deadline(1)
    ffi.wasmtime_store_epoch_deadline_callback(store.ptr(), _on_epoch, None, _NO_FINALIZER)


def define_host(linker: Linker) -> None:
    """WASI as the runtime has it, with mm's own sleep and exit in it."""
    linker.allow_shadowing = True
    linker.define_wasi()
    _define(linker, "poll_oneoff", FuncType([ValType.i32()] * 4, [ValType.i32()]), _poll_oneoff)
    _define(linker, "proc_exit", FuncType([ValType.i32()], []), _proc_exit)


def _define(linker: Linker, name: str, signature: FuncType, function: Any) -> None:
    module_bytes, name_bytes = WASI.encode(), name.encode()
    error = ffi.wasmtime_linker_define_func(
        linker.ptr(),
        ctypes.create_string_buffer(module_bytes),
        len(module_bytes),
        ctypes.create_string_buffer(name_bytes),
        len(name_bytes),
        signature.ptr(),
        function,
        None,
        _NO_FINALIZER,
    )
    if error:
        raise WasmtimeError._from_ptr(error)


_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))

_EpochFunction = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ffi.wasmtime_update_deadline_kind_t),
)


@_EpochFunction  # type: ignore[untyped-decorator]
def _on_epoch(context: Any, data: Any, delta: Any, kind: Any) -> int:
    """The engine's epoch was raised for some guest: end this one if it is the one that was meant."""
    if _running.guest.cut is not None:
        return _address(ffi.wasmtime_error_new(b"ended"))
    delta[0] = 1
    kind[0] = 0  # go on
    return 0


@ffi.wasmtime_func_callback_t  # type: ignore[untyped-decorator]
def _proc_exit(data: Any, caller: Any, arguments: Any, count: int, results: Any, result_count: int) -> int:
    """Any 32-bit exit code. The runtime's own knows those up to 125 only."""
    _running.guest.exit_code = arguments[0].of.i32 & 0xFFFFFFFF
    return _address(ffi.wasmtime_trap_new(ctypes.create_string_buffer(b"exit"), 4))


@ffi.wasmtime_func_callback_t  # type: ignore[untyped-decorator]
def _poll_oneoff(data: Any, caller: Any, arguments: Any, count: int, results: Any, result_count: int) -> int:
    """Sleeps on an event instead of in the runtime, where nothing could wake it."""
    taken = [arguments[index].of.i32 & 0xFFFFFFFF for index in range(4)]
    access = Caller(caller)
    memory = access.get("memory")
    error = _poll(memory, access, *taken) if isinstance(memory, Memory) else _FAULT
    if error is None:
        return _address(ffi.wasmtime_trap_new(ctypes.create_string_buffer(b"ended"), 5))
    results[0].kind = ffi.WASMTIME_I32
    results[0].of.i32 = error
    return 0


def _poll(memory: Memory, access: Caller, source: int, target: int, count: int, told: int) -> int | None:
    """Serve one `poll_oneoff`: its error number, or None if the guest was ended. `told` is where a count goes."""
    if not 0 < count <= MOST_SUBSCRIPTIONS:
        return _INVALID
    size = memory.data_len(access)
    ends = (source + count * SUBSCRIPTION_SIZE, target + count * EVENT_SIZE, told + 4)
    if max(ends) > size:
        return _FAULT
    guest: Guest = _running.guest
    wanted = read_subscriptions(bytes(memory.read(access, source, ends[0])), guest.clock_start)
    due: list[Subscription] = wait_for(wanted, guest.ended)
    if not due:
        return None
    memory.write(access, b"".join(one.event() for one in due), target)
    memory.write(access, len(due).to_bytes(4, "little"), told)
    return 0


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
