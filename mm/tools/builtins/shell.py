"""bash and read_terminal: a shell command now or in the background, and what background commands wrote."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mm.errors import ToolError
from mm.messages import JSON, Outcome
from mm.tools.background import Background, BackgroundCommand
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free, plan
from mm.tools.command import find_program
from mm.tools.process import Program, as_output, check_entry, run_program
from mm.tools.spec import ApprovedCall, Arguments, Look, Need, Output, Plan, Run, Shown

TIMEOUT = 120  # seconds
LONGEST_TIMEOUT = 600
LONGEST_WAIT = 60
_FIRST_WAIT = 0.5  # seconds that a background command has to fail at once, so that this is said at once
_RUNS_ON = "it runs on until it ends or mm does; a kill -9 of mm leaves it running"

_COMMAND = {"type": "string", "minLength": 1, "description": "Bash command, such as `ls -l src`"}
_TIMEOUT = {
    "type": "integer",
    "minimum": 1,
    "maximum": LONGEST_TIMEOUT,
    "description": f"Seconds until it is stopped (default {TIMEOUT}, at most {LONGEST_TIMEOUT})",
}
_BACKGROUND = {
    "type": "boolean",
    "description": "true: do not wait for it (a server, a watcher); read its output with read_terminal",
}
_TERMINAL = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "description": "Number of the background command. Without it: list them all"},
        "wait": {
            "type": "integer",
            "minimum": 0,
            "maximum": LONGEST_WAIT,
            "description": f"Seconds to wait for new output (default 0, at most {LONGEST_WAIT})",
        },
        "stop": {"type": "boolean", "description": "true: stop the command"},
    },
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ShellRun:
    """A shell command that was approved."""

    command: str
    program: Program
    background: bool


def bash_tool(environment: Mapping[str, str], cwd: Path, background: Background | None = None) -> Builtin:
    """`environment` is already filtered. Without `background` (read_terminal is off) every command is waited for."""
    properties: dict[str, JSON] = {"command": _COMMAND, "timeout": _TIMEOUT}
    if background is not None:
        properties["background"] = _BACKGROUND

    def plan_command(arguments: Arguments) -> Plan:
        return _plan_command(environment, cwd, arguments)

    def run_command(call: ApprovedCall, run: Run) -> Output:
        what = call.plan.what
        assert isinstance(what, ShellRun)
        if what.background and background is not None:
            return _start(background, what, run)
        return _run(what.program, run)

    return Builtin(
        name="bash",
        description="Run a bash command in the working directory and give its output. Every call is a new shell: "
        "`cd` and variables do not last. It cannot ask for input.",
        parameters={
            "type": "object",
            "properties": properties,
            "required": ["command"],
            "additionalProperties": False,
        },
        plan=plan_command,
        run=run_command,
    )


def read_terminal_tool(background: Background) -> Builtin:
    """Lists, reads and stops what bash started in the background; asks nobody, since starting it was approved."""

    def run_reading(call: ApprovedCall, run: Run) -> Output:
        arguments = call.arguments
        if arguments.get("id") is None:
            return Output.text(Outcome.OK, _list(background))
        command = background.find(int(arguments["id"]))
        if arguments.get("stop") is True:
            command.end()
        else:
            command.wait(arguments.get("wait") or 0, run.stop, for_output=True)
        return Output.text(Outcome.INTERRUPTED if run.stop.is_set() else Outcome.OK, _tell(command))

    return Builtin(
        name="read_terminal",
        description="Read the new output of a command that bash started with background: true, list such commands, "
        "or stop one.",
        parameters=_TERMINAL,
        plan=lambda arguments: free("read_terminal", None, **{name: str(value) for name, value in arguments.items()}),
        run=run_reading,
        repeat=True,
    )


def _plan_command(environment: Mapping[str, str], cwd: Path, arguments: Arguments) -> Plan:
    command, background = arguments["command"], arguments.get("background") is True
    if not command.strip():
        raise ToolError("The command is empty. Send a bash command, such as `ls -l`.")
    check_entry(command, "The command")
    shell = _find_shell(environment.get("PATH", os.defpath))
    program = Program(
        argv=(Path(shell).name, "-c", command),
        env=environment,
        cwd=cwd,
        timeout=None if background else float(arguments.get("timeout") or TIMEOUT),
        file=shell,
    )
    shown = [Shown("command", Look.TEXT, (command,))]
    if background:
        shown.append(Shown("background", Look.TEXT, (_RUNS_ON,)))
    # An "always" holds for this exact command in this folder: elsewhere the same text does something else.
    scope = "\0".join([command, str(cwd), "background" if background else ""])
    return plan(
        "bash",
        ShellRun(command, program, background),
        tuple(shown),
        Need.ASK,
        hashlib.sha256(scope.encode()).hexdigest(),
        covers=f"{command} (in the background)" if background else command,
    )


def _find_shell(path: str) -> str:
    try:
        return find_program("bash", path)
    except ToolError:
        return find_program("sh", path)


def _run(program: Program, run: Run) -> Output:
    output = as_output(run_program(program, stop=run.stop, spill=run.spill, watch=run.watch), program.timeout)
    if output.outcome is Outcome.TIMED_OUT:
        return replace(output, note=f"{output.note}; `timeout` may be up to {LONGEST_TIMEOUT}")
    return output


def _start(background: Background, what: ShellRun, run: Run) -> Output:
    command = background.start(what.command, what.program)
    command.wait(_FIRST_WAIT, run.stop, for_output=False)
    if command.running:
        advice = f"Read its output with read_terminal (id: {command.number})."
        return Output.text(Outcome.OK, f"Started in the background as {command.number}. {advice}")
    return Output.text(Outcome.FAILED if command.failed else Outcome.OK, _tell(command))


def _list(background: Background) -> str:
    commands = background.all()
    if not commands:
        return "No background commands. Start one with bash and background: true."
    return "\n".join(_headline(command) for command in commands)


def _tell(command: BackgroundCommand) -> str:
    head = _headline(command)
    return f"{head}\n{command.read_new() or '(no new output)'}"


def _headline(command: BackgroundCommand) -> str:
    text = " ".join(command.text.split())
    return f"{command.number}: {command.state}: {text if len(text) <= 80 else text[:79] + '…'}"
