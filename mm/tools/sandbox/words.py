"""What the runtime says about a module, in plain words and without its backtrace. Each text is a clause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wasmtime import FuncType, Module, Trap, TrapCode, WasmtimeError

from mm.tools.sandbox.host import WASI

_TRAPS = {
    TrapCode.STACK_OVERFLOW: "it ran out of stack, which endless recursion does",
    TrapCode.MEMORY_OUT_OF_BOUNDS: "it used an address outside its memory",
    TrapCode.TABLE_OUT_OF_BOUNDS: "it called a function that is not there",
    TrapCode.INDIRECT_CALL_TO_NULL: "it called a function that is not there",
    TrapCode.BAD_SIGNATURE: "it called a function with arguments of the wrong type",
    TrapCode.INTEGER_OVERFLOW: "a calculation with integers overflowed",
    TrapCode.INTEGER_DIVISION_BY_ZERO: "it divided by zero",
    TrapCode.BAD_CONVERSION_TO_INTEGER: "it turned a number that is no integer into one",
    TrapCode.UNREACHABLE: "it gave up by itself, as a panic, an abort or a failed assertion does",
    TrapCode.NULL_REFERENCE: "it used a reference to nothing",
    TrapCode.ARRAY_OUT_OF_BOUNDS: "it used an index outside a list",
    TrapCode.ALLOCATION_TOO_LARGE: "it asked for more memory than there can be",
    TrapCode.UNCAUGHT_EXCEPTION: "it threw an exception that nothing caught",
}

_COMPONENT = b"\0asm\x0d\0\1\0"
_BINARY = b"\0asm"


def describe_trap(trap: Trap) -> str:
    """Why a module crashed: "it divided by zero"."""
    code = _trap_code(trap)
    if code is not None:
        return _TRAPS.get(code, "it broke off")
    cause = _cause(str(trap))
    return _TRAPS[TrapCode.UNCAUGHT_EXCEPTION] if cause == "thrown Wasm exception" else cause


def describe_error(error: WasmtimeError) -> str:
    """Why a module could not be started or go on: "it starts with 16 MiB of memory, which is over its limit"."""
    cause = _cause(str(error))
    pages = re.fullmatch(r"memory minimum size of (\d+) pages exceeds memory limits", cause)
    return f"it starts with {int(pages[1]) / 16:g} MiB of memory, which is over its limit" if pages else cause


def describe_binary(binary: bytes) -> str | None:
    """What is wrong with bytes that are not a core module, before anything compiles them. None: nothing yet."""
    if not binary:
        return "is empty"
    if binary.startswith(_COMPONENT):
        return "is a component, not a core module: build it for WASI preview 1 (wasip1), not for preview 2"
    if binary.lstrip().startswith(b"(module"):
        return "is the text form of a module (WAT): assemble it first, for example with `wasm-tools parse`"
    if not binary.startswith(_BINARY):
        return "is not WebAssembly: a module starts with the bytes 00 61 73 6d"
    return None


def describe_shape(module: Module) -> str | None:
    """What keeps a compiled module from being a WASI preview 1 command. None: it is one."""
    exports = {export.name: export.type for export in module.exports}
    start = exports.get("_start")
    if start is None and "_initialize" in exports:
        return "is a library (it has `_initialize` and no `_start`): build it as a command, a program with `main`"
    if start is None:
        return "has no function `_start`: build it as a WASI command, a program with `main`"
    if not isinstance(start, FuncType) or start.params or start.results:
        return "has a `_start` that is not a function without parameters and results"
    return None


def describe_missing(imports: Sequence[str]) -> str:
    """Imports (as `module.name`) that mm does not offer."""
    listed = ", ".join(f"`{one}`" for one in imports[:5]) + (
        f" and {len(imports) - 5} more" if len(imports) > 5 else ""
    )
    return f"needs {listed}, which mm does not offer: it offers WASI preview 1 (`{WASI}`) and nothing else"


def _trap_code(trap: Trap) -> TrapCode | None:
    try:
        return trap.trap_code
    except ValueError:  # newer than the table
        return None


def _cause(text: str) -> str:
    """The first line of what the runtime names as the cause, without numbering and backtrace."""
    lines = (re.sub(r"^\s*\d+:\s*", "", line).strip() for line in text.rpartition("Caused by:")[2].splitlines())
    return next((line for line in lines if line), "the runtime did not say why")[:300]
