"""`mm -p`: one turn; the final answer alone on stdout, everything else on stderr."""

from __future__ import annotations

from mm.agent import Agent
from mm.app.agent_file import chosen_config
from mm.app.assembly import Assembly
from mm.app.voices import LateEcho, line_person
from mm.cli.piped import prompt_from
from mm.cli.streams import ReaderGoneError, StdoutError, show, show_json, tell
from mm.errors import ExitCode
from mm.events import CallAnnounced, CallEnded, Event, Listener, Notice, ReplyEnded
from mm.interrupt import Interrupt
from mm.messages import JSON, ToolResult
from mm.options import Options, OutputFormat
from mm.turn import TurnEnd


def run(options: Options) -> ExitCode:
    """Ask once. Gives the exit code of the contract: the first of 130, 1, 3, 4 that applies."""
    assert options.prompt is not None
    notices: list[str] = []
    interrupt = Interrupt()
    interrupt.install()
    with interrupt.waiting():
        prompt = prompt_from(options.prompt, notices)
    echo = LateEcho(quiet=options.quiet, verbose=options.verbose)
    for notice in notices:
        echo(Notice(notice))
    lines = _EventLines(echo, interrupt) if options.output_format is OutputFormat.STREAM_JSON else None
    listen = lines or echo
    config = chosen_config(options, interrupt)
    assembly = Assembly(config, options, interrupt=interrupt, listen=listen, person=line_person(interrupt))
    try:
        agent = assembly.agent()
        try:
            end = agent.turn(prompt)
            if lines is not None and lines.failure is not None:
                raise lines.failure
            _print(options.output_format, end, agent)
        finally:
            agent.close()
    finally:
        assembly.close()
    return end.code


def _print(form: OutputFormat, end: TurnEnd, agent: Agent) -> None:
    """The answer on stdout, the ending on stderr."""
    if end.message:
        tell(f"mm: {end.message}" + (f"\n    {end.hint}" if end.hint else ""))
    if form is not OutputFormat.TEXT:
        show_json(_result(end, agent))
    elif end.text:
        show(end.text.removesuffix("\n"))


def _result(end: TurnEnd, agent: Agent) -> dict[str, JSON]:
    """The result object, with the field names that other agents of this kind use."""
    return {
        "type": "result",
        "subtype": _SUBTYPES.get(end.code, "error"),
        "is_error": end.code is not ExitCode.DONE,
        "result": end.text,
        "message": end.message,
        "session_id": agent.history.session_id,
        "num_turns": end.rounds,
        "duration_ms": round(end.seconds * 1000),
        "usage": {"input_tokens": end.usage.prompt_tokens, "output_tokens": end.usage.completion_tokens},
        "tool_calls": [_call(result) for result in end.results],
        "permission_denials": [
            {"tool_name": result.call.name, "tool_use_id": result.call.id, "outcome": str(result.outcome)}
            for result in end.denials
        ],
    }


_SUBTYPES = {
    ExitCode.DONE: "success",
    ExitCode.FAILED: "error_during_execution",
    ExitCode.STOPPED: "error_stopped",
    ExitCode.REFUSED: "error_permission",
    ExitCode.INTERRUPTED: "error_interrupted",
}


def _call(result: ToolResult) -> dict[str, JSON]:
    return {
        "id": result.call.id,
        "name": result.call.name,
        "arguments": result.call.arguments,
        "outcome": str(result.outcome),
        "output": result.content,
        "duration_ms": round(result.seconds * 1000),
    }


class _EventLines:
    """One JSON object a line for whoever follows the turn as it happens, behind what `echo` tells of it.

    When the reader is gone, or a disk full, the turn is stopped as by Ctrl-C, and nobody is told of it any more: what
    runs is ended, and every call has its answer. `failure` says afterwards what it was.
    """

    def __init__(self, echo: Listener, interrupt: Interrupt) -> None:
        self.failure: ReaderGoneError | StdoutError | None = None
        self._echo = echo
        self._interrupt = interrupt

    def __call__(self, event: Event) -> None:
        if self.failure is not None:
            return
        self._echo(event)
        try:
            self._print(event)
        except (ReaderGoneError, StdoutError) as error:
            self.failure = error
            self._interrupt.stop.set()

    def _print(self, event: Event) -> None:
        if isinstance(event, ReplyEnded):
            self._write("assistant", text=event.shown, reasoning=event.reply.reasoning)
        elif isinstance(event, CallAnnounced):
            self._write("tool_use", id=event.call.id, name=event.call.name, arguments=event.call.arguments)
        elif isinstance(event, CallEnded):
            self._write("tool_result", **_call(event.result))
        elif isinstance(event, Notice):
            self._write("notice", text=event.text)

    def _write(self, kind: str, **fields: JSON) -> None:
        show_json({"type": kind, **fields})
