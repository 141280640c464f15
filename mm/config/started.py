"""What an agent file has mm start: modules and programs, and what those may read as code.

Which argument a program takes as code, only the program knows. So each one counts that could name a file, but where
it plainly is data: behind a program that is known to run nothing, or behind the agent file's own program.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mm.config.schema import CommandTool, Config, Flag, Group, Hook, Literal, McpServer, Template, WasmTool


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READERS = names(
    "b2sum basename cat cksum cmp comm cp cut date diff dirname du echo egrep fgrep file find fold grep gunzip gzip "
    "head jq ls md5sum mkdir mv nl od paste printf readlink realpath rg rm rmdir sha1sum sha256sum sha512sum sort stat "
    "tac tail test touch tr tree uniq unzip wc xxd zcat"
)
"""Programs that run nothing that they read, but with one of these options."""

_RUNNING_OPTION = re.compile(r"--(pre|compress-prog|hostname-bin)|-(exec|ok)")

_STARTERS = names(
    "ash awk bash bun busybox cmake csh dash deno doas env expect fish gawk gdb git gmake go ionice java julia just "
    "ksh lua luajit make mawk nice ninja node nohup npm npx osascript parallel perl php pip pnpm pwsh python pypy "
    "rscript ruby sed setsid sh ssh stdbuf strace sudo tclsh time timeout ts-node tsx uv uvx watch xargs yarn zsh"
)
"""Programs that run what their arguments name, also where a project keeps its own copy of them."""

_RUNNERS = names("bunx docker npx pipx podman uvx")
"""Programs that run a package by its name; what stands behind that name is the package's data."""

_QUIET = names("-y --yes -q --quiet -i --rm run")
_CODE_FILES = names(".py .js .mjs .cjs .ts .sh .bash .rb .pl .lua .php .so .dll .wasm .jar .mk")
_CODE_VARIABLES = re.compile(
    r"PATH|(PYTHON|NODE_|PERL5|RUBY|LUA_|GIT_|LD_|DYLD_|BASH_|JAVA_|GO)\w*|CLASSPATH|ENV|MAKEFILES|\w+(OPT|OPTS|OPTIONS)"
)
_WORDS = re.compile(r"[^\s;&|()<>{}\[\]\"'`$,]+")
_SUFFIX = re.compile(r".*\w\.\w{1,6}")


@dataclass(frozen=True, slots=True)
class Started:
    """One path that may hold code, and whether mm surely starts it: then its folder should hold nothing else.

    It may be missing: whoever can make it decides what runs.
    """

    what: str
    path: Path
    sure: bool


def started(config: Config, cwd: Path) -> Iterator[Started]:
    """Everything, wherever a relative path may start. `cwd` is where mm was started."""
    for entry in config.tools:
        if isinstance(entry.run, WasmTool):
            yield Started(f"the module of `{entry.name}`", entry.run.module, sure=True)
        else:
            yield from _of_command(config, cwd, entry.name, entry.run)
    for hook in config.hooks:
        yield from _of_hook(config, cwd, hook)
    for server in config.mcp_servers:
        if server.command:
            yield from _of_server(config, cwd, server)


def code_files(tool: CommandTool, cwd: Path) -> tuple[Path, ...]:
    """The files that are there and that the program may run, by the author's own words; `cwd` is where it runs.

    Not the program itself, and not what a program of the author's own is given: that is its data.
    """
    texts = list(_literals(tool))
    name = plain_name(tool.program)
    if _only_reads(name, texts) or ("/" in tool.program and name not in _STARTERS):
        return ()
    return tuple(dict.fromkeys(path for path in _named(tool.program, texts, (cwd,)) if is_file(path)))


def _of_command(config: Config, cwd: Path, name: str, tool: CommandTool) -> Iterator[Started]:
    what = f"the program of `{name}`"
    starts = (config.folder, tool.cwd or cwd)
    yield from _program(what, tool.program)
    yield from _variables(what, tool.env, starts)
    texts = list(_literals(tool))
    if _takes_data(config, tool.program, texts):
        return
    sure = plain_name(tool.program) in _STARTERS
    what = f"what `{name}` runs" if sure else f"what `{name}` may run"
    yield from (Started(what, path, sure and is_file(path)) for path in _named(tool.program, texts, starts))
    if tool.cwd is not None:
        yield Started(f"the working folder of `{name}`", tool.cwd, sure=False)


def _of_hook(config: Config, cwd: Path, hook: Hook) -> Iterator[Started]:
    """All that a hook is given counts: it decides what may run, so its data does too."""
    program, *texts = hook.command
    yield from _program("the program of a hook", program)
    for path in _named("", texts, (config.folder, cwd)):
        yield Started("a file that a hook runs", path, sure=is_file(path))


def _of_server(config: Config, cwd: Path, server: McpServer) -> Iterator[Started]:
    program, *texts = server.command
    what = f"the program of the MCP server `{server.name}`"
    starts = (config.folder, server.cwd or cwd)
    yield from _program(what, program)
    yield from _variables(what, server.env, starts)
    if _takes_data(config, program, texts):
        return
    for path in _named(program, texts, starts):
        yield Started(f"what the MCP server `{server.name}` may run", path, sure=False)
    if server.cwd is not None:
        yield Started(f"the working folder of the MCP server `{server.name}`", server.cwd, sure=False)


def _program(what: str, program: str) -> Iterator[Started]:
    if "/" in program:
        yield Started(what, Path(program), sure=True)
    elif located := shutil.which(program):
        yield Started(what, Path(located), sure=False)


def _variables(what: str, env: Mapping[str, str], starts: Iterable[Path]) -> Iterator[Started]:
    """The files and folders from which a program loads code because a variable says so."""
    for name, value in env.items():
        if _CODE_VARIABLES.fullmatch(name):
            for path in _named("", value.split(":"), starts):
                yield Started(f"`{name}` of {what.removeprefix('the program of ')}", path, sure=False)


def _takes_data(config: Config, program: str, texts: Iterable[str]) -> bool:
    name = plain_name(program)
    if name in _READERS:
        return _only_reads(name, texts)
    own = "/" in program and Path(program).resolve().is_relative_to(config.folder.resolve())
    return own and name not in _STARTERS


def _only_reads(name: str, texts: Iterable[str]) -> bool:
    return name in _READERS and not any(_RUNNING_OPTION.match(text) for text in texts)


def plain_name(program: str) -> str:
    """`python` for `/usr/bin/python3.11`."""
    name = Path(program).name.lower()
    return name.rstrip("0123456789.") or name


def _literals(tool: CommandTool) -> Iterator[str]:
    """What the author wrote in each entry: up to its first placeholder, which may only lead further down."""
    for part in tool.arguments:
        if isinstance(part, Flag):
            yield part.text
        for entry in part.entries if isinstance(part, Group) else (part,) if isinstance(part, Template) else ():
            first = entry.pieces[0] if entry.pieces else None
            yield first.text if isinstance(first, Literal) else ""


def _named(program: str, texts: Iterable[str], starts: Iterable[Path]) -> Iterator[Path]:
    """The paths that arguments name: whole, behind an option or a `=`, or as a word of a script."""
    begins = tuple(dict.fromkeys(starts))
    package = False
    for before, text in pairwise(("", *texts)):
        for start in begins:
            for word in dict.fromkeys(_candidates(text)):
                path = start / word
                if _may_be_path(word, path) and not (package and path.suffix.lower() not in _CODE_FILES):
                    yield path
        if plain_name(program) in _RUNNERS and not text.startswith("-") and text not in _QUIET:
            package = package or not before.startswith("-") or before in _QUIET


def _candidates(text: str) -> Iterator[str]:
    for word in (text, *_WORDS.findall(text)):
        yield word
        yield word.partition("=")[2]
        if re.match(r"-[A-Za-z@]", word):
            yield word[2:]
        if word.startswith("@"):
            yield word[1:]


def _may_be_path(word: str, path: Path) -> bool:
    if not word or word.startswith("-") or "\0" in word:
        return False
    return "/" in word or _SUFFIX.fullmatch(word) is not None or is_file(path) or _is_folder(path)


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
