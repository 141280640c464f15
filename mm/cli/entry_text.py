"""A tool entry from what was typed: the program and its arguments, or a module."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from mm.config.keys import PARAMETER_TYPES
from mm.errors import UsageError
from mm.messages import JSON

_SLOT = re.compile(r"(?<!\{)\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}")


def command_entry(
    name: str, argv: Sequence[str], description: str, described: Sequence[str], folder: Path
) -> dict[str, JSON]:
    """An entry with `command`; each placeholder is a parameter. Raises UsageError for a line that cannot be meant."""
    if not argv or not argv[0]:
        raise UsageError("`--command` names no program.", 'Such as: --command ./release.sh "{{version}}"')
    _refuse_one_text(argv)
    slots = dict.fromkeys(slot for text in argv for slot in _SLOT.findall(text))
    parameters: dict[str, JSON] = {slot: {"type": "string"} for slot in slots}
    for text in described:
        parameter, schema = _described(text)
        if parameter not in parameters:
            listed = ", ".join(f"`{slot}`" for slot in slots) or "none"
            hint = f"The placeholders are: {listed}. They are written as {{{{x}}}}, in quotes."
            raise UsageError(f"`--param {text}`: the command has no placeholder `{{{{{parameter}}}}}`.", hint)
        parameters[parameter] = schema
    entry: dict[str, JSON] = {"name": name, "description": description}
    entry["command"] = [_anchored(argv[0], folder), *argv[1:]]
    return {**entry, "parameters": parameters} if parameters else entry


def wasm_entry(name: str, description: str) -> dict[str, JSON]:
    """The entry that fits the scaffolds: one text, whose words are counted."""
    text = {"type": "string", "description": "The text whose words are counted"}
    return {
        "name": name,
        "description": description or "Count the words of a text. Use it when the user asks how many words there are.",
        "wasm": f"{name}/{name}.wasm",
        "parameters": {"text": text},
    }


def _described(text: str) -> tuple[str, dict[str, JSON]]:
    """`limit:integer=Number of lines, such as 20` → the name and its schema."""
    head, equals, description = text.partition("=")
    name, _, kind = head.partition(":")
    kind = kind.strip() or "string"
    if not equals or not name.strip():
        raise UsageError(
            f"`--param {text}` is no NAME[:TYPE]=TEXT.", "Such as: --param 'limit:integer=Number of lines'"
        )
    if kind not in PARAMETER_TYPES:
        types = ", ".join(PARAMETER_TYPES)
        raise UsageError(f"`--param {text}`: `{kind}` is no type.", f"The types are: {types}.")
    return name.strip(), {"type": kind, "description": description.strip()}


def _refuse_one_text(argv: Sequence[str]) -> None:
    """`--command "git log"`: one text that was meant as a line for a shell."""
    program = argv[0]
    if " " in program.strip() and not Path(program).exists() and shutil.which(program) is None:
        hint = "Leave out the quotes around the whole; each argument is a word of its own: --command "
        raise UsageError(f"`{program}` is not the name of a program.", hint + program)


def _anchored(program: str, folder: Path) -> str:
    """The program as the agent file has to name it: a path starts at the folder of that file."""
    here = Path(program).absolute()
    is_path = "/" in program and not program.startswith(("/", "~", "$"))
    is_script_here = "/" not in program and shutil.which(program) is None and here.is_file()
    if not (is_path or is_script_here) or (is_path and (folder / program).exists()):
        return program
    if not here.exists():
        return program
    relative = os.path.relpath(os.path.realpath(here.parent), folder)
    inside = os.path.normpath(f"{relative}/{here.name}")
    return inside if inside.startswith("..") else f"./{inside}"
