"""Options that several commands share, and options that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

import click

from mm.cli.main import mm


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """A command and those in it, each with its path."""
    yield context.command_path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, click.Context(inner, info_name=name, parent=context))


def test_the_agent_file_is_named_alike_wherever_it_is_named() -> None:
    found = {
        path: parameter.to_info_dict()
        for path, command in commands(mm, click.Context(mm, info_name="mm"))
        for parameter in command.params
        if "-a" in parameter.opts or parameter.name == "agent_file"
    }
    assert {"mm", "mm tools run", "mm tools list", "mm mcp list", "mm doctor"} <= set(found)
    assert all(one == found["mm"] for one in found.values())
