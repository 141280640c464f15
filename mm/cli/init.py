"""`mm init`: an agent file that works at once, and teaches."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import click

from mm.cli.agent_file import trust_quietly
from mm.cli.scaffold import fill
from mm.cli.streams import show, tell
from mm.cli.values import NOT_EMPTY
from mm.config.flow import flow
from mm.config.json_schema import json_schema
from mm.config.load import load
from mm.errors import UsageError
from mm.folders import with_home
from mm.visible import make_visible_line

_SCHEMA = Path(".mm/agent.schema.json")


@click.command("init")
@click.argument("folder", type=NOT_EMPTY, required=False, default=".")
@click.option("--name", metavar="TEXT", help="Name of the agent; otherwise that of the folder.")
def command(folder: str, name: str | None) -> None:
    """Write agent.yaml into FOLDER (or here): one working tool, and comments that teach the rest.

    Beside it, .mm/agent.schema.json gives editors completion and checks. Nothing that is there is overwritten.
    """
    target = _named(folder) / "agent.yaml"
    _refuse_if_there(target)
    _make_folder(target.parent)
    text = fill("agent.yaml.tmpl", {"NAME": flow(_agent_name(target.parent, name))})
    _write_new(target, text)
    _write_schema(target.parent / _SCHEMA)
    # The person asked for exactly this text, so mm need not ask whether it may be used.
    trust_quietly(load(target, environ=os.environ))
    _tell(target)


def _named(folder: str) -> Path:
    if folder.startswith("~") and str(with_home(folder)) == folder:
        raise UsageError(f"`{make_visible_line(folder)}`: there is no such user.", "Name a folder: mm init FOLDER")
    return with_home(folder)


def _refuse_if_there(target: Path) -> None:
    for path in (target, target.parent / ".mm/agent.yaml"):
        if os.path.lexists(path):
            hint = "Add a tool to it: mm tools new NAME …   or choose another folder: mm init FOLDER"
            raise UsageError(f"`{make_visible_line(str(path))}` is there already, and mm does not overwrite it.", hint)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"`{folder}` is a file.", "Name a folder: mm init FOLDER") from None
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be made: {error.strerror}.", "Choose another folder.") from error


def _agent_name(folder: Path, given: str | None) -> str:
    """The name that was given, else one made of the folder's."""
    if given is not None:
        name = given.strip()
        if not name or len(name) > 100 or not name.isprintable():
            raise UsageError("`--name` must be one short line.", "Such as: mm init --name ops")
        return name
    name = "".join(one for one in folder.absolute().resolve().name if one.isprintable()).strip()
    return name.encode("utf-8", "ignore").decode()[:100] or "agent"


def _write_schema(path: Path) -> None:
    """For editors only: where it cannot be written, everything else works."""
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
    except FileExistsError:
        return
    except OSError as error:
        tell(f"mm: `{path}` was not written: {error.strerror}. Only editors miss it.")


def _write_new(target: Path, text: str) -> None:
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        _refuse_if_there(target)
    except OSError as error:
        raise UsageError(f"`{target}` cannot be written: {error.strerror}.", "Choose another folder.") from error


def _tell(target: Path) -> None:
    show(f"Wrote {make_visible_line(str(target))}. Next:")
    if target.parent.absolute() != Path.cwd():
        show(f"  cd {shlex.quote(str(target.parent))}")
    show("  mm tools run count_lines file=agent.yaml")
    show("  mm doctor")
    show('  mm -p "How many lines does agent.yaml have?"')
