"""Compiled modules on disk, so that only the very first call of a module ever compiles it.

A compiled module is machine code that will be run: the folder is the user's own (0700), files are 0600, and what
belongs to another or could be written by another is not used. The runtime takes compiled code as it is, and damaged
code can end the whole process: so each file begins with a seal, a digest of the code and of what it was compiled
from, and exactly the bytes that were checked are handed over. What does not fit is compiled anew and replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import secrets
from pathlib import Path

from wasmtime import Engine, Module, WasmtimeError

from mm.errors import MMError
from mm.folders import cache_folder, private_folder, refuse_if_not_ours

_SETTINGS = "2"
"""Changes with what `mm.tools.sandbox.engine` sets: a file of other settings is never looked at."""

# Without the package's metadata, as where everything was put into one file, its version is not known.
_NOT_KEPT = (MMError, OSError, WasmtimeError, importlib.metadata.PackageNotFoundError)
_MOST_FILES = 64
_SEAL_SIZE = 32  # bytes


def load(engine: Engine, digest: str) -> Module | None:
    """The compiled module, if it is kept and usable."""
    with contextlib.suppress(*_NOT_KEPT):
        path = _folder() / f"{digest}.cwasm"
        refuse_if_not_ours(path)
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            code = data[_SEAL_SIZE:]
            if data[:_SEAL_SIZE] == _seal(digest, code):
                return Module.deserialize(engine, code)
    return None


def store(module: Module, digest: str) -> None:
    """Keep a compiled module. A disk that is full or read-only costs the next process a compilation, nothing else."""
    with contextlib.suppress(*_NOT_KEPT):
        folder = _folder()
        code = module.serialize()
        _write(folder / f"{digest}.cwasm", _seal(digest, code), code)
        _prune(folder)


def _folder() -> Path:
    return private_folder(cache_folder(), "wasm", _settings())


def _settings() -> str:
    return f"wasmtime-{importlib.metadata.version('wasmtime')}-{platform.machine()}-{_SETTINGS}"


def _seal(digest: str, code: bytes | bytearray) -> bytes:
    """Binds compiled code to the module and to the settings that it was compiled with. `code` may be large."""
    whole = hashlib.sha256(f"{_settings()}\0{digest}\0".encode())  # processors have instructions for it
    whole.update(code)
    return whole.digest()


def _write(path: Path, *parts: bytes | bytearray) -> None:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for part in parts:
                file.write(part)
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
