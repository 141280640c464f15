"""list_files: what is in a folder, with sizes, to a bounded depth and number."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.globs import Glob
from mm.tools.builtins.plans import plan
from mm.tools.builtins.walk import Entry, Passed, walk
from mm.tools.open_files import open_listing
from mm.tools.places import Places
from mm.tools.spec import ApprovedCall, Arguments, Look, Output, Plan, Run, Shown
from mm.visible import make_visible_line

DEEPEST = 20
MOST_ENTRIES = 500
_SECONDS = 20.0

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "default": ".", "description": "Folder"},
        "pattern": {"type": "string", "description": "Only names that match, in all subfolders, such as *.py"},
        "depth": {"type": "integer", "minimum": 1, "description": "Levels of subfolders to show (default 1)"},
        "hidden": {"type": "boolean", "default": False, "description": "Show hidden files too"},
    },
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Listing:
    path: Path
    pattern: str
    depth: int
    hidden: bool


def list_files_tool(places: Places) -> Builtin:
    def plan_listing(arguments: Arguments) -> Plan:
        path = places.folder(arguments.get("path", "."))
        pattern = str(arguments.get("pattern", ""))
        if len(pattern) > 500:
            raise ToolError("`pattern` is longer than 500 characters. Send a short one, such as *.py.")
        depth = min(int(arguments.get("depth", DEEPEST if pattern else 1)), DEEPEST)
        listing = Listing(path, pattern, depth, bool(arguments.get("hidden", False)))
        shown = (Shown("folder", Look.PATH, (str(path),)),)
        return plan("list_files", listing, shown, places.reading(path), places.scope(path))

    def run(call: ApprovedCall, run: Run) -> Output:
        listing = call.plan.what
        assert isinstance(listing, Listing)
        return _list(listing, places.shown(listing.path), run)

    return Builtin(
        name="list_files",
        description="List the files in a folder.",
        parameters=PARAMETERS,
        plan=plan_listing,
        run=run,
        readonly=True,
    )


def _list(listing: Listing, name: str, run: Run) -> Output:
    glob = Glob(listing.pattern or "*")
    passed = Passed()
    lines: list[str] = []
    until = time.monotonic() + _SECONDS
    stopped = ""
    root = open_listing(listing.path)
    try:
        for entry in walk(root, listing.depth, passed, hidden=listing.hidden):
            if run.stop.is_set():
                raise Interrupted
            matches = glob.matches(entry.path)
            if time.monotonic() > until or (matches and len(lines) == MOST_ENTRIES):
                stopped = f"Stopped after {len(lines)} entries; there may be more. Name a subfolder or a pattern."
                break
            if matches:
                lines.append(_line(entry))
    finally:
        os.close(root)
    text = "\n".join(lines) or _nothing(listing, name)
    return replace(Output.text(Outcome.OK, text), note=" ".join(filter(None, (stopped, passed.told()))))


def _line(entry: Entry) -> str:
    name = make_visible_line(entry.path)
    if entry.is_folder:
        return f"{name}/"
    if entry.is_link:
        return f"{name} -> {make_visible_line(entry.target())}"
    return f"{name} ({_size(entry.status.st_size)})" if entry.is_file else f"{name} (not a regular file)"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{count} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _nothing(listing: Listing, name: str) -> str:
    return f"Nothing in `{name}` matches `{listing.pattern}`." if listing.pattern else f"`{name}` is empty."
