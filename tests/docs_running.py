"""Runs the blocks of one page in order, in one folder, as a reader would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
import yaml

from mm.config.load import load
from mm.models.scripted import read_script
from tests.docs_pages import ROOT, Block

_BIN = Path(sys.executable).parent
_TIMEOUT = 120  # seconds; compilers that run for the first time are slow
_QUESTION = r"[>\]] $"  # how every question to a person ends


class Reader:
    """Follows one page. `home` becomes the home folder, the page's folder lies in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "work"
        self.folder.mkdir(parents=True)
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        self.here = self.folder
        self._environment = _environment(home)
        self._missing = ""

    def follow(self, block: Block) -> None:
        """Do what one block says. What needs a missing program is passed over, and so is all that follows from it."""
        if block.file:
            path = self.here / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, "utf-8")
            if block.text.startswith("#!"):
                path.chmod(0o755)
        missing = block.needs and not self._has(block.needs)
        if missing:
            self._missing = block.needs
        elif not block.not_run and not self._missing:
            getattr(self, f"_{block.language}")(block)

    def finish(self) -> None:
        if self._missing:
            pytest.skip(f"the rest of the page needs {self._missing}")

    def _has(self, program: str) -> bool:
        if program == "rust":
            asked = self._run("rustc --print target-libdir --target wasm32-wasip1").stdout.strip()
            return bool(asked) and Path(asked).is_dir()
        return shutil.which(program, path=self._environment["PATH"]) is not None

    # One function a language

    def _sh(self, block: Block) -> None:
        done = self._run(f"set -e\n{block.text}\npwd >&9\n", remember=True)
        assert done.returncode == 0, f"{block}: exit code {done.returncode}\n{done.stdout}"

    def _console(self, block: Block) -> None:
        for command, expected, next_command in _commands(block.text):
            if block.typed:
                shown, code = self._at_terminal(command, block.typed), 0
            else:
                script = f"(exit {self._code})\n{command}\n__code=$?\npwd >&9\nexit $__code\n"
                done = self._run(script, remember=True)
                shown, code = self._as_shown(done.stdout), done.returncode
            self._code = code
            told = next_command.startswith("echo $?")
            assert code == 0 or told, f"{block}: `{command}` ended with {code}, and the page does not say so:\n{shown}"
            assert _fits(expected, shown), f"{block}: `{command}` printed\n{shown}\ninstead of\n{expected}"

    _code = 0

    def _yaml(self, block: Block) -> None:
        name = Path(block.file).name
        if name.startswith("script"):
            assert read_script(self.here / block.file)
        elif not name or name.endswith("agent.yaml"):
            path = self.here / (block.file or "block.agent.yaml")
            path.write_text(block.text, "utf-8")
            assert load(path, environ={**self._environment, "NOTES_TOKEN": "x", "TRACKER_KEY": "x"})
        else:
            assert yaml.safe_load(block.text)

    def _json(self, block: Block) -> None:
        lines = block.text.strip().splitlines()
        if len(lines) > 1 and all(line.startswith("{") for line in lines):
            assert [json.loads(line) for line in lines]
        else:
            assert json.loads(block.text)

    def _python(self, block: Block) -> None:
        if block.file:
            compile(block.text, block.file, "exec")
            return
        done = self._run(f"{sys.executable} - <<'PROGRAM'\n{block.text}\nPROGRAM\n")
        assert done.returncode == 0, f"{block}:\n{done.stdout}"

    def _markdown(self, block: Block) -> None:
        assert block.file, f"{block}: Markdown in a block is a file of the reader's"

    def _text(self, block: Block) -> None:
        assert "explanation" in block.page.parts or "reference" in block.page.parts, f"{block}: is that a console?"

    def _go(self, block: Block) -> None:
        """Source: what is said to be done with it compiles it."""
        assert block.file, f"{block}: source without a file is never compiled"

    _c = _rust = _zig = _bash = _go

    # Processes

    def _run(self, script: str, *, remember: bool = False) -> subprocess.CompletedProcess[str]:
        """Both streams come in `stdout`, in the order they were written. File 9 takes the folder at the end."""
        note = self.home / "folder"
        done = subprocess.run(
            ["bash", "-c", f"exec 9>'{note}' 2>&1\n{script}"],
            cwd=self.here,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_TIMEOUT,
        )
        if remember and (folder := note.read_text().strip()):
            self.here = Path(folder)
        return done

    def _at_terminal(self, command: str, typed: tuple[str, ...]) -> str:
        """The whole of what a person sees who types these lines at the questions."""
        child = pexpect.spawn(
            "bash",
            ["-c", command],
            cwd=str(self.here),
            env={**self._environment, "NO_COLOR": "1"},
            encoding="utf-8",
            dimensions=(60, 400),
            timeout=30,
        )
        seen = ""
        for line in typed:
            child.expect(_QUESTION)
            seen += child.before + child.after
            child.sendline("" if line == "Enter" else line)
        child.expect(pexpect.EOF)
        seen += child.before
        child.close()
        assert child.exitstatus == 0, f"`{command}` ended with {child.exitstatus}:\n{seen}"
        return self._as_shown(re.sub(r"\x1b\[[0-9;]*m", "", seen).replace("\r\n", "\n"))

    def _as_shown(self, text: str) -> str:
        """The reader's folder has a name of its own on every machine."""
        return text.replace(str(self.folder), "/home/you")


def _environment(home: Path) -> dict[str, str]:
    """A new user on this machine: nothing but PATH and the caches of compilers is taken over."""
    shims = home / "bin"
    shims.mkdir()
    if shutil.which("zig") is None and (_BIN / "python-zig").exists():
        (shims / "zig").write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang "$@"\n')
        (shims / "zig").chmod(0o755)
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return {
        "PATH": f"{_BIN}:{shims}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "MM_HOME": str(home / "mm"),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "COLUMNS": "100",
        "GOCACHE": os.environ.get("GOCACHE") or str(caches / "go-build"),
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "ZIG_GLOBAL_CACHE_DIR": os.environ.get("ZIG_GLOBAL_CACHE_DIR") or str(caches / "zig"),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
    }


def _commands(text: str) -> list[tuple[str, str, str]]:
    """The commands of a console block, each with the output shown below it and the command after it."""
    parts = [part for part in re.split(r"^\$ ", text, flags=re.MULTILINE) if part.strip()]
    found: list[tuple[str, str]] = []
    for part in parts:
        lines = part.rstrip("\n").split("\n")
        command = [lines.pop(0)]
        while lines and lines[0].startswith("> "):
            command.append(lines.pop(0)[2:])
        found.append(("\n".join(command), "\n".join(lines)))
    return [(*one, found[number + 1][0] if number + 1 < len(found) else "") for number, one in enumerate(found)]


def _fits(expected: str, shown: str) -> bool:
    """Whether the output is as shown: `…` stands for any text of one line, alone on its line for any lines."""
    lines = (re.escape(line.rstrip()).replace("…", "[^\n]*") for line in _steady(expected).split("\n"))
    pattern = "\n".join("(?s:.*)" if line == "[^\n]*" else line for line in lines)
    plain = "\n".join(line.rstrip() for line in _steady(shown).split("\n")).strip("\n")
    return re.fullmatch(pattern, plain) is not None


_VARIES = {
    r"\b\d{8}-[a-z]{8}\b": "SESSION",
    r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b": "TIME",
    r"\b\d{4}-\d\d-\d\d\b": "DAY",
    r"\b[0-9a-f]{10}\b": "ID",
    r'"duration_ms": \d+': "DURATION",
}


def _steady(text: str) -> str:
    """The text without what is another each time, so that pages can show what it looks like."""
    for pattern, name in _VARIES.items():
        text = re.sub(pattern, name, text)
    return text
