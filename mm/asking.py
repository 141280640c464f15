"""Requests to a model: each fits its context, and begins like the one before, so that the prompt cache holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mm.dispatch.gate import CirclingError, Gate, may_become_call
from mm.events import Listener, Notice, ReasoningShown, RequestSent, TextHeld, TextShown
from mm.interrupt import Interrupt
from mm.messages import Message, Reply, Role, ToolOffer
from mm.models.model import Delta, Model, OnDelta
from mm.session.fit import Fitted
from mm.session.window import SURELY_FITS, Window


@dataclass(frozen=True, slots=True)
class Beginning:
    """What every request of a session begins with: the same system text and the same tools."""

    system: str
    offers: Callable[[], Sequence[ToolOffer]]  # waits for MCP servers that are just starting


class Asking:
    """Asks one model, which may become another. `shown` is what was shown of the answer that comes just now."""

    def __init__(self, model: Model, window: Window, interrupt: Interrupt, listen: Listener) -> None:
        self.model = model
        self.window = window
        self.shown = ""
        self._interrupt = interrupt
        self._listen = listen
        self._answered = False  # the model's server was there before, so it can be asked for its context size

    def ask(self, beginning: Beginning, said: Sequence[Message], when_sent: Callable[[], None]) -> tuple[Reply, Gate]:
        """One request of a turn: its answer is shown as it comes, as far as it can be no call.

        `when_sent` is called once the request is on its way; an interrupt may cut it short.
        """
        self.shown = ""
        offers = beginning.offers()
        gate = Gate(tools_offered=bool(offers))
        fitted = self._fit(beginning, said, offers)

        def on_delta(delta: Delta) -> None:
            if delta.reasoning:
                self._listen(ReasoningShown(delta.text))
                return
            shown = gate.feed(delta.text)
            self.shown += shown
            if shown:
                self._listen(TextShown(shown))
            elif delta.text.strip():
                self._listen(TextHeld())

        with self._interrupt.waiting():
            try:
                reply = self._send(fitted, offers, on_delta, when_sent)
            except CirclingError as circling:
                reply = Reply(circling.text)
            self._learn(reply)
        return reply, gate

    def ask_aside(self, beginning: Beginning, said: Sequence[Message]) -> Reply:
        """A request that is no part of a turn: nothing of its answer is shown but that it is waited for."""
        offers = beginning.offers()
        fitted = self._fit(beginning, said, offers)

        def on_delta(delta: Delta) -> None:
            if delta.reasoning:
                self._listen(ReasoningShown(delta.text))

        self._listen(RequestSent(1))
        with self._interrupt.waiting():
            reply = self._send(fitted, offers, on_delta, lambda: None)
            self._learn(reply)
        return reply

    def use_model(self, model: Model) -> None:
        """Go on with another model. Ctrl-C while its server is asked how much it takes leaves the old one."""
        try:
            with self._interrupt.waiting():
                size = model.context_size()
        except KeyboardInterrupt:
            model.close()
            raise
        self.model.close()
        self.model = model
        self.window.size = size

    def _fit(self, beginning: Beginning, said: Sequence[Message], offers: Sequence[ToolOffer]) -> Fitted:
        messages = [Message(Role.SYSTEM, beginning.system), *said]
        fitted = self.window.fit(messages, offers)
        if (fitted.tokens > SURELY_FITS or self._answered) and self.window.ask_size(self.model.context_size):
            fitted = self.window.fit(messages, offers)
        if fitted.note:
            self._listen(Notice(fitted.note))
        return fitted

    def _send(
        self, fitted: Fitted, offers: Sequence[ToolOffer], on_delta: OnDelta, when_sent: Callable[[], None]
    ) -> Reply:
        return self.model.ask(
            fitted.messages,
            offers,
            on_delta=on_delta,
            on_notice=lambda text: self._listen(Notice(text)),
            on_sent=when_sent,
            stop=self._interrupt.stop,
        )

    def _learn(self, reply: Reply) -> None:
        """What the server's answer tells about sizes. How large an output may be is only asked for calls."""
        self._answered = True
        self.window.learn(reply.usage)
        if reply.calls or may_become_call(reply.text):
            self.window.ask_size(self.model.context_size)
