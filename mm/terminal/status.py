"""The status line under the message: model, tokens, yolo."""

from __future__ import annotations

from prompt_toolkit.formatted_text import FormattedText
from rich.cells import cell_len

from mm.terminal.cells import clip
from mm.terminal.chat_agent import ChatAgent, UsageFacts
from mm.visible import make_visible_line

_YOLO, _YOLO_SHORT = "yolo: nothing asks", "yolo"
_BETWEEN = " · "
_MARGIN = "  "
_LEAST_LABEL = 10  # cells
_NARROW = 40


def status_line(agent: ChatAgent, width: int) -> FormattedText:
    """What a person wants to know at a glance, in `width` cells: yolo first, where no narrow window cuts it.

    A long name of a model gives way to the numbers, and those to what is left of the name.
    """
    warning = (_YOLO_SHORT if width < _NARROW else _YOLO) if agent.yolo else ""
    name = make_visible_line(agent.model_label)
    room = width - cell_len(_MARGIN) - (cell_len(warning + _BETWEEN) if warning else 0)
    label = min(cell_len(name), _LEAST_LABEL)
    fitting = [form for form in _tokens(agent.usage()) if cell_len(form + _BETWEEN) + label <= room]
    tokens = _BETWEEN + fitting[0] if fitting else ""
    text = ("class:bottom-toolbar.text", clip(name, room - cell_len(tokens)) + tokens)
    if not warning:
        return FormattedText([("", _MARGIN), text])
    return FormattedText([("", _MARGIN), ("class:status.warning", warning), ("", _BETWEEN), text])


def _tokens(facts: UsageFacts) -> list[str]:
    """What is known of the context, the fullest form first."""
    if facts.context is None:
        return []
    if facts.context_size:
        share = f"{facts.context / facts.context_size:.0%}"
        return [f"{facts.context:,} of {facts.context_size:,} tokens ({share})", f"{share} full", share]
    return [f"{facts.context:,} tokens"]
