"""Who is told and who can be asked, outside the chat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mm.events import Event, Listener, Notice
from mm.interrupt import Interrupt

if TYPE_CHECKING:
    from mm.dispatch.person import Person


class LateEcho:
    """The echo on stderr, loaded with the first event that there is something to say about."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._echo: Listener | None = None

    def __call__(self, event: Event) -> None:
        if self._echo is None:
            from mm.terminal.echo import StderrEcho

            self._echo = StderrEcho(sys.stderr, quiet=self._quiet, verbose=self._verbose)
        self._echo(event)


def line_person(interrupt: Interrupt) -> Person | None:
    """Someone at the terminal, or None: stdin and stderr must both be one. A piped `yes` is nobody."""
    try:
        there = sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):
        return None
    if not there:
        return None
    from mm.terminal.line_person import LinePerson

    return LinePerson(interrupt)


def notices_only(listen: Listener) -> Listener:
    """Passes notices on and nothing else."""

    def pass_on(event: Event) -> None:
        if isinstance(event, Notice):
            listen(event)

    return pass_on
