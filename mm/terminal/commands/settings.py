"""What the chat runs with: tools, model, yolo, permissions, servers, skills, tokens."""

from __future__ import annotations

from mm.terminal.commands.command import Chat


def show_tools(chat: Chat, argument: str) -> None:
    """One line a tool: its name and the first line of its description."""
    rows = [(tool.name, tool.description.strip().split("\n")[0]) for tool in chat.agent.tools()]
    if rows:
        chat.voice.say_table(rows)
    else:
        chat.voice.say("There are no tools. `tools:` in the agent file declares some, `builtins:` turns some on.")


def choose_model(chat: Chat, argument: str) -> None:
    """Show the model, or change it: the conversation goes on."""
    if argument:
        chat.agent.use_model(argument)
    chat.voice.say(f"The model is {chat.agent.model_label}.")


def switch_yolo(chat: Chat, argument: str) -> None:
    """Turn yolo on or off; without an argument, the other way round."""
    wanted = {"on": True, "off": False, "": not chat.agent.yolo}.get(argument.lower())
    if wanted is None:
        chat.voice.complain(f"/yolo takes `on` or `off`, not `{argument}`.")
        return
    chat.agent.yolo = wanted
    if wanted:
        chat.voice.say("yolo is on: calls run without asking. Deny rules and what mm itself trusts still hold.")
    else:
        chat.voice.say("yolo is off: you are asked before a call runs.")


def show_permissions(chat: Chat, argument: str) -> None:
    """The rules in force."""
    _list(chat, list(chat.agent.permissions()), "No rules: you are asked before anything runs.")


def show_servers(chat: Chat, argument: str) -> None:
    """The MCP servers."""
    _list(chat, list(chat.agent.servers()), "No MCP servers. `mcpServers:` in the agent file names them.")


def show_skills(chat: Chat, argument: str) -> None:
    """The skills."""
    rows = list(chat.agent.skills())
    if rows:
        chat.voice.say_table(rows)
    else:
        chat.voice.say("No skills. `skills:` in the agent file names their folders.")


def show_plan(chat: Chat, argument: str) -> None:
    """The todo list of the model."""
    chat.voice.say(chat.agent.plan() or "There is no plan. The tool `todo_list` makes one.")


def show_usage(chat: Chat, argument: str) -> None:
    """Tokens of this session, as the server counted them."""
    facts = chat.agent.usage()
    rows = [("sent", _tokens(facts.prompt_tokens)), ("received", _tokens(facts.completion_tokens))]
    if facts.context is not None:
        of = f" of {facts.context_size:,}" if facts.context_size else ""
        rows.append(("context", f"{facts.context:,}{of} tokens in the last request"))
    chat.voice.say_table(rows)


def _tokens(number: int | None) -> str:
    return "not told by the server" if number is None else f"{number:,} tokens"


def _list(chat: Chat, lines: list[str], nothing: str) -> None:
    chat.voice.say("\n".join(lines) or nothing)
