"""Runs the real `mm` in a process of its own, in a folder of its own."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MM = (sys.executable, "-m", "mm")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run of `mm` ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with an agent file and a home for mm."""

    folder: Path
    home: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        return {**kept, "HOME": str(self.folder.parent), "MM_HOME": str(self.home), "TERM": "xterm-256color", **more}

    def mm(self, *arguments: str, stdin: Any = subprocess.DEVNULL, text: str | None = None, **environ: str) -> Ran:
        """Run `mm` to its end. `text` is piped in; else stdin is empty."""
        given: dict[str, Any] = {"input": text.encode()} if text is not None else {"stdin": stdin}
        done = subprocess.run(
            [*MM, *arguments],
            cwd=self.folder,
            env=self.environment(**environ),
            capture_output=True,
            timeout=60,
            check=False,
            **given,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def agent(self, steps: list[Any], tools: list[dict[str, Any]] | None = None, **keys: Any) -> Path:
        """An agent file `agent.yaml` with a scripted model and these tools. Give it with `-a agent.yaml`."""
        self.write("script.yaml", yaml.safe_dump(steps))
        document = {"name": "test", "model": "scripted:script.yaml", "builtins": [], **keys}
        if tools is not None:
            document["tools"] = tools
        return self.write("agent.yaml", yaml.safe_dump(document, sort_keys=False))

    def log(self, name: str = "log") -> list[str]:
        """The lines that the tools of a test wrote down."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


def kept_of(place: Place, words: bytes) -> list[str]:
    """The files of mm's home that hold these words."""
    files = [path for path in place.home.rglob("*") if path.is_file()]
    return [str(path.relative_to(place.home)) for path in files if words in path.read_bytes()]


def logging_tool(place: Place, name: str, **keys: Any) -> dict[str, Any]:
    """A declared tool whose script writes its name and argument to `log` and prints `done ARGUMENT`."""
    place.write(f"{name}.sh", f'#!/bin/sh\necho "{name} $*" >> {place.folder}/log\necho "done $*"\n', 0o755)
    return {
        "name": name,
        "description": f"The tool {name} of a test.",
        "command": [f"./{name}.sh", "{{what}}"],
        "parameters": {"what": {"type": "string", "description": "What to do"}},
        **keys,
    }


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A step of a script that makes one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for what another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"that did not happen in {seconds} s"
        time.sleep(0.01)


def unread(pipe: int) -> int:
    """Bytes that wait in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def alive_in_group(group: int) -> list[int]:
    """The processes of a process group that still run; what only waits to be reaped does not count."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found
