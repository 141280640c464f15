"""Which agent file a command is about: the one that is named, else the one that is found."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import click

from mm.app.agent_file import named_file
from mm.config.find import Found, find
from mm.config.load import load
from mm.config.schema import Config
from mm.config.trust import is_trusted, trust
from mm.errors import MMError, UsageError
from mm.folders import with_home
from mm.options import Options


def agent_file(context: click.Context, named: str | None) -> Found | None:
    """The file of `-a` (behind the command, or before it), else the nearest one, else the user's own."""
    options = context.find_object(Options)
    named = named or (options.agent_file if options else None)
    if named:
        return Found(named_file(named), own=True)
    folder = with_home((options.cwd if options else None) or ".")
    if options and options.cwd and not folder.is_dir():
        raise UsageError(f"`--cwd {options.cwd}`: there is no such folder.", "Name a folder that is there.")
    return find(folder, os.environ)


def needed_file(context: click.Context, named: str | None) -> Found:
    """The same, where there must be one."""
    found = agent_file(context, named)
    if found is None:
        raise UsageError("There is no agent file here.", "Write one with: mm init   or name one with: -a FILE")
    return found


def read_config(context: click.Context, named: str | None) -> Config:
    """The agent of that file, or the built-in defaults. Reading starts nothing, so it needs no trust."""
    found = agent_file(context, named)
    return load(found.path, environ=os.environ) if found else Config(file=None, folder=Path.cwd())


def is_trusted_already(config: Config) -> bool:
    """Whether the file is trusted; what cannot be checked is not."""
    try:
        return is_trusted(config)
    except MMError:
        return False


def trust_quietly(config: Config) -> None:
    """Trust what the user has just had mm write. Where that cannot be kept, mm asks later."""
    with contextlib.suppress(MMError, OSError):
        trust(config)
