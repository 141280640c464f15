"""Writes agent files for the tests, and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from mm.config.load import load
from mm.config.problems import ConfigProblems
from mm.config.schema import CommandTool, Config, ToolEntry

HOME = {"HOME": "/nowhere"}


def write(folder: Path, text: str) -> Path:
    path = folder / "agent.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def read(folder: Path, text: str, environ: Mapping[str, str] = HOME) -> Config:
    return load(write(folder, text), environ=environ)


def wrong(folder: Path, text: str, environ: Mapping[str, str] = HOME) -> list[str]:
    """Every problem as `line:column: message | hint`."""
    with pytest.raises(ConfigProblems) as caught:
        read(folder, text, environ)
    return [f"{one.place.line}:{one.place.column}: {one.message} | {one.hint}" for one in caught.value.problems]


def tool(folder: Path, text: str, environ: Mapping[str, str] = HOME) -> ToolEntry:
    """The only tool of a file; `text` is the entry's keys, at no indentation."""
    lines = dedent(text).strip().splitlines()
    return read(folder, _entry(lines), environ).tools[0]


def wrong_tool(folder: Path, text: str, environ: Mapping[str, str] = HOME) -> list[str]:
    """The problems of the only tool, as `message | hint`."""
    lines = dedent(text).strip().splitlines()
    return [one.split(": ", 1)[1] for one in wrong(folder, _entry(lines), environ)]


def command(entry: ToolEntry) -> CommandTool:
    assert isinstance(entry.run, CommandTool)
    return entry.run


def deep_by_aliases(links: int) -> str:
    """A file of few values in which each alias is fifty lists, around the alias before it."""
    lines = [f"a0: &a0 {'[' * 50}x{']' * 50}"]
    lines += [f"a{n}: &a{n} {'[' * 50}*a{n - 1}{']' * 50}" for n in range(1, links)]
    return "model:\n  name: ollama:x\n  extra:\n" + "".join(f"    {line}\n" for line in lines)


def _entry(lines: list[str]) -> str:
    return "\n".join(["tools:", "  - name: it", *(f"    {line}" for line in lines), ""])
