"""The child process that searches files: a pattern of evil shape then costs a process that can be stopped.

Standard library only, besides `globs` and `walk`. Its last argument is one JSON object, the fields of `Search`; every
match goes to standard output as one line of JSON `[path, line number, text]`, at the end the `Summary`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import BinaryIO

from mm.tools.builtins.globs import Glob
from mm.tools.builtins.walk import Passed, walk

_MEMORY = 1 << 30  # bytes of address space
_DEEPEST = 50
_LONGEST_LINE = 100_000  # bytes of a line that are searched at once
_SHOWN = 300  # characters of a line that are shown
_SNIFFED = 8192


@dataclass(frozen=True, slots=True)
class Search:
    """`root` is an inherited descriptor of a folder or of one file."""

    root: int
    pattern: str
    glob: str
    hidden: bool
    most: int  # matches
    seconds: float


@dataclass(slots=True)
class Summary:
    invalid: bool = False  # no regular expression, so searched for as plain text
    plain: bool = False  # matched nowhere as a regular expression, but as plain text
    matches: int = 0
    files: int = 0
    binary: int = 0
    full: bool = False  # stopped at the most matches
    told: str = ""  # what the walk left out


def main() -> None:
    """Search as the last argument says, within bounded memory and time."""
    search = Search(**json.loads(sys.argv[-1]))
    with suppress(OSError, ValueError):  # not every system can bound it
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.setitimer(signal.ITIMER_REAL, search.seconds + 5)  # should the parent be gone: die by SIGALRM
    summary = _search(search)
    print(json.dumps(asdict(summary)), flush=True)


def _search(search: Search) -> Summary:
    text = re.escape(search.pattern)
    try:
        summary = _report(re.compile(search.pattern), search)
    except (re.error, RecursionError, OverflowError):
        return replace(_report(re.compile(text), search), invalid=True)
    if summary.matches or search.pattern == text:
        return summary
    literal = replace(_report(re.compile(text), search), plain=True)
    return literal if literal.matches else summary


def _report(pattern: re.Pattern[str], search: Search) -> Summary:
    summary = Summary()
    for match in _matches(pattern, search, summary):
        if summary.matches == search.most:
            summary.full = True
            break
        summary.matches += 1
        print(json.dumps(match), flush=True)
    return summary


def _matches(pattern: re.Pattern[str], search: Search, summary: Summary) -> Iterator[tuple[str, int, str]]:
    if stat.S_ISREG(os.fstat(search.root).st_mode):
        with os.fdopen(os.dup(search.root), "rb") as single:
            single.seek(0)
            yield from _in_file(pattern, "", single, summary)
        return
    passed = Passed()
    glob = Glob(search.glob) if search.glob else None
    for entry in walk(search.root, _DEEPEST, passed, hidden=search.hidden):
        if not entry.is_file or (glob and not glob.matches(entry.path)):
            continue
        try:
            file = open_at(entry.folder, entry.name)
        except OSError:
            passed.unreadable += 1
            continue
        with file:
            try:
                yield from _in_file(pattern, entry.path, file, summary)
            except OSError:
                passed.unreadable += 1
    summary.told = passed.told()


def open_at(folder: int, name: str) -> BinaryIO:
    """An entry of an open folder; a link, or a pipe that came in the file's place, is not waited for."""
    return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder), "rb")


def _in_file(pattern: re.Pattern[str], path: str, file: BinaryIO, summary: Summary) -> Iterator[tuple[str, int, str]]:
    if b"\0" in (file.read(_SNIFFED) or b""):  # None: a file of the kernel that has nothing yet
        summary.binary += 1
        return
    summary.files += 1
    file.seek(0)
    number, found, begins = 0, 0, True
    while data := file.readline(_LONGEST_LINE):
        number += begins
        begins = data.endswith(b"\n")
        text = _decoded(data.rstrip(b"\r\n"))
        if number > found and (match := pattern.search(text)):
            found = number
            yield path, number, _excerpt(text, match.start())


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _excerpt(text: str, place: int) -> str:
    """The part of a long line round the match."""
    if len(text) <= _SHOWN:
        return text
    start = max(0, place - _SHOWN // 3)
    return f"{'…' if start else ''}{text[start : start + _SHOWN]}{'…' if start + _SHOWN < len(text) else ''}"
