"""The last guard: how a call is answered when a step of mm itself breaks. Never as a success, and never twice run."""

from __future__ import annotations

from mm.dispatch.open_call import OpenCall
from mm.dispatch.shape import Told
from mm.errors import MMError
from mm.messages import Outcome
from mm.tools.spec import Output


def not_run(item: OpenCall, error: Exception) -> Output:
    """It broke before the run: what could not be checked or written down does not run, approved or not."""
    item.approved = None
    text = f"`{item.name[:64]}` could not be run, and nothing ran: {_cause(error)}. Tell the user."
    return Output.reply(Outcome.FAILED, text)


def broke_off(name: str, error: BaseException) -> Output:
    """It broke while it ran: like a call that was killed, it is not simply run again."""
    unknown = "What it did by then is unknown: find out before you try anything else, or tell the user."
    return Output.reply(Outcome.KILLED, f"`{name}` broke off: {_cause(error)}. {unknown}")


def untold(item: OpenCall, outcome: Outcome, error: Exception) -> Told:
    """It broke after that: what the call gave is kept back."""
    lost = "ran, but its output got lost" if item.approved else "was not run, and the reason got lost"
    text = f"The call of `{item.name[:64]}` {lost}: {_cause(error)}. Do not send it again; tell the user."
    return Told(Outcome.FAILED if outcome is Outcome.OK else outcome, text, text, own=False)


def _cause(error: BaseException) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, MMError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
