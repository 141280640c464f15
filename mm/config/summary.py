"""Says what an agent file would start, allow and send where, with variables as written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from mm.config.addresses import plain_address
from mm.config.load import preview
from mm.config.schema import CommandTool, Config, Flag, Group, Literal, McpServer, Template, ToolEntry, WasmTool
from mm.visible import make_visible_line


def summary(config: Config) -> list[str]:
    """One line a fact. The file is read again without the environment, so that no variable's value is shown."""
    shown = preview(config.file) if config.file is not None else config
    return [*_starts(shown), *_allows(shown), *_sends(shown)]


def command_line(entry: ToolEntry) -> str:
    """A tool's argv template (or its module) on one line, placeholders as `{{x}}`."""
    if isinstance(entry.run, WasmTool):
        return f"wasm module {_word(str(entry.run.module))}"
    return argv_line(entry.run)


def argv_line(tool: CommandTool) -> str:
    """An argv template on one line, placeholders as `{{x}}`."""
    return " ".join([shlex.quote(tool.program), *map(_written, tool.arguments)])


def grants_line(tool: WasmTool) -> str:
    """The folders that a module may see."""
    grants = [
        f"{'writes' if one.writable else 'reads'} {_word(str(one.folder))} (as {_word(f'/{one.name}')})"
        for one in tool.grants
    ]
    return ", ".join(grants) or "sees no files"


def _starts(config: Config) -> Iterator[str]:
    """What runs, in full: a text on stdin, a variable or a folder can say as much about it as its arguments."""
    for server in config.mcp_servers:
        if server.command and not server.disabled:
            yield f"starts the MCP server `{server.name}`: {shlex.join(server.command)}{_where(server.cwd)}"
    for hook in config.hooks:
        when = "before" if hook.event == "preToolCall" else "after"
        yield f"starts {when} each call of `{hook.matcher}`: {shlex.join(hook.command)}"
    for entry in config.tools:
        if isinstance(entry.run, WasmTool):
            more = f"; {grants_line(entry.run)}"
        else:
            more = f"{_given(entry.run.stdin)}{_where(entry.run.cwd)}"
        yield f"may run the tool `{entry.name}`: {command_line(entry)}{more}"


def _given(stdin: Template | None) -> str:
    return f"; given on stdin: {template_text(stdin)}" if stdin is not None else ""


def _where(folder: Path | None) -> str:
    return f"; in the folder {_word(str(folder))}" if folder is not None else ""


def _allows(config: Config) -> Iterator[str]:
    if config.builtins:
        yield f"turns on: {', '.join(config.builtins)}"
    if config.yolo:
        yield "runs without asking (`yolo: true`): everything but what is in `ask` and `deny`"
    if config.permissions.allow:
        yield f"runs without asking: {', '.join(sorted(config.permissions.allow))}"
    if config.env_pass:
        yield f"hands these secret variables to tools, hooks and MCP servers: {', '.join(config.env_pass)}"
    for entry in config.tools:
        if not isinstance(entry.run, WasmTool) and entry.run.env:
            yield f"sets for `{entry.name}`: {_variables(entry.run.env)}"
    for server in config.mcp_servers:
        if server.env and not server.disabled:
            yield f"sets for the MCP server `{server.name}`: {_variables(server.env)}"
    for skills in config.skills:
        yield f"shows the model the skills of {_word(str(skills))}"


def _sends(config: Config) -> Iterator[str]:
    model = config.model
    if model is not None:
        key = f", with the key in {', '.join(model.key_variables)}" if model.key_variables else ""
        where = f" at {plain_address(model.base_url)}" if model.base_url else ""
        yield f"sends the conversation to {model}{where}{key}"
    for path in config.instructions_files:
        yield f"sends with it the text of {_word(str(path))}, if it is there"
    for server in config.mcp_servers:
        if server.url and not server.disabled:
            yield f"sends calls to {_server_address(server)}"


def _server_address(server: McpServer) -> str:
    named = f" with the headers {_pairs(server.headers)}" if server.headers else ""
    return f"the MCP server `{server.name}` at {plain_address(server.url)}{named}"


def _variables(env: Mapping[str, str]) -> str:
    """Names and values as written, constants too: one such as `BASH_ENV` or `GIT_SSH_COMMAND` says what runs."""
    return ", ".join(f"{name}={_word(value)}" for name, value in env.items())


def _pairs(headers: Mapping[str, str]) -> str:
    """Names, and the variables that their values are made of; a literal value may be a secret, so it is not shown."""
    return ", ".join(f"{name}={value}" if "${" in value else name for name, value in headers.items())


def _written(argument: Template | Group | Flag) -> str:
    if isinstance(argument, Flag):
        return f"[{shlex.quote(argument.text)} if {_word(argument.when)}]"
    if isinstance(argument, Group):
        return f"[{' '.join(template_text(entry) for entry in argument.entries)}]"
    return template_text(argument)


def template_text(template: Template) -> str:
    """A text of `command` or `stdin` as one word, as it is written in the file."""
    pieces = [
        piece.text.replace("{{", "{{{{") if isinstance(piece, Literal) else f"{{{{{piece.parameter}}}}}"
        for piece in template.pieces
    ]
    return _word("".join(pieces))


def _word(text: str) -> str:
    """A text as one word, in quotes where it would not read as one, or where it could be taken for what is said here
    of others: behind a `;`, within `[` and `]`. Variables and placeholders stay as they are."""
    plain = text and make_visible_line(text) == text and not set(text) & set(" '\"\\;[]")
    return text if plain else shlex.quote(text)
