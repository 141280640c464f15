"""`mm model pull NAME`: fetch weights, with a progress bar on a terminal and plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from mm.cli.complete import complete_weights
from mm.cli.streams import show, tell

if TYPE_CHECKING:
    from rich.progress import Progress

    from mm.models.pull import Watcher

_EVERY = 10.0  # percent between two plain lines


@click.command("pull")
@click.argument("name", shell_complete=complete_weights)
def command(name: str) -> None:
    """Fetch the weights of NAME (see `mm model list`). An interrupted pull goes on where it stopped."""
    from mm.models import pull, weights

    wanted = weights.lookup(name)
    started = time.monotonic()
    with _watcher(name) as watcher:
        try:
            path = pull.pull(wanted, watcher, hub=os.environ.get("HF_ENDPOINT") or pull.HUB)
        except KeyboardInterrupt:
            tell(f"Stopped. `mm model pull {name}` goes on from here.")
            raise
    tell(f"{name}: sha256 ok, {time.monotonic() - started:.0f} s")
    show(str(path))


@contextmanager
def _watcher(name: str) -> Iterator[Watcher]:
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _Lines(name)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield _Bar(progress, name)


class _Lines:
    """One line every tenth of the way."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = 0.0

    def at(self, done: int, total: int) -> None:
        percent = 100 * done / total
        if percent >= self._next:
            self._next = percent - percent % _EVERY + _EVERY
            tell(f"{self._name}: {percent:3.0f} % of {total / 1e6:,.0f} MB")

    def note(self, text: str) -> None:
        tell(text)


class _Bar:
    """A bar that redraws."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress = progress
        self._task = progress.add_task(name, total=None)

    def at(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)

    def note(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False)
