"""The model's context as a budget: how many tokens a request takes, learned from what the server reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from mm.errors import TooLongError
from mm.messages import JSON, Message, ToolOffer, Usage
from mm.session.fit import Cut, Fitted, fit

_BYTES_PER_TOKEN = 3.2  # before anything is known; English is about 4, code and other scripts less
_LEAST, _MOST = 1.5, 6.0
_MESSAGE = 24  # bytes of template around one message
_MARGIN = 0.03  # of the context, for what an estimate misses

SURELY_FITS = 1500
"""Tokens: what is longer, such as a resumed session, may be more than a small context takes."""


class Window:
    """Fits requests into a context of `size` tokens (None: unknown, so everything is sent as it is).

    `reply_tokens` is the room to leave for the reply: the configured `max_tokens`, or None.
    """

    def __init__(self, size: int | None, reply_tokens: int | None = None) -> None:
        self.size = size
        self._reply_tokens = reply_tokens
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._cut = Cut()
        self._sent = 0  # bytes of the last request

    def fit(self, messages: Sequence[Message], offers: Sequence[ToolOffer] = ()) -> Fitted:
        """What to send of `messages`. Raises TooLongError if even the last prompt alone is too long."""
        tools = sum(map(_offer_bytes, offers))
        budget = self._budget(tools)
        if budget is None:
            self._sent = tools + sum(map(_message_bytes, messages))
            return Fitted(list(messages), "", Cut(), self._tokens(self._sent))
        fitted = fit(messages, budget_tokens=budget, estimate=self._estimate, previous=self._cut)
        if not fitted.fits:
            raise self._too_long(fitted.tokens + self._tokens(tools))
        self._cut = fitted.cut
        self._sent = tools + sum(map(_message_bytes, fitted.messages))
        return fitted

    def ask_size(self, ask: Callable[[], int | None]) -> bool:
        """Learn the size from the model, unless it is known. Says whether it is new."""
        if self.size is not None:
            return False
        self.size = ask()
        return self.size is not None

    def forget(self) -> None:
        """Another conversation begins: nothing of it is cut yet."""
        self._cut = Cut()

    def take_back(self, kept: int) -> None:
        """The last turns were taken back, and only the first `kept` messages behind the system text are left."""
        self._cut = self._cut.within(kept)

    def learn(self, usage: Usage) -> None:
        """Correct the estimate by what the server counted for the last request."""
        if not usage.prompt_tokens or not self._sent:
            return
        seen = self._sent / usage.prompt_tokens
        if _LEAST <= seen <= _MOST:  # beyond: the server counts only what was not cached, or something else
            self._bytes_per_token = (self._bytes_per_token + seen) / 2

    def _budget(self, tools: int) -> int | None:
        if self.size is None:
            return None
        reply = self._reply_tokens or max(256, min(2048, self.size // 4))
        return int(self.size * (1 - _MARGIN)) - min(reply, self.size // 2) - self._tokens(tools)

    def _estimate(self, message: Message) -> int:
        return self._tokens(_message_bytes(message))

    def _tokens(self, size: int) -> int:
        return int(size / self._bytes_per_token) + 1

    def _too_long(self, tokens: int) -> TooLongError:
        return TooLongError(
            f"The request takes about {tokens:,} tokens, and the model's context holds {self.size:,}. "
            "Nothing was sent.",
            "Shorten the prompt: of a large @file, give a part, or its path for a tool to read. Else shorten "
            "`instructions`, declare fewer tools, or serve the model with a larger context (and say so with "
            "`context` under `model`).",
        )


def _message_bytes(message: Message) -> int:
    calls = sum(_bytes(call.name) + _bytes(call.arguments) + _MESSAGE for call in message.tool_calls)
    return _bytes(message.content) + calls + _MESSAGE


def _offer_bytes(offer: ToolOffer) -> int:
    return _bytes(offer.name) + _bytes(offer.description) + _json_bytes(offer.parameters) + _MESSAGE


def _json_bytes(value: Mapping[str, JSON]) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
