"""The few colours of the chat: readable on any background, and only where the terminal has them."""

from __future__ import annotations

import os

import pytest
from rich.color import Color

from mm.terminal.palette import READABLE, palette_for


def luminance(colour: tuple[int, int, int]) -> float:
    """The relative luminance of WCAG 2."""
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("background", [(0, 0, 0), (28, 28, 28), (253, 246, 227), (255, 255, 255)])
@pytest.mark.parametrize("name", READABLE)
def test_each_colour_can_be_read_on_dark_and_on_light(name: str, background: tuple[int, int, int]) -> None:
    colour = Color.from_ansi(READABLE[name]).get_truecolor()
    dark, light = sorted((luminance((colour.red, colour.green, colour.blue)), luminance(background)))
    assert (light + 0.05) / (dark + 0.05) >= 3.4


@pytest.mark.parametrize(
    ("variables", "accent", "dim"),
    [
        ({"TERM": "xterm-256color"}, "\x1b[38;5;31mx\x1b[0m", "\x1b[38;5;244mx\x1b[0m"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "\x1b[38;5;31mx\x1b[0m", "\x1b[38;5;244mx\x1b[0m"),
        ({"TERM": "linux"}, "\x1b[36mx\x1b[0m", "\x1b[2mx\x1b[0m"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "x", "\x1b[2mx\x1b[0m"),
        ({"TERM": "dumb"}, "x", "x"),
    ],
)
def test_a_terminal_gets_the_colours_that_it_has(
    variables: dict[str, str], accent: str, dim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    leader, follower = os.openpty()
    with os.fdopen(follower, "w") as stream:
        palette = palette_for(stream)
        assert (palette.accent("x"), palette.dim("x")) == (accent, dim)
    os.close(leader)
