"""The agent: ask the model, answer its calls, until it is done or a limit is met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mm.asking import Asking, Beginning
from mm.dispatch.extract import Extracted, extract
from mm.dispatch.gate import Gate
from mm.dispatch.names import Names
from mm.dispatch.nudges import nudge
from mm.errors import ExitCode, MMError, ModelError, TooLongError
from mm.events import Listener, ReplyEnded, RequestSent, TextShown
from mm.interrupt import Interrupt, Interrupted
from mm.messages import Message, Reply, Usage
from mm.models.model import Model
from mm.session.history import History
from mm.session.window import Window
from mm.tools.spec import Tool
from mm.turn import Turn, TurnEnd

if TYPE_CHECKING:
    from mm.dispatch.dispatcher import Answered, Dispatcher


@dataclass(frozen=True, slots=True)
class Equipment:
    """What an agent has from the beginning of a session to its end, such as memory and skills as they then are."""

    beginning: Beginning
    tools: Callable[[], Sequence[Tool]]
    make_dispatcher: Callable[[], Dispatcher]


class Agent:
    """One conversation of one agent file with one model. Built by `mm.app`.

    `equip` is called whenever a session begins. The dispatcher, the journey of the calls, is made once the first
    request is on its way: what it needs is slow to load.
    """

    def __init__(
        self,
        *,
        model: Model,
        history: History,
        equip: Callable[[History], Equipment],
        window: Window,
        interrupt: Interrupt,
        listen: Listener,
        max_rounds: int,
    ) -> None:
        self.history = history
        self.interrupt = interrupt
        self.last_usage = Usage()
        self.turns = 0
        self._equip = equip
        self._equipment = equip(history)
        self._dispatcher: Dispatcher | None = None
        self._asking = Asking(model, window, interrupt, listen)
        self._listen = listen
        self._max_rounds = max_rounds
        self._new_turn = True

    @property
    def model(self) -> Model:
        return self._asking.model

    @property
    def window(self) -> Window:
        return self._asking.window

    @property
    def dispatcher(self) -> Dispatcher:
        return self._load_dispatcher()

    def turn(self, prompt: str) -> TurnEnd:
        """Answer one user message. Ends in a TurnEnd, whatever happens; never raises for a model's mistake."""
        self.turns += 1
        self._new_turn = True
        self.history.add_user(prompt)
        turn = Turn()
        while turn.rounds < self._max_rounds:
            turn.rounds += 1
            end = self._round(turn)
            if end is not None:
                return end
        return turn.end("", ExitCode.STOPPED, _TOO_MANY_ROUNDS.format(self._max_rounds), _MAX_ROUNDS_HINT)

    def summarize(self, messages: Sequence[Message]) -> str:
        """The model's answer to messages that end with the request for a summary. Raises ModelError if it is none."""
        reply = self._asking.ask_aside(self._equipment.beginning, messages)
        found = extract(reply, Names(self._equipment.tools()).is_offered)
        if found.calls or found.stranger or found.broken:
            raise ModelError("It wrote a tool call instead; nothing was run.")
        return found.text

    def take_back(self) -> str | None:
        """Take back the last turn. Gives what the person had said, None if there is no turn."""
        prompt = self.history.undo()
        self.window.take_back(len(self.history.messages()))
        return prompt

    def renew(self, history: History) -> None:
        """Go on with another conversation: the same model and rules, and the equipment of a session that begins."""
        self.history.close()
        self.history = history
        self.window.forget()
        self.last_usage = Usage()
        self._equipment = self._equip(history)
        self._dispatcher = None

    def use_model(self, model: Model) -> None:
        """Go on with another model."""
        self._asking.use_model(model)
        self.history.set_model(model.label)

    def close(self) -> None:
        """Let go of the model and of the store."""
        self.model.close()
        self.history.close()

    def _round(self, turn: Turn) -> TurnEnd | None:
        """One request and the calls of its reply. None: the turn goes on."""
        try:
            reply, gate = self._asking.ask(
                self._equipment.beginning, self.history.messages(), when_sent=lambda: self._use_the_wait(turn.rounds)
            )
        except MMError as error:
            return self._failed(turn, error)
        except (KeyboardInterrupt, Interrupted):
            return self._interrupted(turn)
        turn.count(reply.usage)
        self.last_usage = reply.usage
        found = extract(reply, Names(self._equipment.tools()).is_offered)
        if found.calls:
            return self._answer_calls(turn, reply, found, gate)
        return self._take_text(turn, reply, found, gate)

    def _use_the_wait(self, number: int) -> None:
        """The request is on its way, and the model takes its time: what was said is written down, and what calls need
        is loaded. An interrupt may end the second, and comes after the first."""
        self._listen(RequestSent(number))
        with self.interrupt.committing():
            self.history.save()
        self._load_dispatcher()

    def _load_dispatcher(self) -> Dispatcher:
        if self._dispatcher is None:
            self._dispatcher = self._equipment.make_dispatcher()
        return self._dispatcher

    def _answer_calls(self, turn: Turn, reply: Reply, found: Extracted, gate: Gate) -> TurnEnd | None:
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
            return turn.end("", self.interrupt.exit_code, _INTERRUPTED)
        return self._end_by_calls(turn, answered)

    def _end_by_calls(self, turn: Turn, answered: Answered) -> TurnEnd | None:
        """The end of the turn if its calls end it: a circle, or a `final` tool."""
        if answered.answer is not None:
            self.history.add_final(answered.answer)
        if answered.stopped:
            return turn.end(answered.answer or "", ExitCode.STOPPED, answered.stopped)
        if answered.answer is not None:
            return turn.end(answered.answer, ExitCode.DONE)
        return None

    def _take_text(self, turn: Turn, reply: Reply, found: Extracted, gate: Gate) -> TurnEnd | None:
        """A reply without calls is the answer, unless the model has to be asked once to say it better."""
        better = nudge(found, [offer.name for offer in self._equipment.beginning.offers()])
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
            return turn.end("", ExitCode.STOPPED, better.ending, better.hint)
        if not found.text.strip():
            return turn.end("", ExitCode.FAILED, _EMPTY, _EMPTY_HINT)
        if found.cut:
            return turn.end(found.text, ExitCode.STOPPED, _CUT, _CUT_HINT)
        return turn.end(found.text, ExitCode.DONE)

    def _show_rest(self, text: str, gate: Gate) -> None:
        """Show what was held back, now that it is known not to be a call."""
        rest = gate.rest()
        if text and rest:
            self._listen(TextShown(rest))

    def _failed(self, turn: Turn, error: MMError) -> TurnEnd:
        if isinstance(error, TooLongError) and turn.rounds == 1:
            self.take_back()
            return turn.end("", ExitCode.FAILED, error.message, error.hint, unsaid=True)
        partial = error.partial if isinstance(error, ModelError) else ""
        self._keep_answer(partial, _NO_ANSWER)
        return turn.end(partial, ExitCode.FAILED, error.message, error.hint)

    def _keep_answer(self, text: str, note: str, usage: Usage | None = None) -> None:
        """Keep what came of an answer. If nothing did, mm says so to the model, and not in the model's own words."""
        if text.strip() or usage is not None:
            self.history.add_reply(text, usage=usage)
        if not text.strip():
            self.history.add_user(note, note=True)
            self.history.save()

    def _interrupted(self, turn: Turn) -> TurnEnd:
        self.interrupt.stop.set()
        self._keep_answer(self._asking.shown, _STOPPED)
        return turn.end("", self.interrupt.exit_code, _INTERRUPTED)


_INTERRUPTED = "Interrupted."
_STOPPED = "The user stopped this before you answered."  # for the model, like the next
_NO_ANSWER = "This got no answer."
_TOO_MANY_ROUNDS = "Stopped after {} requests in one turn without an answer."
_MAX_ROUNDS_HINT = "Ask for less at once, or raise `max_rounds` (`--max-rounds`)."
_EMPTY = "The model gave an empty answer."
_EMPTY_HINT = "Ask again, or try another model with -m."
_CUT = "The answer was cut off by the token limit."
_CUT_HINT = "Raise `max_tokens` of the model in the agent file."
