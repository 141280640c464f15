"""Past sessions: list, go on with one, export this one."""

from __future__ import annotations

from collections.abc import Sequence

from mm.counts import count
from mm.folders import with_home
from mm.terminal.chat_agent import CallLine
from mm.terminal.commands.command import Chat
from mm.terminal.mentions import split_prompt

_MOST_LISTED = 20
_LAST_EXCHANGE_LINES = 12
_MOST_CALLS = 5


def show_sessions(chat: Chat, argument: str) -> None:
    """The newest sessions of this folder."""
    lines = list(chat.agent.sessions())
    if not lines:
        chat.voice.say("There are no sessions here yet.")
        return
    rows = [(line.id, f"{line.when}  {'(this one) ' if line.here else ''}{line.title}") for line in lines]
    chat.voice.say_table(rows[:_MOST_LISTED], whole=False)
    if len(rows) > _MOST_LISTED:
        chat.voice.say(f"… and {len(rows) - _MOST_LISTED:,} older ones: mm sessions list")


def resume(chat: Chat, argument: str) -> None:
    """Go on with a session."""
    if not argument:
        chat.voice.complain("/resume needs the id of a session.", "/sessions lists them.")
        return
    chat.agent.resume(argument)
    show_last_exchange(chat)


def show_last_exchange(chat: Chat) -> None:
    """The end of a resumed session, so that the person knows where they are. Nothing for a new one."""
    last = chat.agent.last_exchange()
    if last is None:
        return
    chat.voice.say_heading(f"Session {chat.agent.session_id}, where you left it:")
    if last.elsewhere:
        chat.voice.say(last.elsewhere)
    lines = split_prompt(last.prompt)[0].strip().split("\n")
    left = len(lines) - _LAST_EXCHANGE_LINES
    more = [f"… {count(left, 'more line')}"] if left > 0 else []
    chat.voice.say("")
    chat.voice.say_prompt("\n".join([*lines[:_LAST_EXCHANGE_LINES], *more]))
    chat.voice.say("")
    _show_calls(chat, last.calls)
    chat.voice.say_markdown(last.answer or "(no answer)")
    if plan := chat.agent.plan():
        chat.voice.say_heading("The plan:")
        chat.voice.say(plan)


def _show_calls(chat: Chat, calls: Sequence[CallLine]) -> None:
    """The last calls of a turn. One that was never answered may have had an effect: it must not be missed."""
    if not calls:
        return
    earlier = len(calls) - _MOST_CALLS
    lines = [f"… {count(earlier, 'earlier call')}"] if earlier > 0 else []
    for call in calls[-_MOST_CALLS:]:
        mark, ending = ("✗", f"  {call.ending}") if call.ending else ("✓", "")
        lines.append(f"{mark} {call.tool} {call.summary}".rstrip() + ending)
    chat.voice.say("\n".join(lines))
    chat.voice.say("")


def export(chat: Chat, argument: str) -> None:
    """Write the conversation to a file."""
    file = chat.agent.export(with_home(argument) if argument else None)
    chat.voice.say(f"Written to {file}.")
