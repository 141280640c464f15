"""What keeps a program or a module from running, seen without running it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from mm.config.schema import CommandTool, WasmTool

InspectModule = Callable[[Path, int], str | None]
"""What keeps a module from running with so much memory, as a sentence; None if nothing does."""

Words = tuple[str, str]
"""A message and its hint."""

_MACH = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe")


def look_at_module(tool: WasmTool, inspect: InspectModule | None) -> Iterator[Words]:
    """What keeps a module from running. Without `inspect` it is only looked at from outside."""
    try:
        with tool.module.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        hint = "Build it first, or mend the path." if missing else ""
        yield f"the module `{tool.module}` cannot be read: {error.strerror}", hint
        return
    if start[:4] != b"\0asm":
        yield f"`{tool.module}` is not a wasm module", "Build it for `wasm32-wasip1` (Go: GOOS=wasip1 GOARCH=wasm)."
    elif start[4:] != b"\x01\0\0\0":
        yield f"`{tool.module}` is a component, not a module", "Build it for `wasm32-wasip1`, WASI preview 1."
    elif inspect is not None and (reason := inspect(tool.module, tool.memory)):
        yield reason, "Build it as a command: a program with `main`, for `wasm32-wasip1`."


def look_at_program(tool: CommandTool, path: str | None) -> Iterator[Words]:
    """What keeps a program from starting. `path` is where a plain name is looked for, else PATH."""
    program = tool.program
    if tool.cwd is not None and not tool.cwd.is_dir():
        yield f"`cwd`: there is no folder `{tool.cwd}`", f"Make it: mkdir -p {tool.cwd}"
    if "/" not in program:
        if shutil.which(program, path=path) is None:
            yield f"the program `{program}` is not on PATH", "Install it, or write its path with a slash."
        return
    file = Path(program)
    if not file.exists():
        yield f"there is no program `{program}`", "Mend the path: it starts at the folder of the agent file."
    elif not file.is_file():
        yield f"`{program}` is not a file", "Name the program itself."
    elif not os.access(file, os.X_OK):
        yield f"`{program}` is not executable", f"Run: chmod +x {program}"
    else:
        yield from _first_line(file, path)


def _first_line(file: Path, path: str | None) -> Iterator[Words]:
    """A script whose interpreter is missing or misspelt fails with `No such file`, which sends people astray."""
    try:
        with file.open("rb") as opened:
            start = opened.read(256)
    except OSError:
        return
    if start[:2] != b"#!":
        if start and start[:4] != b"\x7fELF" and b"\0" not in start and start[:4] not in _MACH:
            yield f"`{file}` is a text without a first line that names its interpreter", "Start it with: #!/bin/sh"
        return
    line = start[2:].partition(b"\n")[0].decode("utf-8", "replace")
    words = line.split()
    if line.endswith("\r"):
        yield f"`{file}` has Windows line ends, so its interpreter is not found", f"Run: sed -i 's/\\r$//' {file}"
    elif not words or not Path(words[0]).exists():
        yield f"the interpreter of `{file}` is missing: `{line.strip()}`", "Install it, or mend the first line."
    elif words[0].endswith("/env") and words[1:2] and words[1].isalnum() and not shutil.which(words[1], path=path):
        yield f"the interpreter of `{file}` is not on PATH: `{words[1]}`", "Install it."
