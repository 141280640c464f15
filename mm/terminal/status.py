"""The status line under the message: model, tokens, yolo."""

from __future__ import annotations

from prompt_toolkit.formatted_text import FormattedText
from rich.cells import cell_len

from mm.terminal.cells import clip
from mm.terminal.chat_agent import ChatAgent, UsageFacts
from mm.visible import make_visible_line

_YOLO = "yolo: nothing asks"
_BETWEEN = " · "
_MARGIN = "  "
_LEAST_LABEL = 12  # cells


def status_line(agent: ChatAgent, width: int) -> FormattedText:
    """What a person wants to know at a glance, in `width` cells. A long name of a model gives way to the numbers.

    yolo comes first, where no narrow window cuts it.
    """
    tokens = _tokens(agent.usage())
    warning = _YOLO + _BETWEEN if agent.yolo else ""
    taken = cell_len(_MARGIN + warning + (tokens and _BETWEEN + tokens))
    label = clip(make_visible_line(agent.model_label), max(width - taken, _LEAST_LABEL))
    text = ("class:bottom-toolbar.text", _BETWEEN.join(fact for fact in (label, tokens) if fact))
    if not agent.yolo:
        return FormattedText([("", _MARGIN), text])
    return FormattedText([("", _MARGIN), ("class:status.warning", _YOLO), ("", _BETWEEN), text])


def _tokens(facts: UsageFacts) -> str:
    if facts.context is None:
        return ""
    if facts.context_size:
        return f"{facts.context:,} of {facts.context_size:,} tokens ({facts.context / facts.context_size:.0%})"
    return f"{facts.context:,} tokens"
