"""The journey of a tool call: the order of the steps, for every kind of tool and every schedule.

    _prepare    one by one, main thread   names -> convert -> check -> repeat? -> hook -> check -> plan -> consent
    Runner.run  may run side by side      the executor of the tool's kind
    _finish     one by one, main thread   shape -> hook (if it ran) -> loop detector -> commit

Every call comes past all three, whatever happens, and gets exactly one result. A step that breaks is the call's answer
(`last_guard`): before the run nothing runs, after it the output is kept back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mm.dispatch import arguments, last_guard, loops
from mm.dispatch.consent import Consent, EditedError, NotApprovedError
from mm.dispatch.hooks import Hooks, Permission
from mm.dispatch.loops import Identity, Loops, Ruling
from mm.dispatch.names import Names
from mm.dispatch.open_call import OpenCall
from mm.dispatch.schedule import Runner, groups
from mm.dispatch.shape import Told, answer_text, shape
from mm.errors import CannotRunError, ToolError
from mm.events import CallAnnounced, CallEnded, Listener, Notice
from mm.interrupt import Interrupt, Interrupted
from mm.messages import JSON, Outcome, ToolCall, ToolResult
from mm.tools.spec import ApprovedCall, Executor, Kind, Output, Tool


class Journal(Protocol):
    """Where calls and results are written down as they happen: each call with the arguments that were approved."""

    def call_started(self, call: ToolCall) -> None: ...

    def add_result(self, result: ToolResult) -> None: ...


@dataclass(frozen=True, slots=True)
class Answered:
    """The results of one reply's calls, in the model's order, and what they mean for the turn.

    `stopped` is the loop detector's message if the turn ends here; `answer` is the output that is the turn's
    answer: of a `final` tool, or of the successful call that the model kept repeating.
    """

    results: tuple[ToolResult, ...]
    stopped: str = ""
    answer: str | None = None


class Dispatcher:
    """Answers the calls of a reply. Kinds differ only in `executors[kind]`; schedules only in the groups.

    `outer_loops` are those of the agent that a sub-agent does a task for.
    """

    def __init__(
        self,
        *,
        tools: Callable[[], Sequence[Tool]],
        executors: Mapping[Kind, Executor],
        hooks: Hooks,
        consent: Consent,
        journal: Journal,
        interrupt: Interrupt,
        listen: Listener,
        spill: Callable[[], Path],
        output_limit: Callable[[], int],
        outer_loops: Loops | None = None,
    ) -> None:
        self.consent = consent
        self.loops = Loops(outer_loops)
        self._tools = tools
        self._executors = executors
        self._runner = Runner(executors, started=journal.call_started, interrupt=interrupt, listen=listen, spill=spill)
        self._hooks = hooks
        self._journal = journal
        self._interrupt = interrupt
        self._listen = listen
        self._spill = spill
        self._output_limit = output_limit
        self._stopped = ""
        self._circle_answer: str | None = None

    def answer(self, calls: Sequence[ToolCall]) -> Answered:
        """Answer every call of one reply, in groups that may run side by side."""
        self._begin()
        names = Names(self._tools())
        opened = [OpenCall(call, order) for order, call in enumerate(calls)]
        results = [result for group in groups(opened, names) for result in self._answer_group(group, names)]
        return self._conclude(opened, results)

    def cut(self, calls: Sequence[ToolCall]) -> Answered:
        """Answer the calls of a reply that was cut by the token limit: none of them runs."""
        self._begin()
        opened = [OpenCall(call, order, output=Output.reply(Outcome.CUT, _CUT)) for order, call in enumerate(calls)]
        for item in opened:
            self._listen(CallAnnounced(item.call))
        return self._conclude(opened, [self._finish(item) for item in opened])

    def _begin(self) -> None:
        self._stopped, self._circle_answer = "", None
        self.loops.start_reply()

    def _answer_group(self, group: Sequence[OpenCall], names: Names) -> list[ToolResult]:
        """Prepare one by one, run side by side, finish each as it ends; results in the model's order."""
        for item in group:
            self._listen(CallAnnounced(item.call))
            item.output = self._prepare(item, names)
        with closing(self._runner.run(group)) as answered:
            results = {item.order: self._finish(item) for item in answered}
        self.loops.settle()
        return [results[item.order] for item in group]

    # Before the run

    def _prepare(self, item: OpenCall, names: Names) -> Output | None:
        """Steps 2 to 7. None means: approved. Anything else is the call's answer."""
        if self._interrupt.stop.is_set():
            return Output.reply(Outcome.INTERRUPTED, _NOT_RUN)
        if self._stopped:
            return Output.reply(Outcome.STOPPED, self._stopped)
        try:
            return self._check_and_approve(item, names)
        except (KeyboardInterrupt, Interrupted):
            self._interrupt.stop.set()
            return Output.reply(Outcome.INTERRUPTED, _NOT_RUN)
        except ToolError as error:
            return self._refuse(item, error)
        except Exception as error:  # noqa: BLE001 - whatever broke: no run without every step before it
            return last_guard.not_run(item, error)

    def _check_and_approve(self, item: OpenCall, names: Names) -> Output | None:
        item.tool = tool = names.find(item.call.name)
        text = item.call.arguments
        while True:
            checked = arguments.check(tool, arguments.parse(text))
            item.notes += checked.notes
            item.identity = Identity(tool.name, arguments.canonical(checked.arguments))
            answered = self._stop_circle(item) or self._repeat(item, tool, item.identity)
            if answered is not None:
                return answered
            try:
                item.approve(self._approve(item, tool, checked.arguments))
                return None
            except EditedError as edited:
                text = edited.arguments
                item.notes = (_EDITED.format(text),)

    def _repeat(self, item: OpenCall, tool: Tool, identity: Identity) -> Output | None:
        """The repeat check: the answer to a call that has just been made, if it is not to run again."""
        repeated = self.loops.repeated(tool, identity)
        if repeated is None:
            return None
        item.as_before = True
        return Output.reply(*repeated)

    def _approve(self, item: OpenCall, tool: Tool, given: dict[str, JSON]) -> ApprovedCall:
        """Steps 6 and 7: the hooks (what they rewrite is converted and checked again), the plan, consent."""
        said = self._hooks.before(tool.name, given, item.call.id)
        self._heed(item, said.context, said.warnings)
        if said.permission is Permission.DENY:
            raise NotApprovedError(_HOOK_DENIED.format(tool.name, said.reason), Outcome.DENIED)
        if said.arguments is not None:
            given = arguments.check(tool, said.arguments).arguments
        plan = self._executors[tool.kind].plan(tool, given)
        return self.consent.approve(
            item.call.id, tool, given, plan, hook=said.permission, complaint=lambda text: _complaint(tool, text)
        )

    def _stop_circle(self, item: OpenCall) -> Output | None:
        """The answer to a call that goes in circles, None for any other. One that closes the circle ends the turn."""
        identity = item.identify()
        ruling = self.loops.rule(identity)
        if ruling is Ruling.GO_ON:
            return None
        item.as_before = True
        if ruling is Ruling.REFUSE:
            return Output.reply(Outcome.STOPPED, loops.REFUSAL)
        self._end_turn(identity)
        return Output.reply(Outcome.STOPPED, loops.END)

    def _end_turn(self, identity: Identity) -> None:
        """The circle is closed: what its call printed, if it succeeded, is the answer."""
        self._stopped = loops.END
        self._circle_answer = self.loops.circle_answer(identity)

    def _refuse(self, item: OpenCall, error: ToolError) -> Output:
        """A ToolError before the run is the call's answer; it counts for the loop detector like any other."""
        outcome = Outcome.UNKNOWN if item.tool is None else Outcome.INVALID
        if isinstance(error, CannotRunError):
            outcome = Outcome.FAILED
        elif isinstance(error, NotApprovedError):
            outcome = error.outcome
            if error.remedy:
                self._listen(Notice(error.remedy))
        if outcome is Outcome.REFUSED:
            self.loops.remember_refusal(item.identify())
        circling = self._stop_circle(item) if item.identity is None else None
        return circling or Output.reply(outcome, error.message)

    # After the run

    def _finish(self, item: OpenCall) -> ToolResult:
        """Steps 8 to 10: shape, hook, loop detector, commit. Every call ends here, once."""
        output, identity = item.output, item.identify()
        assert output is not None, "a call that is not answered does not come here"
        item.told = told = self._tell(item, output)
        if item.approved is not None:
            self.loops.remember(item.approved.tool, identity, output.outcome, told.answer)
        notice = self.loops.record(
            identity,
            _fingerprint(output),
            polls=item.approved is not None and item.approved.tool.repeat,
            order=item.order,
            answer=told.answer if told.own and output.outcome is Outcome.OK else None,
            as_before=item.as_before,
        )
        if self.loops.has_polled_out:
            self._end_turn(identity)
        notes = [f"({note})" for note in item.notes] + ([notice] if notice and not item.as_before else [])
        result = ToolResult(
            call=item.as_written_down(),
            outcome=told.outcome,
            content="\n".join([told.content, *notes]),
            answer=told.answer,
            seconds=item.seconds,
            denials=output.denials,
        )
        self._journal.add_result(result)
        self._listen(CallEnded(result))
        return result

    def _tell(self, item: OpenCall, output: Output) -> Told:
        """Steps 8 and 9: what the model reads, and the output alone."""
        try:
            content = shape(output, limit=self._output_limit(), spill=self._spill)
            if item.as_before:
                before = self.loops.circle_answer(item.identify())
                return Told(output.outcome, content, before or "", own=before is not None)
            told = Told(output.outcome, content, answer_text(output))
            return self._show_hooks(item, item.approved, told) if item.approved is not None else told
        except Exception as error:  # noqa: BLE001 - whatever broke: no output that was not looked at
            return last_guard.untold(item, output.outcome, error)

    def _show_hooks(self, item: OpenCall, approved: ApprovedCall, told: Told) -> Told:
        """The hooks after a call that ran. One that fails withholds the output, from the model and as an answer."""
        said = self._hooks.after(approved.tool.name, approved.arguments, item.call.id, told.content)
        self._heed(item, said.context, said.warnings)
        if not said.withheld:
            return told
        withheld = f"The call of `{approved.tool.name}` ran; its output is withheld: {said.withheld}"
        return Told(told.outcome, withheld, withheld, own=False)

    def _heed(self, item: OpenCall, context: Sequence[str], warnings: Sequence[str]) -> None:
        """What hooks say beside their verdict: context goes to the model, warnings to the user."""
        item.notes += tuple(context)
        for warning in warnings:
            self._listen(Notice(warning))

    def _conclude(self, opened: Sequence[OpenCall], results: Sequence[ToolResult]) -> Answered:
        if self._stopped:
            return Answered(tuple(results), self._stopped, self._circle_answer)
        ended_well = all(result.outcome in (Outcome.OK, Outcome.REPEATED) for result in results)
        if opened and ended_well and _is_final(opened[-1]):
            return Answered(tuple(results), answer=results[-1].answer)
        return Answered(tuple(results))


def _is_final(item: OpenCall) -> bool:
    """Whether the output of this call is the turn's answer. If it was withheld, the model has to give one."""
    return item.tool is not None and item.tool.final and item.told is not None and item.told.own


def _fingerprint(output: Output) -> str:
    """What makes two results the same: the raw output, before shaping."""
    return f"{output.outcome} {output.exit_code} {output.stdout.digest} {output.stderr.digest} {output.note}"


def _complaint(tool: Tool, text: str) -> str:
    """What is wrong with arguments that a person edited, "" if nothing is."""
    try:
        arguments.check(tool, arguments.parse(text))
    except ToolError as error:
        return error.message
    return ""


_NOT_RUN = "Interrupted by the user before it was run."
_CUT = (
    "Not run: your reply was cut off by the token limit, so this call may be incomplete. "
    "Send it again, alone and shorter."
)
_EDITED = "the user changed the arguments before it ran, to: {}"
_HOOK_DENIED = "Nothing was run: a hook denied this call of `{}`. It said: {}\nDo not send it again unchanged."
