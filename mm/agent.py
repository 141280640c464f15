"""The agent: ask the model, answer its calls, until it is done or a limit is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mm.dispatch.extract import Extracted, extract
from mm.dispatch.gate import CirclingError, Gate, may_become_call
from mm.dispatch.names import Names
from mm.dispatch.nudges import nudge
from mm.errors import ExitCode, MMError, ModelError, TooLongError
from mm.events import Listener, Notice, ReasoningShown, ReplyEnded, RequestSent, TextHeld, TextShown
from mm.interrupt import Interrupt, Interrupted
from mm.messages import Message, Outcome, Reply, Role, ToolOffer, ToolResult, Usage
from mm.models.model import Delta, Model
from mm.session.history import History
from mm.session.window import SURELY_FITS, Window
from mm.tools.spec import Tool

if TYPE_CHECKING:
    from mm.dispatch.dispatcher import Answered, Dispatcher


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended: `text` is the answer, `message` what to know about the ending; `unsaid`: the prompt was too
    long and is no part of the conversation."""

    text: str
    code: ExitCode = ExitCode.DONE
    message: str = ""
    hint: str = ""
    unsaid: bool = False
    rounds: int = 0
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    results: tuple[ToolResult, ...] = ()

    @property
    def denials(self) -> tuple[ToolResult, ...]:
        """The calls that did not run because somebody or something said no, those of sub-agents too."""
        return tuple(one for result in self.results for one in (result, *result.denials) if one.outcome.forbidden)


@dataclass(slots=True)
class _Turn:
    """What a turn has come to so far."""

    started: float
    rounds: int = 0
    nudged: bool = False
    results: list[ToolResult] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Agent:
    """One conversation of one agent file with one model. Built by `mm.app`."""

    def __init__(
        self,
        *,
        model: Model,
        history: History,
        make_dispatcher: Callable[[], Dispatcher],
        tools: Callable[[], Sequence[Tool]],
        offers: Callable[[], Sequence[ToolOffer]],
        system: Callable[[], str],
        window: Window,
        interrupt: Interrupt,
        listen: Listener,
        max_rounds: int,
    ) -> None:
        self.model = model
        self.history = history
        self._make_dispatcher = make_dispatcher
        self._new_turn = True
        self.interrupt = interrupt
        self.last_usage = Usage()
        self._tools = tools
        self._offers = offers
        self._system = system
        self.window = window
        self._listen = listen
        self._max_rounds = max_rounds
        self._partial = ""
        self._answered = False

    def turn(self, prompt: str) -> TurnEnd:
        """Answer one user message. Ends in a TurnEnd, whatever happens; never raises for a model's mistake."""
        self._new_turn = True
        self.history.add_user(prompt)
        turn = _Turn(started=time.monotonic())
        while turn.rounds < self._max_rounds:
            turn.rounds += 1
            end = self._round(turn)
            if end is not None:
                return end
        return self._end(turn, "", ExitCode.STOPPED, _TOO_MANY_ROUNDS.format(self._max_rounds), _MAX_ROUNDS_HINT)

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """The journey of the calls. Made once the first request is on its way: what it needs is slow to load."""
        return self._make_dispatcher()

    def renew(self, history: History) -> None:
        """Go on with another conversation: the same model, tools and rules."""
        self.history.close()
        self.history = history
        self.window.forget()
        self.last_usage = Usage()
        self.__dict__.pop("dispatcher", None)

    def use_model(self, model: Model) -> None:
        """Go on with another model."""
        self.model.close()
        self.model = model
        self.history.set_model(model.label)
        self.window.size = model.context_size()

    def close(self) -> None:
        """Let go of the model and of the store."""
        self.model.close()
        self.history.close()

    def _round(self, turn: _Turn) -> TurnEnd | None:
        """One request and the calls of its reply. None: the turn goes on."""
        try:
            reply, gate = self._ask(turn)
        except MMError as error:
            return self._failed(turn, error)
        except (KeyboardInterrupt, Interrupted):
            return self._interrupted(turn)
        names = Names(self._tools())
        found = extract(reply, names.is_offered)
        if found.calls:
            return self._answer_calls(turn, reply, found, gate)
        return self._take_text(turn, reply, found, gate)

    def _ask(self, turn: _Turn) -> tuple[Reply, Gate]:
        offers = self._offers()
        gate = Gate(tools_offered=bool(offers))
        messages = [Message(Role.SYSTEM, self._system()), *self.history.messages()]
        fitted = self.window.fit(messages, offers)
        if (fitted.tokens > SURELY_FITS or self._answered) and self.window.ask_size(self.model.context_size):
            fitted = self.window.fit(messages, offers)
        if fitted.note:
            self._listen(Notice(fitted.note))
        number = turn.rounds
        self._partial = ""

        def on_delta(delta: Delta) -> None:
            if delta.reasoning:
                self._listen(ReasoningShown(delta.text))
                return
            shown = gate.feed(delta.text)
            self._partial += shown
            if shown:
                self._listen(TextShown(shown))
            elif delta.text.strip():
                self._listen(TextHeld())

        with self.interrupt.waiting():
            try:
                reply = self.model.ask(
                    fitted.messages,
                    offers,
                    on_delta=on_delta,
                    on_notice=lambda text: self._listen(Notice(text)),
                    on_sent=lambda: self._sent(number),
                    stop=self.interrupt.stop,
                )
            except CirclingError as circling:
                reply = Reply(circling.text)
            self._learn(reply)
        turn.prompt_tokens += reply.usage.prompt_tokens or 0
        turn.completion_tokens += reply.usage.completion_tokens or 0
        return reply, gate

    def _learn(self, reply: Reply) -> None:
        """What the server's answer tells about sizes. How large an output may be is only asked for calls."""
        self._answered = True
        self.last_usage = reply.usage
        self.window.learn(reply.usage)
        if reply.calls or may_become_call(reply.text):
            self.window.ask_size(self.model.context_size)

    def _sent(self, number: int) -> None:
        """The request is on its way: now there is time to write down what was said."""
        self._listen(RequestSent(number))
        with self.interrupt.committing():
            self.history.save()
        assert self.dispatcher is not None

    def _answer_calls(self, turn: _Turn, reply: Reply, found: Extracted, gate: Gate) -> TurnEnd | None:
        """Have the calls answered; say whether that ends the turn."""
        self._show_rest(found.text, gate)
        self._listen(ReplyEnded(reply, found.text))
        self.history.add_reply(found.text, found.calls, reply.usage)
        if self._new_turn:
            self._new_turn = False
            self.dispatcher.loops.start_turn()
        answer = self.dispatcher.cut if found.cut else self.dispatcher.answer
        answered = answer(found.calls)
        turn.results += answered.results
        if self.interrupt.stop.is_set():
            return self._end(turn, "", self.interrupt.exit_code, _INTERRUPTED)
        return self._end_by_calls(turn, answered)

    def _end_by_calls(self, turn: _Turn, answered: Answered) -> TurnEnd | None:
        """The end of the turn if its calls end it: a circle, or a `final` tool."""
        if answered.answer is not None:
            self.history.add_final(answered.answer)
        if answered.stopped:
            return self._end(turn, answered.answer or "", ExitCode.STOPPED, answered.stopped)
        if answered.answer is not None:
            return self._end(turn, answered.answer, ExitCode.DONE)
        return None

    def _take_text(self, turn: _Turn, reply: Reply, found: Extracted, gate: Gate) -> TurnEnd | None:
        """A reply without calls is the answer, unless the model has to be asked once to say it better."""
        better = nudge(found, [offer.name for offer in self._offers()])
        if better and not turn.nudged:
            turn.nudged = True
            self._listen(ReplyEnded(reply, ""))
            self.history.add_reply(found.text, usage=reply.usage)
            self.history.add_user(better.text, note=True)
            return None
        shown = "" if better and better.ending else found.text
        self._show_rest(shown, gate)
        self._listen(ReplyEnded(reply, shown))
        self._keep_answer(found.text, _NO_ANSWER, reply.usage)
        if better and better.ending:
            return self._end(turn, "", ExitCode.STOPPED, better.ending, better.hint)
        if not found.text.strip():
            return self._end(turn, "", ExitCode.FAILED, _EMPTY, _EMPTY_HINT)
        if found.cut:
            return self._end(turn, found.text, ExitCode.STOPPED, _CUT, _CUT_HINT)
        return self._end(turn, found.text, ExitCode.DONE)

    def _show_rest(self, text: str, gate: Gate) -> None:
        """Show what was held back, now that it is known not to be a call."""
        rest = gate.rest()
        if text and rest:
            self._listen(TextShown(rest))

    def _failed(self, turn: _Turn, error: MMError) -> TurnEnd:
        if isinstance(error, TooLongError) and turn.rounds == 1:
            self.history.take_back_unsaid()
            self.window.take_back(len(self.history.messages()))
            return replace(self._end(turn, "", ExitCode.FAILED, error.message, error.hint), unsaid=True)
        partial = error.partial if isinstance(error, ModelError) else ""
        self._keep_answer(partial, _NO_ANSWER)
        return self._end(turn, partial, ExitCode.FAILED, error.message, error.hint)

    def _keep_answer(self, text: str, note: str, usage: Usage | None = None) -> None:
        """Keep what came of an answer. If nothing did, mm says so to the model, and not in the model's own words."""
        if text.strip() or usage is not None:
            self.history.add_reply(text, usage=usage)
        if not text.strip():
            self.history.add_user(note, note=True)
            self.history.save()

    def _interrupted(self, turn: _Turn) -> TurnEnd:
        self.interrupt.stop.set()
        self._keep_answer(self._partial, _STOPPED)
        return self._end(turn, "", self.interrupt.exit_code, _INTERRUPTED)

    def _end(self, turn: _Turn, text: str, code: ExitCode, message: str = "", hint: str = "") -> TurnEnd:
        unasked = any(one.outcome is Outcome.UNASKED for result in turn.results for one in (result, *result.denials))
        if code is ExitCode.DONE and unasked:
            code = ExitCode.REFUSED
        return TurnEnd(
            text=text,
            code=code,
            message=message,
            hint=hint,
            rounds=turn.rounds,
            seconds=time.monotonic() - turn.started,
            usage=Usage(turn.prompt_tokens or None, turn.completion_tokens or None),
            results=tuple(turn.results),
        )


_INTERRUPTED = "Interrupted."
_STOPPED = "The user stopped this before you answered."  # for the model, like the next
_NO_ANSWER = "This got no answer."
_TOO_MANY_ROUNDS = "Stopped after {} requests in one turn without an answer."
_MAX_ROUNDS_HINT = "Ask for less at once, or raise `max_rounds` (`--max-rounds`)."
_EMPTY = "The model gave an empty answer."
_EMPTY_HINT = "Ask again, or try another model with -m."
_CUT = "The answer was cut off by the token limit."
_CUT_HINT = "Raise `max_tokens` of the model in the agent file."
