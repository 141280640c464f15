"""The runtime of all wasm tools: one engine, one set of host functions, each module compiled once."""

from __future__ import annotations

import threading
from collections import defaultdict

from wasmtime import Config, Engine, ImportType, InstancePre, Linker, Module, Store, WasmtimeError

from mm.tools.sandbox import cache
from mm.tools.sandbox.host import define_host
from mm.tools.sandbox.module import ModuleError
from mm.tools.sandbox.sections import describe_counts
from mm.tools.sandbox.words import describe_binary, describe_error, describe_missing, describe_shape

_MOST_TABLE_ENTRIES = 1_000_000  # of 8 bytes each
_MOST_TABLES = 16


class Runtime:
    """Compiles modules and keeps them ready. Safe to use from several threads."""

    def __init__(self) -> None:
        self.engine = Engine(_config())
        self._linker = Linker(self.engine)
        define_host(self._linker)
        self._ready: dict[str, InstancePre] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def ready(self, digest: str, binary: bytes) -> InstancePre:
        """A module, linked and ready to be instantiated any number of times.

        Raises ModuleError with a clause in plain words for bytes that are no WASI preview 1 command.
        """
        found = self._ready.get(digest)
        if found is not None:
            return found
        with self._locks[digest]:
            if digest not in self._ready:
                self._ready[digest] = self._link(self._load(digest, binary))
            return self._ready[digest]

    def new_store(self, memory: int) -> Store:
        """An empty store whose guest may have `memory` bytes."""
        store = Store(self.engine)
        store.set_limits(
            memory_size=memory, table_elements=_MOST_TABLE_ENTRIES, instances=1, tables=_MOST_TABLES, memories=2
        )
        return store

    def _load(self, digest: str, binary: bytes) -> Module:
        module = cache.load(self.engine, digest)
        if module is not None:
            return module
        module = compile_module(self.engine, binary)
        cache.store(module, digest)
        return module

    def _link(self, module: Module) -> InstancePre:
        missing = self._missing(module)
        problem = describe_shape(module) or (describe_missing(missing) if missing else None)
        if problem:
            raise ModuleError(problem)
        try:
            return self._linker.instantiate_pre(module)
        except WasmtimeError as error:
            raise ModuleError(f"does not fit WASI preview 1: {describe_error(error)}") from error

    def _missing(self, module: Module) -> list[str]:
        """The imports of a module that nothing is linked to."""
        with Store(self.engine) as store:
            return [f"{one.module}.{one.name}" for one in module.imports if not self._has(store, one)]

    def _has(self, store: Store, wanted: ImportType) -> bool:
        try:
            self._linker.get(store, wanted.module, wanted.name or "")
        except WasmtimeError:
            return False
        return True


def compile_module(engine: Engine, binary: bytes) -> Module:
    """Raises ModuleError for bytes that are not a core module, or that no time limit would hold for."""
    problem = describe_binary(binary) or describe_counts(binary)
    if problem:
        raise ModuleError(problem)
    try:
        return Module(engine, binary)
    except WasmtimeError as error:
        raise ModuleError(f"is damaged or uses what the runtime does not know: {describe_error(error)}") from error


def _config() -> Config:
    """Change `_SETTINGS` of `mm.tools.sandbox.cache` with anything in here that changes the compiled code."""
    config = Config()
    config.epoch_interruption = True
    config.wasm_multi_memory = False  # the memory limit counts for each memory
    return config
