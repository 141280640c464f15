"""Refuses write grants that reach what the agent file itself trusts: modules, hooks, programs, skills, mm's folders."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mm import folders
from mm.config.reader import Reader
from mm.config.schema import Config, Hook, Literal, Template, ToolEntry, WasmTool
from mm.config.wasm_entry import WrittenGrant, is_inside

_INTERPRETERS = frozenset(
    {
        "python",
        "sh",
        "bash",
        "dash",
        "zsh",
        "fish",
        "node",
        "deno",
        "bun",
        "ruby",
        "perl",
        "php",
        "lua",
        "Rscript",
        "env",
    }
)


@dataclass(frozen=True, slots=True)
class _Trusted:
    """A file or folder, resolved. `closed` is the folder in which nothing may be granted for writing."""

    what: str
    path: Path
    closed: Path | None


def check_write_grants(reader: Reader, config: Config, grants: Iterable[WrittenGrant]) -> None:
    """Report each write grant that contains a trusted file, or lies inside a folder that holds such files.

    The agent file's own folder may hold both a program and a granted folder, so it (and what is above it) closes
    nothing by itself.
    """
    written = [one for one in grants if one.grant.writable]
    if not written:
        return
    trusted = [*_trusted(config)]
    for one in written:
        hint = "Grant a folder of its own for data."
        for item in trusted:
            if is_inside(item.path, one.resolved):
                reader.problem(one.node, f"`write: {one.node.text}` contains {item.what}", hint)
                break
            if item.closed is not None and is_inside(one.resolved, item.closed):
                reader.problem(one.node, f"`write: {one.node.text}` lies in the folder of {item.what}", hint)
                break


def _trusted(config: Config) -> Iterator[_Trusted]:
    home = Path(os.path.realpath(config.folder))
    if config.file is not None:
        yield _Trusted("the agent file", Path(os.path.realpath(config.file)), None)
    for folder in folders.own_folders():
        path = Path(os.path.realpath(folder))
        yield _Trusted("a folder of mm's own", path, path)
    for skills in config.skills:
        path = Path(os.path.realpath(skills))
        yield _Trusted("skills", path, path if path != home else None)
    for what, file in _files(config):
        for path in {Path(os.path.realpath(file)), file.absolute()}:
            folder = path.parent
            yield _Trusted(what, path, None if is_inside(home, folder) else folder)


def _files(config: Config) -> Iterator[tuple[str, Path]]:
    for entry in config.tools:
        yield from _of_entry(config, entry)
    for hook in config.hooks:
        yield from _of_hook(config, hook)


def _of_entry(config: Config, entry: ToolEntry) -> Iterator[tuple[str, Path]]:
    if isinstance(entry.run, WasmTool):
        yield f"the module of `{entry.name}`", entry.run.module
        return
    if "/" in entry.run.program:
        yield f"the program of `{entry.name}`", Path(entry.run.program)
    if Path(entry.run.program).name.rstrip("0123456789.") in _INTERPRETERS:
        for argument in entry.run.arguments:
            literal = argument.pieces[0] if isinstance(argument, Template) and len(argument.pieces) == 1 else None
            if isinstance(literal, Literal):
                yield from ((f"the script of `{entry.name}`", path) for path in _named_files(config, literal.text))


def _of_hook(config: Config, hook: Hook) -> Iterator[tuple[str, Path]]:
    if "/" in hook.command[0]:
        yield "the program of a hook", Path(hook.command[0])
    for text in hook.command[1:]:
        yield from (("a file that a hook runs", path) for path in _named_files(config, text))


def _named_files(config: Config, text: str) -> Iterator[Path]:
    """The files that an argument names, wherever a relative path may start."""
    for start in (config.folder, Path.cwd()):
        with contextlib.suppress(OSError, ValueError):
            if (start / text).is_file():
                yield start / text
