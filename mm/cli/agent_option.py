"""The option `-a`, the same for every command that takes an agent file. Loads nothing that reads one."""

from __future__ import annotations

from pathlib import Path

import click

from mm.cli.complete import complete_file
from mm.cli.values import NOT_EMPTY
from mm.errors import UsageError
from mm.visible import make_shell_word, make_visible_line

AGENT_OPTION = click.option(
    "-a",
    "--agent",
    "agent_file",
    metavar="FILE",
    type=NOT_EMPTY,
    shell_complete=complete_file,
    help="The agent file; naming it trusts it for this run.",
)


class AgentCommand(click.Command):
    """A command about an agent file. An argument too many is often that file, without its `-a`."""

    allow_extra_args = True  # as far as `parse_args`, which has better words for them

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            _refuse_extra(ctx, rest)
        return rest


def _refuse_extra(ctx: click.Context, rest: list[str]) -> None:
    """Raise for arguments that a command does not take; for an agent file, with the line that was meant."""
    arguments = (ctx.params.get(one.name or "") for one in ctx.command.params if isinstance(one, click.Argument))
    line = " ".join([ctx.command_path, *(make_shell_word(str(one)) for one in arguments if one)])
    for word in rest:
        if means_agent_file(word):
            hint = f"The agent file is named with -a: {line} -a {make_shell_word(word)}"
            raise UsageError(f"`{make_visible_line(word)}` is one argument too many.", hint)
    ctx.fail(f"Got unexpected extra argument{'s' if len(rest) > 1 else ''} ({' '.join(rest)})")


def means_agent_file(word: str) -> bool:
    """Whether a word that stands where none belongs is a file, or is called like an agent file."""
    try:
        return word.endswith((".yaml", ".yml")) or Path(word).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False
