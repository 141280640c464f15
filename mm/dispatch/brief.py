"""The arguments of a call on one line, for whoever watches."""

from __future__ import annotations

import json

from mm.messages import JSON
from mm.tools.spec import Arguments

_LONGEST = 120  # characters of one argument


def in_short(arguments: Arguments) -> str:
    """`service="billing", limit=3`. Long values are cut, and go last: they would push the others out of sight."""
    shown = [(name, json.dumps(value, ensure_ascii=False)) for name, value in arguments.items()]
    shown.sort(key=lambda pair: len(pair[1]) > _LONGEST or "\\n" in pair[1])
    return ", ".join(f"{name}={text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}" for name, text in shown)


def text_in_short(text: str) -> str:
    """The same for arguments as a model wrote them: whatever is no JSON object stays as it is."""
    try:
        value: JSON = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text
    return in_short(value) if isinstance(value, dict) else text
