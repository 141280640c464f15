"""A whole session as Markdown for reading, or as JSON that loses nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from mm.messages import JSON, Role, ToolCall
from mm.session.heal import heal_text
from mm.session.records import NOTE_MARK, Record, Session

FORMAT = "mm-session"
FORMAT_VERSION = 1

_BACKTICKS = re.compile(r"`+")


def to_json(session: Session, records: Sequence[Record]) -> str:
    """One object: `format`, `version`, `session` (its facts) and `messages` (every record in order).

    A message has `number`, `role`, `content`, `created` (seconds since 1970), `left_out`, and where they apply
    `tool_calls` (as the model wrote them), `tool_call_id`, `call` (as it ran) and `outcome`.
    """
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "session": session_facts(session),
        "messages": [_message(record) for record in records],
    }
    return heal_text(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def session_facts(session: Session) -> dict[str, JSON]:
    """The facts of a session as JSON."""
    return {
        "id": session.id,
        "title": session.title,
        "created": session.created,
        "updated": session.updated,
        "cwd": session.cwd,
        "agent_file": session.agent,
        "model": session.model,
        "summary": session.summary,
        "usage": {"prompt_tokens": session.prompt_tokens, "completion_tokens": session.completion_tokens},
        "messages": session.size,
    }


def _message(record: Record) -> dict[str, JSON]:
    message: dict[str, JSON] = {
        "number": record.number,
        "role": record.role.value,
        "content": record.content,
        "created": record.created,
        "left_out": record.left_out,
    }
    calls = [_call(call) for call in record.calls]
    if record.role is Role.TOOL:
        message["tool_call_id"] = record.call_id
        message["call"] = calls[0] if calls else None
    elif calls:
        message["tool_calls"] = calls
    if record.outcome:
        message["outcome"] = record.outcome
    return message


def _call(call: ToolCall) -> dict[str, JSON]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "written": call.written}


def to_markdown(session: Session, records: Sequence[Record]) -> str:
    """Readable Markdown: a heading for each side, calls and their results as fenced blocks."""
    blocks = [f"# {session.title or session.id}", _facts(session)]
    side = ""
    for record in records:
        heading = "## You" if record.begins_turn else "## mm"
        if heading != side:
            blocks.append(heading)
            side = heading
        blocks.extend(_blocks(record))
    return heal_text("\n\n".join(block for block in blocks if block)) + "\n"


def _facts(session: Session) -> str:
    facts = {
        "Session": session.id,
        "Begun": day_and_time(session.created),
        "Folder": session.cwd,
        "Agent file": session.agent,
        "Model": session.model,
    }
    return "\n".join(f"- {name}: {_inline(value)}" for name, value in facts.items() if value)


def _blocks(record: Record) -> list[str]:
    if record.role is Role.TOOL:
        return _result(record)
    mark = NOTE_MARK if record.is_note else ""
    blocks = [mark + record.content.strip()]
    for call in record.calls:
        blocks += [f"Calls {_inline(call.name)}:", fenced(call.arguments, "json")]
    return blocks


def _result(record: Record) -> list[str]:
    name = _inline(record.calls[0].name if record.calls else record.call_id)
    if record.is_running:
        arguments = [fenced(call.arguments, "json") for call in record.calls]
        return [f"{name}: started, outcome unknown{'; it ran with:' if arguments else ''}", *arguments]
    outcome = record.outcome.replace("_", " ")
    if not record.content:
        return [f"{name}: {outcome}"]
    return [f"Result of {name} ({outcome}):", fenced(record.content)]


def fenced(text: str, language: str = "") -> str:
    """A fenced code block whose fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _inline(text: str) -> str:
    """A code span of one line."""
    line = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    space = " " if "`" in line else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def day_and_time(when: float) -> str:
    """Local time, such as `2026-04-12 09:30`; "" if it is damaged."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
    except (ValueError, OverflowError, OSError):
        return ""
