"""What can be done with the conversation: begin anew, shorten, take back, ask again, leave."""

from __future__ import annotations

from mm.terminal.commands.command import Chat
from mm.terminal.mentions import split_prompt


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
    chat.draft = _typed_part(chat, prompt)
    chat.voice.say("Took back the last exchange. What its calls changed stays changed.")
    if chat.attachments:
        chat.voice.say("The output of your own command goes along again.")


def retry(chat: Chat, argument: str) -> None:
    """Take the last exchange back and ask its prompt again."""
    prompt = chat.agent.undo()
    if prompt is None:
        chat.voice.say("There is nothing to ask again.")
        return
    chat.prompt = _typed_part(chat, prompt)


def _typed_part(chat: Chat, prompt: str) -> str:
    """What was typed of a prompt. The outputs that went with it are attached again, not shown as typed text."""
    typed, outputs = split_prompt(prompt)
    chat.attachments[:0] = [output for output in outputs if output not in chat.attachments]
    return typed


def leave(chat: Chat, argument: str) -> None:
    """End the chat."""
    chat.leaving = True
