"""What can be done with the conversation: begin anew, shorten, take back, ask again, leave."""

from __future__ import annotations

from mm.terminal.commands.command import Chat


def clear(chat: Chat, argument: str) -> None:
    """Begin a new session. The old one stays in the list of sessions."""
    before = chat.agent.session_id
    chat.agent.clear()
    kept = f" /resume {before} brings the last one back." if before else ""
    chat.voice.say(f"A new session.{kept}")


def compact(chat: Chat, argument: str) -> None:
    """Summarize the older part of the conversation."""
    chat.voice.say(chat.agent.compact())


def undo(chat: Chat, argument: str) -> None:
    """Take the last exchange back; its prompt comes back into the input line."""
    prompt = chat.agent.undo()
    if prompt is None:
        chat.voice.say("There is nothing to take back.")
        return
    chat.draft = prompt
    chat.voice.say("Took back the last exchange. What its calls changed stays changed.")


def retry(chat: Chat, argument: str) -> None:
    """Take the last exchange back and ask its prompt again."""
    prompt = chat.agent.undo()
    if prompt is None:
        chat.voice.say("There is nothing to ask again.")
        return
    chat.prompt = prompt


def leave(chat: Chat, argument: str) -> None:
    """End the chat."""
    chat.leaving = True
