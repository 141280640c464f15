"""Runs wasm tools: WASI modules that see their arguments and the folders granted to them, and nothing else."""

from __future__ import annotations

from mm.messages import Outcome
from mm.tools.capture import Capture
from mm.tools.sandbox.call import Call, Ending, How
from mm.tools.sandbox.engine import Runtime
from mm.tools.sandbox.module import ModuleFiles
from mm.tools.sandbox.plan import WasmRun, plan_call, unfit
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run, Tool


class WasmExecutor:
    """Runs modules inside this process. Calls may overlap: each has its own instance."""

    def __init__(self) -> None:
        self._files = ModuleFiles()
        self._runtime = Runtime()

    def plan(self, tool: Tool, arguments: Arguments) -> Plan:
        return plan_call(tool, arguments, self._files)

    def run(self, call: ApprovedCall, run: Run) -> Output:
        what = call.plan.what
        assert isinstance(what, WasmRun)
        stdout, stderr = Capture(run.spill), Capture(run.spill)
        try:
            ending = Call(self._runtime, what).run(run, stdout, stderr)
        except OSError as error:  # no thread or no descriptor left
            ending = Ending(How.UNFIT, why=f"could not be given a thread and pipes ({error.strerror})")
        if ending.how is How.UNFIT:
            return Output.reply(Outcome.FAILED, unfit(what.name, what.module, ending.why))
        outcome, note = _judge(what, ending)
        return Output(outcome, stdout.finish(), stderr.finish(), exit_code=ending.exit_code, note=note)


def _judge(what: WasmRun, ending: Ending) -> tuple[Outcome, str]:
    """The outcome, and a sentence about an end that the output itself does not explain."""
    match ending.how:
        case How.TIME:
            return Outcome.TIMED_OUT, f"It was stopped after {what.timeout:g} s, its time limit."
        case How.STUCK:
            return Outcome.TIMED_OUT, (
                f"It was given up after {what.timeout:g} s, its time limit: it hangs while it opens or reads "
                "something that never answers, such as a named pipe in a folder it was granted."
            )
        case How.SLOW:
            return Outcome.TIMED_OUT, (
                f"It was given up after {what.timeout:g} s, its time limit, before its `_start` was called: "
                "setting it up takes too long on this machine now, or what it does at its start hangs."
            )
        case How.STOPPED:
            return Outcome.INTERRUPTED, "It was stopped because the user interrupted."
        case _:
            return _judge_own_end(what, ending)


def _judge_own_end(what: WasmRun, ending: Ending) -> tuple[Outcome, str]:
    """The module ended by itself: it exited, or it crashed."""
    if ending.how is How.EXITED and ending.exit_code == 0:
        return Outcome.OK, ""
    crash = f"The module crashed: {ending.why}." if ending.how is How.CRASHED else ""
    if ending.memory * 2 < what.memory:
        return Outcome.FAILED, crash
    # Memory grows in large steps, often by doubling: more than half used means that the next step was refused.
    used, limit = ending.memory / 2**20, what.memory / 2**20
    memory = f"It used {used:g} MiB of the {limit:g} MiB that it may use, so it probably ran out of memory."
    return Outcome.KILLED, f"{crash} {memory}".strip()
