"""The table of slash commands, and how a line that starts with `/` is read."""

from __future__ import annotations

from difflib import get_close_matches

from mm.terminal.commands import conversation, guide, sessions, settings
from mm.terminal.commands.command import Chat, Command

COMMANDS: tuple[Command, ...] = (
    Command("help", "this list", lambda chat, argument: guide.show_help(chat, COMMANDS)),
    Command("tools", "the tools that the model may call", settings.show_tools),
    Command("model", "show the model, or go on with another one", settings.choose_model, "[MODEL]"),
    Command("yolo", "run everything without asking (deny rules still hold)", settings.switch_yolo, "[on|off]"),
    Command("permissions", "what is allowed, asked and denied", settings.show_permissions),
    Command("mcp", "the MCP servers", settings.show_servers),
    Command("skills", "the skills", settings.show_skills),
    Command("todos", "the model's plan of its work", settings.show_plan),
    Command("usage", "tokens so far", settings.show_usage, aliases=("cost",)),
    Command("clear", "begin a new session", conversation.clear, aliases=("new",)),
    Command("compact", "replace the older part of the conversation by a summary", conversation.compact),
    Command("undo", "take the last exchange back and edit its prompt", conversation.undo),
    Command("retry", "ask the last prompt again", conversation.retry),
    Command("sessions", "past sessions of this folder", sessions.show_sessions),
    Command("resume", "go on with a past session", sessions.resume, "ID"),
    Command("export", "write the conversation to a file, .md or .json", sessions.export, "[FILE]"),
    Command("exit", "leave, as Ctrl-D does", conversation.leave, aliases=("quit",)),
)

_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def run_command(chat: Chat, line: str) -> None:
    """Run a line such as `/model ollama:qwen3`. An unknown name is an error that names the nearest one."""
    name, _, argument = line.strip().removeprefix("/").partition(" ")
    command = _BY_NAME.get(name.lower())
    if command is not None and argument.strip() and not command.takes:
        chat.voice.complain(f"/{name} takes nothing after it, not `{argument.strip()}`.", "Nothing was done.")
        return
    if command is not None:
        command.run(chat, argument.strip())
        return
    near = get_close_matches(name.lower(), _BY_NAME, n=1, cutoff=0.5)
    hint = f"Did you mean /{near[0]}? " if near else ""
    chat.voice.complain(f"There is no command /{name}.", f"{hint}/help lists them. Nothing was sent to the model.")
