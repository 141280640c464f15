"""A wasm tool as the benchmarks call it: planned and run as mm does, without the journey around it."""

from __future__ import annotations

import threading
from pathlib import Path

from mm.config.schema import Grant, WasmTool
from mm.schemas.schema import Schema
from mm.tools.spec import ApprovedCall, Kind, Run, Tool
from mm.tools.wasm import WasmExecutor

ARGUMENTS = {"name": "note.txt"}


class WasmContender:
    """A module that may read `folder`/notes."""

    def __init__(self, module: Path, folder: Path) -> None:
        spec = WasmTool(module, (Grant(folder / "notes", "notes", writable=False),))
        self._tool = Tool("word_count", Kind.WASM, "", Schema({}), spec)
        self._executor = WasmExecutor()
        self._run = Run(threading.Event(), folder / "spill")

    def __call__(self) -> bytes:
        plan = self._executor.plan(self._tool, ARGUMENTS)
        return self._executor.run(ApprovedCall("1", self._tool, ARGUMENTS, plan), self._run).stdout.head
