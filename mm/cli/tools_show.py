"""`mm tools show`: one tool, as written and as the model sees it."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator

import click

from mm.cli.agent_file import read_config
from mm.cli.agent_option import AGENT_OPTION, AgentCommand
from mm.cli.complete import complete_tool
from mm.cli.streams import show
from mm.cli.tools_list import flags_of, tools_of
from mm.cli.values import NOT_EMPTY
from mm.config.schema import CommandTool, Config, ToolEntry, WasmTool
from mm.config.summary import command_line, grants_line, template_text
from mm.errors import UsageError
from mm.models.offers import offer
from mm.tools.environment import PROVIDER_KEYS, held_back
from mm.tools.spec import Tool
from mm.visible import make_visible_line


@click.command("show", cls=AgentCommand)
@click.argument("name", type=NOT_EMPTY, shell_complete=complete_tool)
@AGENT_OPTION
@click.pass_context
def command(context: click.Context, name: str, agent_file: str | None) -> None:
    """Show the tool NAME: what runs, what the model sees, and what is kept from its environment."""
    config = read_config(context, agent_file)
    tool = _find(tools_of(config), name)
    flags = ", ".join([str(tool.kind), *flags_of(tool)])
    show(f"{tool.name}  ({flags}){f'  {tool.place}' if tool.place else ''}")
    entry = next((entry for entry in config.tools if entry.name == name), None)
    for line in _run(entry) if entry else ():
        show(f"  {make_visible_line(line)}")
    show("\nWhat the model sees:")
    offered = offer(tool.name, tool.description, tool.schema)
    seen = {"name": offered.name, "description": offered.description, "parameters": offered.parameters}
    for line in json.dumps(seen, indent=2, ensure_ascii=False).splitlines():
        show(f"  {make_visible_line(line)}")
    if entry is not None:
        show("\nHeld back from its environment:")
        show(f"  {_held_back(config, entry)}")


def _find(tools: list[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    if name.startswith("mcp__"):
        hint = "Tools of MCP servers are known once those run: mm mcp list"
        raise UsageError(f"There is no tool `{name}` in the agent file.", hint)
    names = [tool.name for tool in tools]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"The tools are: {', '.join(names) or 'none'}."
    raise UsageError(f"There is no tool `{name}`.", hint)


def _run(entry: ToolEntry) -> Iterator[str]:
    run = entry.run
    yield f"runs      {command_line(entry)}"
    if isinstance(run, WasmTool):
        yield f"folders   {grants_line(run)}"
        yield f"memory    {run.memory / 2**20:g} MiB"
    else:
        yield f"in        {run.cwd or 'the folder that mm is started in'}"
        yield f"stdin     {_stdin(run)}"
        if run.env:
            yield f"env       sets {', '.join(run.env)}"
        if run.allow_dash:
            yield f"dashes    a value may start with `-`: {', '.join(sorted(run.allow_dash))}"
    yield f"timeout   {run.timeout:g} s"


def _stdin(run: CommandTool) -> str:
    if run.stdin_json:
        return "the arguments as one JSON object"
    return template_text(run.stdin) if run.stdin else "empty"


def _held_back(config: Config, entry: ToolEntry) -> str:
    if isinstance(entry.run, WasmTool):
        return "everything: a module has no environment"
    names = held_back(os.environ, env_pass=config.env_pass, secret_variables=config.secret_variables | PROVIDER_KEYS)
    return ", ".join(name for name in names if name not in entry.run.env) or "nothing"
