"""Runs wasm text as a tool would run: the world that the wasm tests share."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from pathlib import Path

from wasmtime import wat2wasm

from mm.config.schema import Grant, WasmTool
from mm.schemas.schema import Schema
from mm.tools.spec import ApprovedCall, Arguments, Kind, Output, Plan, Run, Tool
from mm.tools.wasm import WasmExecutor

IMPORTS = """
(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
(import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "path_open"
  (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "path_symlink"
  (func $path_symlink (param i32 i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "path_unlink_file" (func $path_unlink_file (param i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "path_create_directory"
  (func $path_create_directory (param i32 i32 i32) (result i32)))
"""

READ_RIGHT = 1 << 1
WRITE_RIGHT = 1 << 6


def program(body: str, data: str = "", memory: str = '(memory (export "memory") 1)') -> str:
    """The text of a WASI command whose `_start` is `body`."""
    return f'(module {IMPORTS} {memory} {data} (func (export "_start") {body}))'


def exit_with(expression: str) -> str:
    """A body that exits with the number that `expression` gives: an errno, a count."""
    return f"(call $proc_exit {expression})"


def text_at(address: int, text: str) -> str:
    """A data segment."""
    return bytes_at(address, text.encode())


def bytes_at(address: int, data: bytes) -> str:
    """A data segment."""
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    return f'(data (i32.const {address}) "{escaped}")'


def open_path(path: str, create: bool = False, write: bool = False) -> str:
    """A program that opens `path` in its first folder and exits with the error number of that."""
    rights = READ_RIGHT | (WRITE_RIGHT if write else 0)
    call = (
        f"(call $path_open (i32.const 3) (i32.const 1) (i32.const 1024) (i32.const {len(path.encode())})"
        f" (i32.const {1 if create else 0}) (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 0))"
    )
    return program(exit_with(call), text_at(1024, path))


def say(text: str, stream: int = 1, then: str = "") -> str:
    """A program that writes `text`, then does what the body `then` says."""
    body = f"(drop (call $fd_write (i32.const {stream}) (i32.const 0) (i32.const 1) (i32.const 16)))"
    vector = bytes_at(0, struct.pack("<II", 1024, len(text.encode())))
    return program(body + then, vector + text_at(1024, text))


CHATTER = """
(loop $again
  (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
  (br $again))
"""
"""The body of a program that writes 60,000 zero bytes for ever; needs `CHATTER_DATA`."""

CHATTER_DATA = bytes_at(0, struct.pack("<II", 1024, 60000))

ECHO = """
(local $count i32)
(i32.store (i32.const 0) (i32.const 1024))
(loop $again
  (i32.store (i32.const 4) (i32.const 60000))
  (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
  (local.set $count (i32.load (i32.const 16)))
  (i32.store (i32.const 4) (local.get $count))
  (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
  (br_if $again (local.get $count)))
"""
"""The body of a program that writes what it reads."""


class Bench:
    """Plans and runs modules in a folder of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.executor = WasmExecutor()
        self.stop = threading.Event()
        self.told: list[str] = []

    def assemble(self, text: str, name: str = "tool.wasm") -> Path:
        path = self.folder / name
        path.write_bytes(wat2wasm(text))
        return path

    def tool(self, module: Path, *grants: Grant, memory: int = 256 << 20, timeout: float = 10.0) -> Tool:
        return Tool("demo", Kind.WASM, "", Schema({}), WasmTool(module, grants, memory, timeout))

    def plan(self, tool: Tool, arguments: Arguments | None = None) -> Plan:
        return self.executor.plan(tool, arguments or {})

    def run(self, tool: Tool, arguments: Arguments | None = None, watch: Callable[[str], None] | None = None) -> Output:
        call = ApprovedCall("call-1", tool, arguments or {}, self.plan(tool, arguments))
        return self.executor.run(call, Run(self.stop, self.folder / "spill", watch or self.told.append))

    def run_text(self, text: str, *grants: Grant, memory: int = 256 << 20, timeout: float = 10.0) -> Output:
        return self.run(self.tool(self.assemble(text), *grants, memory=memory, timeout=timeout))
