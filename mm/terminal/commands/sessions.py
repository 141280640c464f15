"""Past sessions: list, go on with one, export this one."""

from __future__ import annotations

from mm.counts import count
from mm.folders import with_home
from mm.terminal.commands.command import Chat

_MOST_LISTED = 20
_LAST_EXCHANGE_LINES = 12


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
    prompt, answer = last
    chat.voice.say_heading(f"Session {chat.agent.session_id}, where you left it:")
    lines = prompt.strip().split("\n")
    left = len(lines) - _LAST_EXCHANGE_LINES
    more = [f"… {count(left, 'more line')}"] if left > 0 else []
    chat.voice.say("")
    chat.voice.say_prompt("\n".join([*lines[:_LAST_EXCHANGE_LINES], *more]))
    chat.voice.say("")
    chat.voice.say_markdown(answer or "(no answer)")
    if plan := chat.agent.plan():
        chat.voice.say_heading("The plan:")
        chat.voice.say(plan)


def export(chat: Chat, argument: str) -> None:
    """Write the conversation to a file."""
    file = chat.agent.export(with_home(argument) if argument else None)
    chat.voice.say(f"Written to {file}.")
