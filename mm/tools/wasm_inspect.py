"""Looks at a wasm module without running it, for `mm tools check`."""

from __future__ import annotations

from pathlib import Path

from wasmtime import MemoryType, Module

from mm.tools.sandbox.engine import Runtime
from mm.tools.sandbox.module import ModuleError, ModuleFiles

_PAGE = 65536  # bytes


def inspect_module(path: Path, memory: int | None = None) -> str | None:
    """What keeps a module from running with a limit of `memory` bytes, as one sentence; None if nothing does.

    Compiles the module, so that its first call need not.
    """
    try:
        file = ModuleFiles().read(path)
        module = Runtime().ready(file.digest, file.binary).module
    except ModuleError as error:
        return f"The module `{path}` {error}."
    needed = _least_memory(module)
    if memory is not None and needed > memory:
        return (
            f"The module `{path}` starts with {needed / 2**20:g} MiB of memory, "
            f"but `memory` allows {memory / 2**20:g} MiB."
        )
    return None


def _least_memory(module: Module) -> int:
    """Bytes of memory that an instance starts with."""
    memories = [export.type for export in module.exports if isinstance(export.type, MemoryType)]
    return max((memory.limits.min * _PAGE for memory in memories), default=0)
