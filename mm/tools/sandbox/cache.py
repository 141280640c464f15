"""Compiled modules on disk, so that only the very first call of a module ever compiles it.

A compiled module is machine code that will be run: the folder is the user's own (0700), files are 0600, and what
belongs to another or could be written by another is not used. Each file has its own name by the digest of the module,
and is replaced as a whole: the runtime maps it into memory.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import secrets
from pathlib import Path

from wasmtime import Engine, Module, WasmtimeError

from mm.errors import MMError
from mm.folders import cache_folder, private_folder, refuse_if_not_ours

_SETTINGS = "1"
"""Changes with what `mm.tools.sandbox.engine` sets: a file of other settings is never looked at."""

_MOST_FILES = 64


def load(engine: Engine, digest: str) -> Module | None:
    """The compiled module, if it is kept and usable."""
    with contextlib.suppress(MMError, OSError, WasmtimeError):
        path = _folder() / f"{digest}.cwasm"
        refuse_if_not_ours(path)
        if path.is_file() and not path.is_symlink():
            return Module.deserialize_file(engine, str(path))
    return None


def store(module: Module, digest: str) -> None:
    """Keep a compiled module. A disk that is full or read-only costs the next process a compilation, nothing else."""
    with contextlib.suppress(MMError, OSError, WasmtimeError):
        folder = _folder()
        _write(folder / f"{digest}.cwasm", bytes(module.serialize()))
        _prune(folder)


def _folder() -> Path:
    name = f"wasmtime-{importlib.metadata.version('wasmtime')}-{platform.machine()}-{_SETTINGS}"
    return private_folder(cache_folder(), "wasm", name)


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _prune(folder: Path) -> None:
    """Remove the files that were written longest ago."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_MOST_FILES:]:
        path.unlink(missing_ok=True)
