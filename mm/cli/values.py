"""What a value on the command line must be, beyond what click checks."""

from __future__ import annotations

from typing import Any

import click


class _NotEmpty(click.ParamType[str]):
    """A text that is there: `-a "$FILE"` with a variable that is not set must not silently mean another file."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty. Give a value, or leave it out.", param, ctx)
        return value


NOT_EMPTY = _NotEmpty()


def is_text(value: str) -> bool:
    """Whether the bytes that a shell gave were text: those that were not came as halves of surrogate pairs."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
