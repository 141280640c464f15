"""What went wrong, in words on stderr, and the exit code for it: the one place where mm prints its errors."""

from __future__ import annotations

import io
import os
from pathlib import Path

import click

from mm.cli.streams import StdoutError, abandon_stdout, tell
from mm.errors import ExitCode, MMError
from mm.visible import cut_long_values

_GONE = "mm: the folder that mm was started in is gone.\n    Go to one that is there: cd"


def report(error: MMError | click.ClickException | OSError) -> ExitCode:
    """Say what went wrong and what to do, without anything that acts on a terminal. Gives the exit code."""
    if isinstance(error, click.ClickException):
        tell(cut_long_values(_click_text(error)))
        return ExitCode.USAGE
    if isinstance(error, MMError):
        if isinstance(error, StdoutError):
            abandon_stdout()
        tell(f"mm: {cut_long_values(error.message)}" + (f"\n    {error.hint}" if error.hint else ""))
        return error.exit_code
    if not _is_somewhere():
        tell(_GONE)
        return ExitCode.USAGE
    tell(f"mm: {_system_text(error)}")
    return ExitCode.FAILED


class _Said(io.StringIO):
    """Click would drop what looks like a colour for anything but a terminal: a part of what the user gave."""

    def isatty(self) -> bool:
        return True


def _click_text(error: click.ClickException) -> str:
    said = _Said()
    error.show(file=said)
    return said.getvalue().rstrip("\n")


def _system_text(error: OSError) -> str:
    """What the system refused, with the file it is about. Where mm knows more, it has said so itself."""
    reason = error.strerror or str(error) or type(error).__name__
    named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    return cut_long_values(f"`{named}`: {reason}.") if named else f"{reason}."


def _is_somewhere() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True
