"""`mm tools list`: the tools of an agent file, one a line."""

from __future__ import annotations

import click

from mm.app.assembly import Assembly
from mm.cli.agent_file import read_config
from mm.cli.agent_option import AGENT_OPTION, AgentCommand
from mm.cli.streams import show, show_json
from mm.config.schema import Config
from mm.interrupt import Interrupt
from mm.options import Options
from mm.tools.spec import Tool
from mm.visible import make_visible_line

_WIDEST = 28  # columns of a name


@click.command("list", cls=AgentCommand)
@AGENT_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.pass_context
def command(context: click.Context, agent_file: str | None, as_json: bool) -> None:
    """List the tools of an agent file: declared ones and the built-in ones that are on.

    Tools of MCP servers are known once those run: see `mm mcp list`.
    """
    tools = tools_of(read_config(context, agent_file))
    if as_json:
        show_json([_record(tool) for tool in tools], indent=2)
        return
    width = min(_WIDEST, max((len(tool.name) for tool in tools), default=0))
    for tool in tools:
        flags = "".join(f" [{flag}]" for flag in flags_of(tool))
        name = make_visible_line(tool.name).ljust(width)
        show(f"{name}  {tool.kind:<7}  {_first_sentence(tool.description)}{flags}".rstrip())


def tools_of(config: Config) -> list[Tool]:
    """The tools of a run with this configuration, less those of MCP servers. Starts nothing."""
    assembly = Assembly(config, Options(), interrupt=Interrupt(), listen=lambda event: None, person=None)
    return list(assembly.tools(0))


def flags_of(tool: Tool) -> list[str]:
    """What is special about a tool, in the words of the agent file."""
    return [flag for flag in ("final", "repeat", "readonly") if getattr(tool, flag)]


def _first_sentence(text: str) -> str:
    line = make_visible_line(" ".join(text.split()))
    sentence, stop, _ = line.partition(". ")
    shown = sentence + stop.strip()
    return shown if len(shown) <= 100 else shown[:99] + "…"


def _record(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "kind": str(tool.kind),
        "description": tool.description,
        "flags": flags_of(tool),
        "parameters": tool.schema.document,
        "place": tool.place,
    }
