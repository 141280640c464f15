"""The journey of a tool call: the order of the steps, for every kind of tool and every schedule.

    _prepare   one by one, main thread   names -> convert -> check -> repeat? -> hook -> check -> plan -> consent
    _execute   may run side by side      the executor of the tool's kind
    _finish    one by one, main thread   shape -> hook (if it ran) -> loop detector -> commit

Every call comes past all three, whatever happens, and gets exactly one result.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from mm.dispatch import arguments as steps
from mm.dispatch import loops
from mm.dispatch.consent import Consent, EditedError, NotApprovedError, Verdict, summary
from mm.dispatch.hooks import Hooks
from mm.dispatch.loops import Identity, Loops, Ruling
from mm.dispatch.names import Names
from mm.dispatch.shape import answer_text, shape
from mm.errors import ToolError
from mm.events import CallAnnounced, CallEnded, CallProgress, CallStarted, Listener, Notice
from mm.interrupt import Interrupt
from mm.messages import JSON, Outcome, ToolCall, ToolResult
from mm.tools.spec import ApprovedCall, Executor, Kind, Output, Run, Tool

GRACE = 5.0  # seconds that an interrupted executor has to return


class Journal(Protocol):
    """Where calls and results are written down as they happen."""

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


@dataclass(slots=True)
class _Open:
    """One call on its way. Steps fill it in; `output` is set once the call is answered."""

    call: ToolCall
    order: int
    tool: Tool | None = None
    identity: Identity | None = None
    approved: ApprovedCall | None = None
    output: Output | None = None
    notes: tuple[str, ...] = ()
    started: float = 0.0
    seconds: float = 0.0
    as_before: bool = False  # not run, since it was answered already: counts with its earlier result


class Dispatcher:
    """Answers the calls of a reply. Kinds differ only in `executors[kind]`; schedules only in the groups."""

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
    ) -> None:
        self.consent = consent
        self.loops = Loops()
        self._tools = tools
        self._executors = executors
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
        self._stopped, self._circle_answer = "", None
        self.loops.start_reply()
        names = Names(self._tools())
        opened = [_Open(call, order) for order, call in enumerate(calls)]
        results = [result for group in _groups(opened, names) for result in self._answer_group(group, names)]
        return self._conclude(opened, results)

    def cut(self, calls: Sequence[ToolCall]) -> Answered:
        """Answer the calls of a reply that was cut by the token limit: none of them runs."""
        self.loops.start_reply()
        opened = [_Open(call, order) for order, call in enumerate(calls)]
        for item in opened:
            item.output = Output.reply(Outcome.CUT, _CUT)
            item.identity = _raw_identity(item.call)
        return self._conclude(opened, [self._finish(item) for item in opened])

    def _answer_group(self, group: Sequence[_Open], names: Names) -> list[ToolResult]:
        """Prepare one by one, run side by side, finish each as it ends; results in the model's order."""
        for item in group:
            self._listen(CallAnnounced(item.call))
            item.output = self._prepare(item, names)
        results = {item.order: self._finish(item) for item in self._execute(group)}
        self.loops.settle()
        return [results[item.order] for item in group]

    # Before the run

    def _prepare(self, item: _Open, names: Names) -> Output | None:
        """Steps 2 to 7. None means: approved. Anything else is the call's answer."""
        if self._interrupt.stop.is_set():
            return Output.reply(Outcome.INTERRUPTED, _NOT_RUN_INTERRUPTED)
        if self._stopped:
            return Output.reply(Outcome.STOPPED, self._stopped)
        try:
            return self._check_and_approve(item, names)
        except KeyboardInterrupt:
            self._interrupt.stop.set()
            return Output.reply(Outcome.INTERRUPTED, _NOT_RUN_INTERRUPTED)
        except ToolError as error:
            return self._refuse(item, error)

    def _check_and_approve(self, item: _Open, names: Names) -> Output | None:
        item.tool = tool = names.find(item.call.name)
        text = item.call.arguments
        while True:
            checked = steps.check(tool, steps.parse(text))
            item.notes += checked.notes
            item.identity = Identity(tool.name, steps.canonical(checked.arguments))
            answered = self._rule(item) or self._repeat(item, tool, item.identity)
            if answered is not None:
                return answered
            try:
                item.approved = self._approve(item, tool, checked.arguments)
            except EditedError as edited:
                text = edited.arguments
                item.notes = (_EDITED.format(text),)
            else:
                return None

    def _repeat(self, item: _Open, tool: Tool, identity: Identity) -> Output | None:
        """The repeat check: the answer to a call that has just been made, if it is not to run again."""
        repeated = self.loops.repeated(tool, identity)
        if repeated is None:
            return None
        outcome, reply = repeated
        item.as_before = True
        return Output.reply(outcome, reply)

    def _approve(self, item: _Open, tool: Tool, given: dict[str, JSON]) -> ApprovedCall:
        """Steps 6 and 7: the hooks (what they rewrite is converted and checked again), the plan, consent."""
        said = self._hooks.before(tool.name, given, item.call.id)
        item.notes += tuple(said.context)
        if said.arguments is not None:
            given = steps.check(tool, said.arguments).arguments
        if said.permission is Verdict.DENY:
            raise NotApprovedError(_HOOK_DENIED.format(tool.name, said.reason), Outcome.DENIED)
        plan = self._executors[tool.kind].plan(tool, given)
        return self.consent.approve(
            item.call.id, tool, given, plan, hook=said.permission, complaint=lambda text: _complaint(tool, text)
        )

    def _rule(self, item: _Open) -> Output | None:
        """The loop detector's word on a call that is about to be made."""
        assert item.identity is not None
        ruling = self.loops.rule(item.identity)
        if ruling is Ruling.GO_ON:
            return None
        item.as_before = True
        if ruling is Ruling.END_TURN:
            self._stopped = loops.END
            self._circle_answer = self.loops.circle_answer(item.identity)
            return Output.reply(Outcome.STOPPED, loops.END)
        return Output.reply(Outcome.STOPPED, loops.REFUSAL)

    def _refuse(self, item: _Open, error: ToolError) -> Output:
        """A ToolError before the run is the call's answer; it counts for the loop detector like any other."""
        if isinstance(error, NotApprovedError):
            outcome = error.outcome
        elif item.tool is None:
            outcome = Outcome.UNKNOWN
        else:
            outcome = Outcome.INVALID
        if outcome is Outcome.REFUSED and item.identity is not None:
            self.loops.remember_refusal(item.identity)
        if outcome is Outcome.UNASKED:
            self._listen(Notice(_WOULD_ALLOW.format(item.call.name)))
        if item.identity is None:
            item.identity = _raw_identity(item.call)
            circling = self._rule(item)
            if circling is not None:
                return circling
        return Output.reply(outcome, error.message)

    # The run

    def _execute(self, group: Sequence[_Open]) -> Iterator[_Open]:
        """Run what was approved, side by side; give each call as it ends, answered calls first."""
        running: list[_Open] = []
        done: queue.SimpleQueue[tuple[_Open, Output]] = queue.SimpleQueue()
        for item in group:
            if item.output is None:
                self._start(item, done)
                running.append(item)
            else:
                yield item
        while running:
            item, output = self._next_done(running, done)
            if item in running:
                running.remove(item)
                item.output = output
                item.seconds = time.monotonic() - item.started
                yield item

    def _start(self, item: _Open, done: queue.SimpleQueue[tuple[_Open, Output]]) -> None:
        approved = item.approved
        assert approved is not None
        self._journal.call_started(item.call)
        self._listen(CallStarted(item.call, approved.tool.name, summary(approved.plan)))
        call_id, listen = item.call.id, self._listen
        run = Run(self._interrupt.stop, self._spill(), lambda line: listen(CallProgress(call_id, line)))
        executor = self._executors[approved.tool.kind]
        item.started = time.monotonic()

        def work() -> None:
            done.put((item, _run_safely(executor, approved, run)))

        threading.Thread(target=work, name=f"call {approved.tool.name}", daemon=True).start()

    def _next_done(
        self, running: Sequence[_Open], done: queue.SimpleQueue[tuple[_Open, Output]]
    ) -> tuple[_Open, Output]:
        """Wait for the next call to end; after an interrupt only for a short while."""
        while not self._interrupt.stop.is_set():
            try:
                return done.get(timeout=0.5)
            except queue.Empty:
                continue
        try:
            return done.get(timeout=GRACE)
        except queue.Empty:
            return running[0], Output.reply(Outcome.INTERRUPTED, _ABANDONED)

    # After the run

    def _finish(self, item: _Open) -> ToolResult:
        """Steps 8 to 10: shape, hook, loop detector, commit. Every call ends here, once."""
        output = item.output
        assert output is not None
        identity = item.identity or _raw_identity(item.call)
        answer = self.loops.circle_answer(identity) or "" if item.as_before else answer_text(output)
        content = shape(output, limit=self._output_limit(), spill=self._spill())
        if item.approved is not None:
            content, withheld = self._after_hooks(item, item.approved, content)
            answer = content if withheld else answer
            self.loops.remember(item.approved.tool, identity, output.outcome, answer)
        notice = self.loops.record(
            identity,
            _fingerprint(output),
            polls=item.tool is not None and item.tool.repeat,
            order=item.order,
            answer=answer if output.outcome is Outcome.OK else None,
            as_before=item.as_before,
        )
        notes = [f"({note})" for note in item.notes] + ([notice] if notice and not item.as_before else [])
        result = ToolResult(
            call=replace(item.call, name=item.tool.name) if item.tool else item.call,
            outcome=output.outcome,
            content="\n".join([content, *notes]),
            answer=answer,
            seconds=item.seconds,
        )
        self._journal.add_result(result)
        self._listen(CallEnded(result))
        return result

    def _after_hooks(self, item: _Open, approved: ApprovedCall, content: str) -> tuple[str, bool]:
        said = self._hooks.after(approved.tool.name, approved.arguments, item.call.id, content)
        item.notes += tuple(said.context)
        if said.withheld:
            return f"The call of `{approved.tool.name}` ran; its output is withheld: {said.withheld}", True
        return content, False

    def _conclude(self, opened: Sequence[_Open], results: Sequence[ToolResult]) -> Answered:
        if self._stopped:
            return Answered(tuple(results), self._stopped, self._circle_answer)
        last = opened[-1] if opened else None
        ended_well = all(result.outcome in (Outcome.OK, Outcome.REPEATED) for result in results)
        if last is not None and last.tool is not None and last.tool.final and ended_well:
            return Answered(tuple(results), answer=results[-1].answer)
        return Answered(tuple(results))


def _groups(opened: Sequence[_Open], names: Names) -> Iterator[list[_Open]]:
    """Calls of tools without effect, next to each other, may run side by side; every other call runs alone."""
    group: list[_Open] = []
    for item in opened:
        if _may_run_beside_others(item.call.name, names):
            group.append(item)
            continue
        if group:
            yield group
        group = []
        yield [item]
    if group:
        yield group


def _may_run_beside_others(name: str, names: Names) -> bool:
    try:
        tool = names.find(name)
    except ToolError:
        return False
    return tool.readonly and not tool.interactive


def _run_safely(executor: Executor, approved: ApprovedCall, run: Run) -> Output:
    """Run a call; a fault of mm itself is that call's answer and takes no sibling along."""
    try:
        return executor.run(approved, run)
    except ToolError as error:
        return Output.reply(Outcome.FAILED, error.message)
    except Exception as error:  # noqa: BLE001 - the last guard: whatever happens, the call is answered
        return Output.reply(Outcome.FAILED, f"`{approved.tool.name}` could not be run: {type(error).__name__}: {error}")


def _raw_identity(call: ToolCall) -> Identity:
    return Identity(call.name, call.arguments)


def _fingerprint(output: Output) -> str:
    """What makes two results the same: the raw output, before shaping."""
    return f"{output.outcome} {output.exit_code} {output.stdout.digest} {output.stderr.digest} {output.note}"


def _complaint(tool: Tool, text: str) -> str:
    """What is wrong with arguments that a person edited, "" if nothing is."""
    try:
        steps.check(tool, steps.parse(text))
    except ToolError as error:
        return error.message
    return ""


_NOT_RUN_INTERRUPTED = "Interrupted by the user before it was run."
_ABANDONED = "Interrupted by the user. It did not end in time; what it did by then is unknown."
_CUT = (
    "Not run: your reply was cut off by the token limit, so this call may be incomplete. "
    "Send it again, alone and shorter."
)
_EDITED = "the user changed the arguments before it ran, to: {}"
_HOOK_DENIED = "A hook denied this call of `{}`: {} Nothing was run. Do not send it again unchanged."
_WOULD_ALLOW = (
    "`{0}` was refused: it needs consent, and nobody can be asked. "
    "To allow it: --allow {0}, or `permissions: {{allow: [{0}]}}` in the agent file; --yolo allows everything."
)
