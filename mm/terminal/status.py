"""The status line under the message: model, tokens, yolo."""

from __future__ import annotations

from prompt_toolkit.formatted_text import FormattedText

from mm.terminal.chat_agent import ChatAgent, UsageFacts
from mm.visible import make_visible_line


def status_line(agent: ChatAgent) -> FormattedText:
    """What a person wants to know at a glance. yolo comes first, where no narrow window cuts it."""
    facts = [make_visible_line(agent.model_label), _tokens(agent.usage())]
    text = ("class:bottom-toolbar.text", " · ".join(fact for fact in facts if fact))
    if not agent.yolo:
        return FormattedText([("", "  "), text])
    return FormattedText([("", "  "), ("class:status.warning", "yolo: nothing asks"), ("", " · "), text])


def _tokens(facts: UsageFacts) -> str:
    if facts.context is None:
        return ""
    if facts.context_size:
        return f"{facts.context:,} of {facts.context_size:,} tokens ({facts.context / facts.context_size:.0%})"
    return f"{facts.context:,} tokens"
