"""Scripts that an interpreter is given by a relative path: it looks for them where it is started, mm does not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mm.config.flow import flow
from mm.config.program_findings import Words
from mm.config.schema import CommandTool, Hook, Literal, McpServer, Template
from mm.config.started import is_file, plain_name
from mm.visible import make_shell_word

_IN_SHELLS, _IN_PYTHON, _ELSEWHERE = r"-[a-z]*c[a-z]*", r"-[A-Za-z]*[cm]", r"-[A-Za-z]*[eEnpr]|--(eval|print)(=.*)?"
"""The options behind which no script stands, but code or the name of a module."""

_INTERPRETERS = {
    **dict.fromkeys(("bash", "dash", "fish", "ksh", "sh", "zsh"), _IN_SHELLS),
    **dict.fromkeys(("python", "pypy", "uv"), _IN_PYTHON),
    **dict.fromkeys(("bun", "deno", "julia", "lua", "luajit", "node", "osascript", "perl", "php"), _ELSEWHERE),
    **dict.fromkeys(("rscript", "ruby", "tclsh", "ts-node", "tsx"), _ELSEWHERE),
}


def look_at_script(tool: CommandTool, folder: Path) -> Iterator[Words]:
    """A script beside the agent file that a tool's interpreter looks for elsewhere. `folder` is that of the file."""
    texts = [_literal(argument) for argument in tool.arguments]
    position = _misplaced(tool.program, texts, folder, tool.cwd)
    if position is None:
        return
    argument, script = tool.arguments[position], str(texts[position])
    place = argument.place if isinstance(argument, Template) else None
    beside = "" if tool.cwd else ", or `cwd: .` to run it beside the agent file"
    hint = f"{_as_program(script, folder)}{beside}, or its whole path."
    yield Words(_message(tool.program, script, tool.cwd), hint, place)


def look_at_hook_script(hook: Hook, folder: Path) -> Iterator[Words]:
    """The same for a hook, which always runs where mm was started."""
    program, *texts = hook.command
    position = _misplaced(program, texts, folder, None)
    if position is not None:
        yield Words(
            _message(program, texts[position], None), f"{_as_program(texts[position], folder)}, or its whole path."
        )


def look_at_server_script(server: McpServer, folder: Path) -> Iterator[Words]:
    """The same for an MCP server."""
    program, *texts = server.command
    position = _misplaced(program, texts, folder, server.cwd)
    if position is not None:
        beside = "" if server.cwd else "Write `cwd: .` beside `args`, to start it beside the agent file. Or write "
        whole = f"`{flow(str(folder / texts[position]))}` in `args`."
        yield Words(_message(program, texts[position], server.cwd), f"{beside or 'Write '}{whole}")


def _misplaced(program: str, texts: Sequence[str | None], folder: Path, cwd: Path | None) -> int | None:
    """Which argument is a script that is there beside the agent file, and not (or not surely) where it is looked for.

    None among `texts` is what a call decides.
    """
    no_script = _INTERPRETERS.get(plain_name(program))
    if no_script is None:
        return None
    behind_option = False
    for position, text in enumerate(texts):
        if text is None or re.fullmatch(no_script, text):
            return None
        if text.startswith("-"):
            behind_option = True
        elif is_file(folder / text):
            return None if text.startswith("/") or (cwd is not None and is_file(cwd / text)) else position
        elif text != "run" and plain_name(text) not in _INTERPRETERS:  # as in `uv run python x.py`
            if not behind_option:
                return None
            behind_option = False  # that was the option's value
    return None


def _literal(argument: object) -> str | None:
    """The text of an argument that is the same at each call."""
    pieces = argument.pieces if isinstance(argument, Template) else ()
    texts = [piece.text for piece in pieces if isinstance(piece, Literal)]
    return "".join(texts) if pieces and len(texts) == len(pieces) else None


def _message(program: str, script: str, cwd: Path | None) -> str:
    where = f"in `{cwd}`" if cwd else "in the folder that mm is started in"
    return f"`{Path(program).name}` looks for `{script}` {where}, not beside the agent file"


def _as_program(script: str, folder: Path) -> str:
    """The edit that makes the script the program, which is looked for beside the agent file."""
    written = script if script.startswith(("./", "../")) else f"./{script}"
    runs = os.access(folder / script, os.X_OK)
    more = "" if runs else f" (after `chmod +x {make_shell_word(str(folder / script))}`)"
    return f"Write `command: [{flow(written)}, …]`{more}"
