"""edit_file: replaces one exact text in a file by another."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from mm.counts import count
from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import plan
from mm.tools.builtins.text import SNIFFED, Encoding, binary_kind, encoding_of, line_end
from mm.tools.open_files import opened_file, replace_file
from mm.tools.places import Places
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown

_LARGEST = 10 << 20  # bytes of a file that is edited
_COMPARED = 5000  # lines that are looked at for the nearest ones
_QUOTED = 20  # lines of the file that a reply quotes

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "File to change"},
        "old_text": {"type": "string", "description": "Text to replace, exactly as in the file, found only once there"},
        "new_text": {"type": "string", "description": "Text to put in its place"},
        "replace_all": {"type": "boolean", "default": False, "description": "Replace every occurrence"},
    },
    "required": ["path", "old_text", "new_text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Edit:
    path: Path
    old: str
    new: str
    every: bool


@dataclass(frozen=True, slots=True)
class Edited:
    """The file after an edit, how many texts were replaced, and at which lines the first of them were."""

    data: bytes
    count: int
    where: str


def edit_file_tool(places: Places) -> Builtin:
    def plan_edit(arguments: Arguments) -> Plan:
        path = places.file(arguments["path"])
        edit = Edit(path, arguments["old_text"], arguments["new_text"], bool(arguments.get("replace_all", False)))
        _refuse_empty(edit)
        if places.inside(path):  # else nothing of the file may be told before consent
            _apply(edit, places.shown(path))
        shown = (
            Shown("changes", Look.PATH, (str(path),)),
            Shown("old text, every time it occurs" if edit.every else "old text", Look.CONTENT, (edit.old,)),
            Shown("new text", Look.CONTENT, (edit.new,)),
        )
        return plan("edit_file", edit, shown, places.changing(path), places.scope(path))

    def run(call: ApprovedCall, run: Run) -> Output:
        edit = call.plan.what
        assert isinstance(edit, Edit)
        name = places.shown(edit.path)
        edited = _apply(edit, name)
        replace_file(edit.path, edited.data)
        done = count(edited.count, "replacement")
        return Output.reply(Outcome.OK, f"Edited `{name}`: {done}, at {edited.where}.")

    return Builtin(
        name="edit_file",
        description="Change a file: replace old_text by new_text.",
        parameters=PARAMETERS,
        plan=plan_edit,
        run=run,
    )


def _refuse_empty(edit: Edit) -> None:
    if not edit.old:
        raise ToolError("`old_text` is empty. Send the text to replace, or use write_file to write a whole file.")
    if edit.old == edit.new:
        raise ToolError("`old_text` and `new_text` are the same, so there is nothing to change.")


def _apply(edit: Edit, name: str) -> Edited:
    text, encoding = _text_of(edit.path, name)
    end = line_end(text)
    old, new = (piece.replace("\r\n", "\n").replace("\n", end) for piece in (edit.old, edit.new))
    if old not in text:  # the file may mix line ends
        old, new = edit.old, edit.new
    count = text.count(old)
    if count == 0:
        raise ToolError(_not_found(text, edit.old, name))
    where = _lines_of(text, old, count)
    if count > 1 and not edit.every:
        raise ToolError(
            f"`old_text` is found {count:,} times in `{name}`, at {where}. Nothing was changed. "
            "Send more of the text around the one you mean, or replace_all=true for all of them."
        )
    try:
        return Edited(encoding.encode(text.replace(old, new)), count, where)
    except UnicodeEncodeError as error:
        raise ToolError(f"`{name}` is stored as {encoding.name}, which lacks a character of `new_text`.") from error


def _text_of(path: Path, name: str) -> tuple[str, Encoding]:
    with opened_file(path) as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ToolError(f"`{name}` is larger than {_LARGEST:,} bytes, too large for edit_file.")
    if kind := binary_kind(data[:SNIFFED]):
        raise ToolError(f"`{name}` is {kind}, not text, so it cannot be edited.")
    encoding = encoding_of(data)
    try:
        return encoding.decode(data), encoding
    except UnicodeDecodeError as error:
        raise ToolError(f"`{name}` starts like {encoding.name} but does not read as that, so it was left.") from error


def _lines_of(text: str, old: str, count: int) -> str:
    """The numbers of the lines where the first ten occurrences begin, in words."""
    numbers: list[int] = []
    number, position, found = 1, 0, -len(old)
    for _ in range(min(count, 10)):
        found = text.index(old, found + len(old))
        number += text.count("\n", position, found)
        position = found
        numbers.append(number)
    more = ", …" if count > len(numbers) else ""
    return f"{'line' if count == 1 else 'lines'} {', '.join(map(str, numbers))}{more}"


def _not_found(text: str, old: str, name: str) -> str:
    lines = text.splitlines()[:_COMPARED]
    wanted = old.strip("\r\n").splitlines() or [old]
    start = _nearest(lines, wanted)
    told = f"`old_text` is not in `{name}`, so nothing was changed. "
    if start is None:
        return told + "Nothing in the file is like it. Read the file, then send the text exactly as it stands there."
    there = lines[start : start + min(len(wanted), _QUOTED)]
    if [line.split() for line in there] == [line.split() for line in wanted]:
        told += "It differs only in white space. "
    return f"{told}The nearest lines, from line {start + 1}, are:\n" + "\n".join(there) + "\nSend old_text exactly so."


def _nearest(lines: list[str], wanted: list[str]) -> int | None:
    """Where the lines most like the wanted ones start: by the first wanted line that says something."""
    number, key = max(enumerate(line.strip() for line in wanted[:_QUOTED]), key=lambda item: len(item[1]))
    stripped = [line.strip() for line in lines]
    if key in stripped:
        return max(0, stripped.index(key) - number)
    close = difflib.get_close_matches(key[:500], [line[:500] for line in set(stripped)], n=1, cutoff=0.6)
    if not close:
        return None
    return max(0, next(place for place, line in enumerate(stripped) if line[:500] == close[0]) - number)
