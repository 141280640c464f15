"""Options that several commands share, and options that exclude each other."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from mm.cli.main import mm
from tests.cli.running import Place


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


def test_the_newest_session_is_gone_on_with_under_another_name_of_the_agent_file(place: Place) -> None:
    place.agent(["first", "second"])
    (place.folder / "folder").mkdir()
    (place.folder.parent / "link").symlink_to("work")
    said = [
        json.loads(place.mm("-a", name, "-p", "x", "--output-format", "json", *more).out)["session_id"]
        for name, more in [("agent.yaml", []), ("folder/../agent.yaml", ["-c"]), ("../link/agent.yaml", ["-c"])]
    ]
    assert said == [said[0]] * 3


def test_two_ways_to_go_on_with_a_session_are_told_apart_and_none_wins(place: Place) -> None:
    place.agent(["first"])
    kept = json.loads(place.mm("-a", "agent.yaml", "-p", "x", "--output-format", "json").out)["session_id"]
    ran = place.mm("-a", "agent.yaml", "-c", "-r", kept, "-p", "y")
    assert (ran.code, ran.out) == (2, "")
    assert "Keep `-r ID` for that session, or `-c` for the newest one of this folder and agent file." in ran.err
