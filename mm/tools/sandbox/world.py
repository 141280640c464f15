"""All that a module sees: its name, its arguments on stdin, two pipes to write to, the folders granted to it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from wasmtime import Store, WasiConfig, WasmtimeError
from wasmtime import _ffi as ffi

from mm.config.schema import Grant
from mm.tools.sandbox.module import ModuleError
from mm.tools.sandbox.plan import WasmRun


class OutputPipe:
    """A pipe whose writing end the runtime opens for itself, by its path.

    A pipe and no file, which a module could fill the disk with; and no Python callback, which the runtime could still
    call while the interpreter shuts down.
    """

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        self._open = True

    @property
    def path(self) -> str:
        return f"/dev/fd/{self._writer}"

    def close_writer(self) -> None:
        """Close this process's own writing end. May be called twice."""
        if self._open:
            self._open = False
            os.close(self._writer)

    def __enter__(self) -> OutputPipe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.reader)


@contextmanager
def open_pipes() -> Iterator[tuple[OutputPipe, OutputPipe]]:
    """For stdout and stderr: both, or none where this process has no descriptors left. Their readers are closed."""
    with OutputPipe() as stdout:
        try:
            stderr = OutputPipe()
        except OSError:
            stdout.close_writer()
            raise
        with stderr:
            yield stdout, stderr


def open_world(store: Store, what: WasmRun, stdout: OutputPipe, stderr: OutputPipe) -> int:
    """Give `store` its world, and close the writing ends. Returns where the guest's monotonic clock has its zero.

    Raises ModuleError if a granted folder, or a pipe by its path, cannot be opened.
    """
    with WasiConfig() as config:
        config.argv = [what.name]
        config.env = [("PWD", "/")]  # Go programs resolve relative paths against it
        ffi.wasi_config_set_stdin_bytes(config.ptr(), ffi.bytes_to_capi(what.stdin))
        for grant in what.grants:
            _preopen(config, grant)
        try:
            config.stdout_file = stdout.path
            config.stderr_file = stderr.path
        except WasmtimeError as error:
            raise ModuleError(f"has nowhere to write to: `{stdout.path}` cannot be opened") from error
        store.set_wasi(config)
    stdout.close_writer()
    stderr.close_writer()
    return time.monotonic_ns()  # a little late, so that an absolute sleep ends late and never early


def _preopen(config: WasiConfig, grant: Grant) -> None:
    """A folder that has become a link since it was planned is not what was approved."""
    if not grant.folder.is_dir() or grant.folder.resolve() != grant.folder:
        raise ModuleError(f"was granted `{grant.folder}`, which is not there any more")
    try:
        config.preopen_dir(str(grant.folder), f"/{grant.name}", grant.writable)
    except WasmtimeError as error:
        raise ModuleError(f"was granted `{grant.folder}`, which cannot be opened") from error
