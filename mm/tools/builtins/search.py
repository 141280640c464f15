"""search_files: lines that match a pattern, as `file:line: text`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import mm
from mm.counts import count
from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import JSON, Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import plan
from mm.tools.builtins.searching import Search
from mm.tools.open_files import open_listing, opened_file
from mm.tools.places import Places
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown
from mm.visible import make_visible_line

MOST_MATCHES = 200
SECONDS = 20.0
_POLL = 0.05  # seconds between two looks at the stop event

PARAMETERS = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "Regular expression or plain text; starts with (?i) to ignore case",
        },
        "path": {"type": "string", "default": ".", "description": "Folder or file"},
        "glob": {"type": "string", "description": "Only files that match, such as *.py"},
        "hidden": {"type": "boolean", "default": False, "description": "Search hidden files too"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Searching:
    path: Path
    is_folder: bool
    pattern: str
    glob: str
    hidden: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What the child found. `summary` is None when it was stopped, `broken` when it died by itself."""

    matches: list[tuple[str, int, str]]
    summary: JSON
    broken: bool = False


def search_files_tool(places: Places, size: int, seconds: float = SECONDS) -> Builtin:
    """`size` is the most characters of one reply, `seconds` the longest that one search takes."""

    def plan_search(arguments: Arguments) -> Plan:
        path, is_folder = places.file_or_folder(arguments.get("path", "."))
        pattern = arguments["pattern"]
        if not pattern or len(pattern) > 1000:
            raise ToolError("`pattern` must have 1 to 1,000 characters.")
        glob = str(arguments.get("glob", ""))
        if len(glob) > 500:
            raise ToolError("`glob` is longer than 500 characters. Send a short one, such as *.py.")
        searching = Searching(path, is_folder, pattern, glob, bool(arguments.get("hidden", False)))
        shown = (Shown("search in", Look.PATH, (str(path),)), Shown("pattern", Look.TEXT, (pattern,)))
        return plan("search_files", searching, shown, places.reading(path), places.scope(path))

    def run(call: ApprovedCall, run: Run) -> Output:
        searching = call.plan.what
        assert isinstance(searching, Searching)
        return _answer(searching, places.shown(searching.path), size, seconds, run)

    return Builtin(
        name="search_files",
        description="Search the text of files. Gives file:line: text.",
        parameters=PARAMETERS,
        plan=plan_search,
        run=run,
        readonly=True,
    )


def _answer(searching: Searching, name: str, size: int, seconds: float, run: Run) -> Output:
    found = _find(searching, seconds, run)
    if found.broken:
        raise ToolError("The search was given up: it took too much memory. Send a simpler pattern.")
    lines, left_out = _lines(found, name, size)
    text = (
        "\n".join(lines)
        or f"No match in {count(found.summary['files'], 'file') if found.summary else 'the searched files'}."
    )
    outcome = Outcome.OK if found.summary else Outcome.TIMED_OUT
    return replace(Output.text(outcome, text), note=" ".join(_told(found, left_out, seconds)))


def _lines(found: Found, name: str, size: int) -> tuple[list[str], int]:
    """The matches as lines, as many as fit, and the number of those that do not."""
    start = "" if name == "." else f"{name}/"
    lines: list[str] = []
    for path, number, text in found.matches:
        line = f"{start}{make_visible_line(path)}:{number}: {text}" if path else f"{name}:{number}: {text}"
        size -= len(line) + 1
        if size < 0 and lines:
            break
        lines.append(line)
    return lines, len(found.matches) - len(lines)


def _told(found: Found, left_out: int, seconds: float) -> list[str]:
    if not found.summary:
        return [f"Stopped after {seconds:g} s. Name a subfolder or a glob, or send a simpler pattern."]
    summary = found.summary
    sentences = {
        "The pattern is no valid regular expression, so it was searched for as plain text.": summary["invalid"],
        "Nothing matches the pattern as a regular expression; these match it as plain text.": summary["plain"],
        "There are more matches. Name a subfolder or a glob, or send a narrower pattern.": summary["full"] or left_out,
        f"Binary, not searched: {count(summary['binary'], 'file')}.": summary["binary"],
        summary["told"]: summary["told"],
    }
    return [sentence for sentence, holds in sentences.items() if holds]


def _find(searching: Searching, seconds: float, run: Run) -> Found:
    with _root(searching) as root:
        search = Search(root, searching.pattern, searching.glob, searching.hidden, MOST_MATCHES, seconds)
        request = json.dumps(asdict(search))
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM, str(Path(mm.__file__).parent.parent), request],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(root,),
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name.startswith(("LD_", "DYLD_"))},
        )
    ended, data = _communicate(child, seconds, run)
    records = [json.loads(line) for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
    matches = [(path, number, text) for path, number, text in (item for item in records if isinstance(item, list))]
    summary = next((item for item in records if isinstance(item, dict)), None)
    return Found(matches, summary, broken=ended and summary is None)


_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from mm.tools.builtins.searching import main; main()"


def _communicate(child: subprocess.Popen[bytes], seconds: float, run: Run) -> tuple[bool, bytes]:
    """Whether the child ended by itself in time, and what it wrote."""
    until = time.monotonic() + seconds
    with child:
        try:
            while time.monotonic() < until and not run.stop.is_set():
                with suppress(subprocess.TimeoutExpired):
                    return True, child.communicate(timeout=_POLL)[0]
        finally:
            child.kill()
        if run.stop.is_set():
            raise Interrupted
        return False, child.communicate()[0]


@contextmanager
def _root(searching: Searching) -> Iterator[int]:
    """A descriptor of the file or folder to search."""
    if not searching.is_folder:
        with opened_file(searching.path) as file:
            yield file.fileno()
        return
    descriptor = open_listing(searching.path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
