"""What mm expects of a model, whoever serves it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from mm.messages import Message, Reply, ToolOffer


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply as it streams: answer text, or reasoning."""

    text: str
    reasoning: bool = False


OnDelta: TypeAlias = Callable[[Delta], None]
OnNotice: TypeAlias = Callable[[str], None]


class Model(Protocol):
    """A model that can be asked. `label` is `provider:name`."""

    label: str

    def ask(
        self,
        messages: Sequence[Message],
        offers: Sequence[ToolOffer],
        *,
        on_delta: OnDelta,
        on_notice: OnNotice,
        on_sent: Callable[[], None],
        stop: threading.Event,
    ) -> Reply:
        """Send one request and read the whole reply, streaming its pieces to `on_delta`.

        `on_sent` is called once, when the request is on its way. Returns early with `Interrupted` raised when
        `stop` is set. Raises ModelError, with what had arrived, when no whole reply could be had: nothing
        half-received is ever returned as a call.
        """

    def context_size(self) -> int | None:
        """Tokens that fit into one request: configured, or asked of the server; None if unknown.

        May be called at any time: a server that has answered is not asked again, one that was down is.
        """

    def close(self) -> None:
        """Let go of connections and of a server that mm itself started."""
