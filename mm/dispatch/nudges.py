"""What a model is told, once a turn, about a reply that is neither an answer nor a call that can be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mm.dispatch.extract import Extracted
from mm.dispatch.gate import may_become_call


@dataclass(frozen=True, slots=True)
class Nudge:
    """`text` is for the model. `ending` is why the turn ends if it replies so again, with a hint for the user; without
    one, that reply is taken as the answer."""

    text: str
    ending: str = ""
    hint: str = ""


def nudge(found: Extracted, names: Sequence[str]) -> Nudge | None:
    """None for a reply that can be taken as it is. `names` are the tools that the model is offered."""
    if not found.text.strip():
        return _EMPTY
    if found.wrapped:
        return _WRAPPED
    if found.broken:
        return Nudge(_BROKEN.format(found.broken, found.broken), _BROKEN_AGAIN, "Ask again, or another model with -m.")
    if found.stranger and names:
        return Nudge(_STRANGER.format(found.stranger[:64], ", ".join(names)))
    if found.cut and names and may_become_call(found.text):
        return _CUT
    return None


_EMPTY = Nudge("Your reply was empty. Answer the request, or call one of the tools.")
_WRAPPED = Nudge(
    "Your reply held a tool call inside other text, so nothing was run. "
    "If you want to run it, send the call alone, with nothing before or after it. If not, answer without it."
)
_STRANGER = (
    "Your reply looks like a call of `{}`, but there is no such tool, so nothing was run. Your tools are: {}. "
    "If you want to act, call one of these. If not, answer without a call."
)
_BROKEN = (
    "Your reply looks like a call of `{}`, but its JSON is not whole or not correct, so nothing was run. "
    'Send the call again, alone, as one JSON object: {{"name": "{}", "arguments": {{...}}}}. '
    "Check quotes and closing braces."
)
_BROKEN_AGAIN = "The model wrote a tool call whose JSON is not correct; nothing of it was run."
_CUT = Nudge(
    "Your reply was cut off by the token limit, so nothing was run. Send the call alone, and shorter.",
    "The model wrote a tool call that was cut off by the token limit; nothing of it was run.",
    "Raise `max_tokens` of the model in the agent file.",
)
