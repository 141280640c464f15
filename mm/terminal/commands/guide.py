"""/help: the commands, the keys, and what a line can start with."""

from __future__ import annotations

from collections.abc import Sequence

from mm.terminal.commands.command import Chat, Command

KEYS = (
    ("Enter", "send"),
    ("Alt-Enter, Ctrl-J", "new line"),
    ("Up, Down, Ctrl-R", "earlier messages, search them"),
    ("Tab", "complete a /command, a model, a session or an @file"),
    ("Ctrl-X Ctrl-E", "write the message in $VISUAL or $EDITOR"),
    ("Ctrl-C", "stop the turn; clear the line; twice: leave"),
    ("Ctrl-Z", "suspend mm, in the middle of a turn too; `fg` in the shell brings it back"),
    ("Ctrl-D", "leave"),
)
STARTS = (
    ("/command", "one of the above; never sent to the model"),
    ("@file", 'puts a file under your message; @"with blanks.txt"'),
    ("!command", "runs a command for you; the model does not see it"),
    ("!!command", "the same, and your next message takes the output along"),
)


def show_help(chat: Chat, commands: Sequence[Command]) -> None:
    """Print everything that can be typed."""
    voice = chat.voice
    rows: list[tuple[str, str]] = []
    for command in commands:
        also = f" (also {', '.join(f'/{alias}' for alias in command.aliases)})" if command.aliases else ""
        rows.append((f"/{command.name} {command.takes}".strip(), command.help + also))
    gap = ("", "")
    voice.say_table([*rows, gap, *STARTS, gap, *KEYS])
