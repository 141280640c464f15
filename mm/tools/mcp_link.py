"""What the two ways to reach an MCP server have in common, and the two ways in which a server fails mm."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from mcp.client._transport import TransportStreams

from mm.messages import Outcome


class ServerError(Exception):
    """A server that did not do what it was asked. `reason` is one sentence without its first words and full stop."""

    def __init__(self, reason: str, outcome: Outcome = Outcome.FAILED) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome = outcome


class SessionExpiredError(Exception):
    """The server no longer knows the session: nothing of the request was done."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the transport itself refused: with what ("HTTP 503 Service Unavailable"), and whether because
    the server has forgotten the session."""

    problem: str
    forgotten: bool


class Link(Protocol):
    """A way to reach one server, used for one session.

    `broken` says that nothing more can come over it. `on_end` is called once when the link breaks by itself; the
    session sets it.
    """

    broken: bool
    on_end: Callable[[], None]

    def refusal(self, request: int) -> Refusal | None:
        """How the transport refused the request of this id, if it did. Told once."""

    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        """The messages from the server and to it. Leaving the context ends all that was started for it."""

    def explain(self, error: BaseException | None) -> str:
        """Why the session ended or never began, as a sentence about "it". `error` is what the SDK said, if anything."""


def stopped(reason: str) -> str:
    """A reason as the end of a sentence; one that quotes stderr ends with that."""
    return reason if "\n" in reason else f"{reason}."


def leaf(error: BaseException) -> BaseException:
    """The first real error of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def said(error: BaseException) -> str:
    """An error in one line, at most 300 characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"
