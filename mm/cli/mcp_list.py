"""`mm mcp list`: starts the MCP servers of an agent file and lists what they offer."""

from __future__ import annotations

import click

from mm.app.agent_file import chosen_config
from mm.app.assembly import Assembly
from mm.app.servers import ServerLine
from mm.app.voices import LateEcho, notices_only
from mm.cli.agent_option import AGENT_OPTION, AgentCommand
from mm.cli.streams import show, show_json
from mm.errors import ExitCode
from mm.interrupt import Interrupt
from mm.options import Options
from mm.visible import make_visible, make_visible_line

_LONGEST = 100  # characters of a description


@click.command("list", cls=AgentCommand)
@AGENT_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.pass_context
def command(context: click.Context, agent_file: str | None, as_json: bool) -> None:
    """Start the MCP servers of an agent file, list their tools, and end them.

    Exit codes: 0 all of them answered, 1 one did not.
    """
    outer = context.find_object(Options)
    options = Options(
        agent_file=agent_file or (outer.agent_file if outer else None),
        cwd=outer.cwd if outer else None,
        no_session=True,
    )
    interrupt = Interrupt()
    interrupt.install()
    listen = notices_only(LateEcho(quiet=False, verbose=False))
    assembly = Assembly(chosen_config(options, interrupt), options, interrupt=interrupt, listen=listen, person=None)
    try:
        assembly.servers.start()
        assembly.tools(0)
        lines = assembly.servers.lines()
    finally:
        assembly.close()
    if as_json:
        show_json([_record(line) for line in lines], indent=2)
    elif not lines:
        show("No MCP servers. `mcpServers:` in the agent file names them.")
    else:
        for line in lines:
            _show(line)
    context.exit(int(ExitCode.DONE if all(line.ok for line in lines) else ExitCode.FAILED))


def _show(line: ServerLine) -> None:
    state = make_visible(line.state).replace("\n", "\n    ")
    show(f"{make_visible_line(line.name)} ({make_visible_line(line.where)}): {state}")
    for name, description in line.tools:
        text = make_visible_line(" ".join(description.split()))
        show(f"  {name}  {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}".rstrip())


def _record(line: ServerLine) -> dict[str, object]:
    return {
        "name": line.name,
        "where": line.where,
        "state": line.state,
        "ok": line.ok,
        "tools": [{"name": name, "description": description} for name, description in line.tools],
    }
