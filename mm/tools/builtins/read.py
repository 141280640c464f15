"""read_file: the text of a file, a bounded part of it at a time."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from mm.counts import count
from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import plan
from mm.tools.builtins.text import SNIFFED, binary_kind, encoding_of
from mm.tools.open_files import opened_file
from mm.tools.places import Places
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown

_BLOCK = 1 << 20  # bytes read at once where lines are only counted
_WIDE_LIMIT = 10 << 20  # bytes of a UTF-16 file, which is read whole

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "File to read"},
        "offset": {"type": "integer", "minimum": 1, "description": "First line to read (default 1)"},
        "limit": {"type": "integer", "minimum": 1, "description": "Number of lines (default: as many as fit)"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines of a file: from line `offset` (from 1), at most `limit` of them."""

    path: Path
    offset: int = 1
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of a file. `more` says that lines follow, `cut` that the last one is longer than what is given."""

    data: bytes
    lines: int
    more: bool
    cut: bool


def read_file_tool(places: Places, size: int) -> Builtin:
    """`size` is the most characters of one reply."""

    def plan_reading(arguments: Arguments) -> Plan:
        path = places.file(arguments["path"])
        reading = Reading(path, int(arguments.get("offset", 1)), arguments.get("limit"))
        shown = (Shown("path", Look.PATH, (str(path),)),)
        return plan("read_file", reading, shown, places.reading(path), places.scope(path))

    def run(call: ApprovedCall, run: Run) -> Output:
        reading = call.plan.what
        assert isinstance(reading, Reading)
        return read(reading, places.shown(reading.path), size, run)

    return Builtin(
        name="read_file",
        description="Read a text file.",
        parameters=PARAMETERS,
        plan=plan_reading,
        run=run,
        readonly=True,
    )


def read(reading: Reading, name: str, size: int, run: Run) -> Output:
    """The lines as they are, without decoration; what else there is to know goes into the note."""
    with opened_file(reading.path) as file:
        start = file.read(SNIFFED)
        if kind := binary_kind(start):
            length = os.fstat(file.fileno()).st_size
            raise ToolError(f"`{name}` is {kind} of {count(length, 'byte')}, not text, so it is not shown.")
        if not start:
            return Output.reply(Outcome.OK, f"`{name}` is empty (0 bytes).")
        file.seek(0)
        if encoding_of(start[:2]).wide:
            file = io.BytesIO(_as_utf8(file, name))
        passed = _skip_lines(file, reading.offset - 1, run)
        part = _take(file, reading.limit, size)
        if not part.data:
            raise ToolError(f"`{name}` has {_count(file, passed)}, so there is no line {reading.offset}.")
        return _given(part, reading.offset, name)


def _given(part: Part, offset: int, name: str) -> Output:
    data = _whole_characters(part.data) if part.cut else part.data
    encoding = encoding_of(data)
    text = encoding.decode(data).replace("\r\n", "\n")
    last = offset + part.lines - 1
    notes = []
    if encoding.name == "latin-1":
        notes.append("The file is not UTF-8; it was read as Latin-1.")
    if part.cut:
        notes.append(f"Line {last} is too long: only its first {len(text):,} characters are shown.")
    if part.more:
        notes.append(f"These are lines {offset} to {last} of `{name}`. Go on with offset={last + 1}.")
    return replace(Output.text(Outcome.OK, text), note=" ".join(notes))


def _as_utf8(file: IO[bytes], name: str) -> bytes:
    data = file.read(_WIDE_LIMIT + 1)
    if len(data) > _WIDE_LIMIT:
        raise ToolError(f"`{name}` is UTF-16 text of more than {_WIDE_LIMIT:,} bytes. Convert it with iconv first.")
    encoding = encoding_of(data)
    return data.removeprefix(encoding.mark).decode(encoding.name, "replace").encode("utf-8", "replace")


def _whole_characters(data: bytes) -> bytes:
    """Without a UTF-8 character that was cut in half at the end."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start] if error.start >= len(data) - 3 else data
    return data


def _take(file: IO[bytes], limit: int | None, size: int) -> Part:
    """Whole lines up to `limit` lines and `size` bytes, but always some of the first."""
    taken: list[bytes] = []
    room = size
    while limit is None or len(taken) < limit:
        line = file.readline(room + 1)
        if len(line) > room and not taken:
            return Part(line[:size], 1, more=_another_line(file, line), cut=True)
        if len(line) > room or not line:
            return Part(b"".join(taken), len(taken), more=bool(line), cut=False)
        taken.append(line)
        room -= len(line)
    return Part(b"".join(taken), len(taken), more=bool(file.read(1)), cut=False)


def _another_line(file: IO[bytes], begun: bytes) -> bool:
    """Whether a line follows the one that was begun. Looks one block ahead; a longer line counts as yes."""
    if begun.endswith(b"\n"):
        return bool(file.read(1))
    ahead = file.read(_BLOCK)
    return len(ahead) == _BLOCK or b"\n" in ahead[:-1]


def _skip_lines(file: IO[bytes], count: int, run: Run) -> int:
    """Move past `count` lines; returns the number of lines passed, smaller at the end of the file."""
    passed = 0
    while passed < count and (block := file.read(_BLOCK)):
        if run.stop.is_set():
            raise Interrupted
        ends = block.count(b"\n")
        if passed + ends < count:
            passed += ends
            continue
        position = 0
        for _ in range(count - passed):
            position = block.index(b"\n", position) + 1
        file.seek(position - len(block), os.SEEK_CUR)
        return count
    return passed


def _count(file: IO[bytes], ends: int) -> str:
    file.seek(-1, os.SEEK_END)
    lines = ends + (file.read(1) != b"\n")
    return count(lines, "line")
