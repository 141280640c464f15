"""`mm model list`: the weights that mm can fetch, and which are here."""

from __future__ import annotations

import click

from mm.cli.streams import show


@click.command("list")
def command() -> None:
    """List the models that run inside mm: name, size, licence, and whether their weights are here."""
    from mm.models.weights import catalogue

    known = catalogue()
    width = max(len(name) for name in known)
    for name, weights in known.items():
        state = "here" if weights.present else f"not here: mm model pull {name}"
        show(f"{name:<{width}}  {weights.bytes / 1e6:>6,.0f} MB  {weights.licence}  {state}")
