"""Runs command tools: an argv template filled with checked arguments, without a shell."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mm.config.schema import CommandTool
from mm.config.started import code_files
from mm.config.summary import argv_line
from mm.errors import CannotRunError, ToolError
from mm.messages import Outcome
from mm.tools.argv import describe_templates, render_argv, render_stdin
from mm.tools.environment import show_variables
from mm.tools.process import Program, as_output, check_program, run_program
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown, Tool, digest_of


@dataclass(frozen=True, slots=True)
class CommandRun:
    """What was approved: the program and all that it is given, and digests of the author's own files that it runs."""

    program: Program
    file_digest: str  # of the program, if it was written with a slash
    scripts_digest: str


class CommandExecutor:
    """`environment` is already filtered; `cwd` is the folder that mm was started in."""

    def __init__(self, environment: Mapping[str, str], cwd: Path) -> None:
        self._environment = dict(environment)
        self._cwd = cwd

    def plan(self, tool: Tool, arguments: Arguments) -> Plan:
        spec = _command(tool)
        env = {**self._environment, **spec.env}
        program = Program(
            argv=render_argv(spec, tool.schema, arguments),
            env=env,
            cwd=spec.cwd or self._cwd,
            timeout=spec.timeout,
            stdin=render_stdin(spec, arguments),
            file=find_program(spec.program, env.get("PATH", os.defpath)),
        )
        check_program(program)
        if not program.cwd.is_dir():
            where = f"The working directory of `{tool.name}`, `{program.cwd}`,"
            raise CannotRunError(f"{where} is not there. Nothing ran. Tell the user.")
        what = CommandRun(program, *_digests(spec, program.cwd))
        parts = _parts(spec, what)
        shown, covers = self._show(spec, program), argv_line(spec)
        return Plan(what=what, shown=shown, definition=digest_of(parts), parts=parts, covers=covers)

    def run(self, call: ApprovedCall, run: Run) -> Output:
        what = call.plan.what
        assert isinstance(what, CommandRun)
        try:
            digests = _digests(_command(call.tool), what.program.cwd)
            if digests != (what.file_digest, what.scripts_digest):
                changed = "" if digests[0] != what.file_digest else "A file that is run by "
                raise ToolError(
                    f"{changed}`{what.program.name}` changed after it was approved and did not run. Call it again."
                )
            finished = run_program(what.program, stop=run.stop, spill=run.spill, watch=run.watch)
        except ToolError as error:
            return Output.reply(Outcome.FAILED, error.message)
        return as_output(finished, what.program.timeout)

    def _show(self, spec: CommandTool, program: Program) -> tuple[Shown, ...]:
        shown = [Shown("command", Look.ARGV, program.argv)]
        if program.cwd != self._cwd:
            shown.append(Shown("folder", Look.PATH, (str(program.cwd),)))
        if spec.env:
            shown.append(Shown("environment", Look.TEXT, tuple(show_variables(spec.env))))
        if program.stdin:
            shown.append(Shown("stdin", Look.STDIN, (program.stdin.decode(),)))
        return tuple(shown)


def find_program(name: str, path: str) -> str:
    """The file that `name` means: itself if it has a slash, else from the absolute folders of `path`, never from here.

    Raises CannotRunError if it is not there or may not be executed.
    """
    if "/" in name:
        candidates = [name]
    else:
        candidates = [f"{folder}/{name}" for folder in path.split(":") if folder.startswith("/")]
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and not Path(candidate).is_dir():
            return candidate
    if any(os.path.isfile(candidate) for candidate in candidates):  # noqa: PTH113 - Path fails in folders closed to us
        raise CannotRunError(f"`{name}` may not be executed. Nothing ran. The user can mend that with `chmod +x`.")
    where = "is not there" if "/" in name else "is not installed: no folder on PATH has it"
    raise CannotRunError(f"The program `{name}` {where}. Nothing ran. Tell the user, or do without it.")


def _command(tool: Tool) -> CommandTool:
    assert isinstance(tool.spec, CommandTool)
    return tool.spec


def _parts(spec: CommandTool, what: CommandRun) -> dict[str, str]:
    """What an "always" is bound to, each part under its name."""
    return {
        "its program": digest_of(what.program.file),
        "the file of its program": what.file_digest,
        "a file that its program is given to run": what.scripts_digest,
        "its arguments": digest_of(describe_templates(spec.arguments)),
        "its stdin": digest_of("json" if spec.stdin_json else describe_templates([spec.stdin] if spec.stdin else [])),
        "its environment": digest_of(dict(spec.env)),
        "its folder": digest_of(str(spec.cwd) if spec.cwd else ""),
        "which values may begin with `-`": digest_of(sorted(spec.allow_dash)),
    }


def _digests(spec: CommandTool, cwd: Path) -> tuple[str, str]:
    """Of the program's file, if it was written with a slash (it is the author's own then), and of what it may run."""
    scripts = [_script(path) for path in code_files(spec, cwd)]
    return _digest_of_file(Path(spec.program)) if "/" in spec.program else "", digest_of(scripts) if scripts else ""


def _script(path: Path) -> list[str]:
    """A script and its digest. One that only the program may read, as behind `sudo`, is known by its path alone."""
    try:
        return [str(path), _digest_of_file(path)]
    except ToolError:
        return [str(path)]


def _digest_of_file(path: Path) -> str:
    try:
        status = path.stat()
        return _digest(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError as error:
        why = f"`{path}` cannot be read ({error.strerror}), so it was not run. Tell the user."
        raise CannotRunError(why) from error


@functools.lru_cache(maxsize=256)
def _digest(path: Path, *status: int) -> str:
    """`status` is only there to tell a changed file: its change time is not a program's to set."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
