"""write_file: a whole file, new or replaced in one step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mm.counts import count
from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import plan
from mm.tools.open_files import replace_file
from mm.tools.places import Places
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "File to write; missing folders are made"},
        "content": {"type": "string", "description": "The whole text of the file"},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Writing:
    path: Path
    data: bytes


def write_file_tool(places: Places) -> Builtin:
    def plan_writing(arguments: Arguments) -> Plan:
        path = places.target(arguments["path"])
        content = arguments["content"]
        try:
            writing = Writing(path, content.encode())
        except UnicodeEncodeError as error:
            raise ToolError("`content` contains half a character (a lone surrogate). Send it as plain text.") from error
        shown = (
            Shown("replaces" if places.is_there(path) else "new file", Look.PATH, (str(path),)),
            Shown("content", Look.CONTENT, (content,)),
        )
        return plan("write_file", writing, shown, places.changing(path), places.scope(path))

    def run(call: ApprovedCall, run: Run) -> Output:
        writing = call.plan.what
        assert isinstance(writing, Writing)
        there = places.is_there(writing.path)
        replace_file(writing.path, writing.data, create_folders=True)
        lines = len(writing.data.splitlines())
        verb = "Replaced" if there else "Wrote new file"
        size = f"{count(lines, 'line')}, {count(len(writing.data), 'byte')}"
        return Output.reply(Outcome.OK, f"{verb} `{places.shown(writing.path)}` ({size}).")

    return Builtin(
        name="write_file",
        description="Write a text file: makes it, or replaces all of it.",
        parameters=PARAMETERS,
        plan=plan_writing,
        run=run,
    )
