"""What keeps a program or a module from running, seen without running it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mm.config.flow import flow
from mm.config.near import nearest
from mm.config.schema import CommandTool, Place, WasmTool
from mm.visible import make_shell_word

InspectModule = Callable[[Path, int], str | None]
"""What keeps a module from running with so much memory, as a sentence; None if nothing does."""

_MACH = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe")
_SOURCES = {
    ".c": ("C source", "zig cc -target wasm32-wasi -o {wasm} {source}"),
    ".cpp": ("C++ source", "zig c++ -target wasm32-wasi -o {wasm} {source}"),
    ".go": ("Go source", "GOOS=wasip1 GOARCH=wasm go build -o {wasm} {source}"),
    ".rs": ("Rust source", "rustc --target wasm32-wasip1 -o {wasm} {source}"),
    ".zig": ("Zig source", "zig build-exe -target wasm32-wasi -femit-bin={wasm} {source}"),
    ".wat": ("the text form of a module", "wat2wasm -o {wasm} {source}"),
}
_MODULE_NAME = re.compile(r"[\w-]+\.wasm\b")
_MOST_NAMES = 5_000  # of programs that a misspelt one is compared with


@dataclass(frozen=True, slots=True)
class Words:
    """A finding in words. Without a place, it is about the entry as a whole."""

    message: str
    hint: str = ""
    place: Place | None = None


def look_at_module(tool: WasmTool, inspect: InspectModule | None, folder: Path) -> Iterator[Words]:
    """What keeps a module from running. Without `inspect` it is only looked at from outside."""
    source = _SOURCES.get(tool.module.suffix)
    if source:
        kind, build = source
        shown, wasm = _shown(tool.module, folder), _shown(tool.module.with_suffix(".wasm"), folder)
        line = build.format(wasm=make_shell_word(wasm), source=make_shell_word(shown))
        hint = _by_script(tool.module, folder) or f"Build it ({line}) and write `wasm: {flow(wasm)}`."
        yield Words(f"`{shown}` is {kind}, not a wasm module", hint)
        return
    try:
        with tool.module.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        near = _near_file(tool.module, folder) if missing else ""
        hint = f"Write `wasm: {flow(near)}`, or build it first." if near else "Build it first, or mend the path."
        yield Words(f"the module `{tool.module}` cannot be read: {error.strerror}", hint if missing else "")
        return
    if start[:2] == b"#!":
        hint = f"Write `command: [{flow(_shown(tool.module, folder))}]` in place of `wasm`."
        yield Words(f"`{tool.module}` is not a wasm module but a script", hint)
    elif start[:4] != b"\0asm":
        hint = "Build it for `wasm32-wasip1` (Go: GOOS=wasip1 GOARCH=wasm)."
        yield Words(f"`{tool.module}` is not a wasm module", hint)
    elif start[4:] != b"\x01\0\0\0":
        yield Words(f"`{tool.module}` is a component, not a module", "Build it for `wasm32-wasip1`, WASI preview 1.")
    elif inspect is not None and (reason := inspect(tool.module, tool.memory)):
        yield Words(reason, "Build it as a command: a program with `main`, for `wasm32-wasip1`.")


def _by_script(source: Path, folder: Path) -> str:
    """How to build a source beside which a build script stands, and what to write then; "" without such a script."""
    place = source.parent.parent if source.parent.name == "src" else source.parent
    script = place / "build.sh"
    try:
        named = _MODULE_NAME.search(script.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    if named is None:
        return ""
    line = f"sh {make_shell_word(_shown(script, folder))}"
    return f"Run {line} and write `wasm: {flow(_shown(place / named[0], folder))}`."


def look_at_command(tool: CommandTool, path: str | None, folder: Path) -> Iterator[Words]:
    """What keeps the program of a tool entry from starting; a module belongs under another key."""
    file = folder / tool.program
    if tool.program and _is_module(file):
        shown = _shown(file, folder)
        hint = f"Write `wasm: {flow(shown)}` in place of `command`: a module is given its arguments as JSON on stdin."
        yield Words(f"`{shown}` is a wasm module, not a program", hint)
    else:
        yield from look_at_program(tool, path, folder)


def _is_module(file: Path) -> bool:
    """Whether a file is a module, or is called like one while it is not built."""
    try:
        with file.open("rb") as opened:
            return opened.read(4) == b"\0asm"
    except OSError:
        return file.suffix == ".wasm"


def look_at_program(tool: CommandTool, path: str | None, folder: Path) -> Iterator[Words]:
    """What keeps a program from starting. `path` is where a plain name is looked for, else PATH.

    `folder` is that of the agent file: edits name what lies there by `./`.
    """
    program = tool.program
    if not program:
        return
    if "/" not in program:
        if shutil.which(program, path=path) is None:
            yield Words(f"the program `{program}` is not on PATH", _not_on_path(program, path, folder))
        return
    file = Path(program)
    if not file.exists():
        near = _near_file(file, folder)
        hint = f"Did you mean `{near}`?" if near else "Mend the path: it starts at the folder of the agent file."
        yield Words(f"there is no program `{program}`", hint)
    elif not file.is_file():
        yield Words(f"`{program}` is not a file", "Name the program itself.")
    elif not os.access(file, os.X_OK):
        yield Words(f"`{program}` is not executable", f"Run: chmod +x {make_shell_word(program)}")
    else:
        yield from _first_line(file, path)


def look_at_cwd(cwd: Path | None) -> Iterator[Words]:
    """A folder to run in that is not there."""
    if cwd is not None and not cwd.is_dir():
        yield Words(f"`cwd`: there is no folder `{cwd}`", f"Make it: mkdir -p {make_shell_word(str(cwd))}")


def _not_on_path(program: str, path: str | None, folder: Path) -> str:
    if (folder / program).is_file():
        return f"Write `./{program}`: it lies beside the agent file."
    if " " in program:
        words = ", ".join(flow(word) for word in program.split())
        return f"Write each argument as its own entry: {words}"
    beside = _near_file(folder / program, folder)
    if beside:
        return f"Did you mean `{beside}`?"
    near = nearest(program, _names_on_path(path), cutoff=0.75)
    return f"Did you mean `{near}`?" if near else "Install it, or write its path with a slash."


def _names_on_path(path: str | None) -> list[str]:
    names: list[str] = []
    for folder in (path if path is not None else os.environ.get("PATH", "")).split(os.pathsep):
        names += _names_in(Path(folder)) if folder else []
    return names[:_MOST_NAMES]


def _near_file(file: Path, folder: Path) -> str:
    """A file in the same folder that is called almost so, as it would be written; "" if there is none."""
    near = nearest(file.name, _names_in(file.parent), cutoff=0.75)
    if not near or not (file.parent / near).is_file():
        return ""
    return _shown(file.parent / near, folder)


def _shown(file: Path, folder: Path) -> str:
    return f"./{file.relative_to(folder)}" if file.is_relative_to(folder) else str(file)


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry, _ in zip(found, range(_MOST_NAMES), strict=False))
    except OSError:
        return []


def _first_line(file: Path, path: str | None) -> Iterator[Words]:
    """A script whose interpreter is missing or misspelt fails with `No such file`, which sends people astray."""
    try:
        with file.open("rb") as opened:
            start = opened.read(256)
    except OSError:
        return
    if start[:2] != b"#!":
        if start and start[:4] != b"\x7fELF" and b"\0" not in start and start[:4] not in _MACH:
            message = f"`{file}` is a text without a first line that names its interpreter"
            yield Words(message, f"Start it with: {_interpreter(file)}")
        return
    line = start[2:].partition(b"\n")[0].decode("utf-8", "replace")
    words = line.split()
    if line.endswith("\r"):
        hint = f"Run: sed -i 's/\\r$//' {make_shell_word(str(file))}"
        yield Words(f"`{file}` has Windows line ends, so its interpreter is not found", hint)
    elif not words or not Path(words[0]).exists():
        hint = "Install it, or mend the first line."
        yield Words(f"the interpreter of `{file}` is missing: `{line.strip()}`", hint)
    elif words[0].endswith("/env") and words[1:2] and words[1].isalnum() and not shutil.which(words[1], path=path):
        yield Words(f"the interpreter of `{file}` is not on PATH: `{words[1]}`", "Install it.")


def _interpreter(file: Path) -> str:
    """The first line that a script of this ending starts with."""
    known = {".py": "python3", ".js": "node", ".rb": "ruby", ".pl": "perl", ".bash": "bash"}
    return f"#!/usr/bin/env {known[file.suffix]}" if file.suffix in known else "#!/bin/sh"


def at(place: Place | None, found: Iterable[Words]) -> Iterator[Words]:
    """The same findings, at a place of their own."""
    for words in found:
        yield Words(words.message, words.hint, words.place or place)
