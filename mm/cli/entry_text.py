"""A tool entry from what was typed: the program and its arguments, or a module."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from mm.config.keys import PARAMETER_TYPES
from mm.errors import UsageError
from mm.messages import JSON

_ANY = "…"
_VALUES = {"integer": "1", "number": "1", "boolean": "true", "object": "{}"}
_EXAMPLE = re.compile(r"\bsuch as (.+?)[.)]?(?:[,;] .*| (?:or|and) .*)?$")
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
    """`limit?:integer=Number of lines, such as 20` → the name and its schema; `a|b` for a type means one of these."""
    head, equals, description = text.partition("=")
    name, _, kind = (part.strip() for part in head.partition(":"))
    optional = name.endswith("?")
    name = name.removesuffix("?").strip()
    if not equals or not name:
        hint = "Such as: --param 'limit:integer=Number of lines'   or: --param 'channel?:stable|beta=Where to'"
        raise UsageError(f"`--param {text}` is no NAME[?][:TYPE]=TEXT.", hint)
    schema: dict[str, JSON] = {"type": kind or "string"}
    choices = [choice.strip() for choice in kind.split("|")]
    if len(choices) > 1 and all(choices) and not set(choices) & set(PARAMETER_TYPES):
        schema = {"type": "string", "enum": [*choices]}
    elif kind and kind not in PARAMETER_TYPES:
        hint = f"The types are: {', '.join(PARAMETER_TYPES)}. Or write the values that are allowed: stable|beta."
        raise UsageError(f"`--param {text}`: `{kind}` is no type.", hint)
    if optional:
        schema["required"] = False
    return name, {**schema, "description": description.strip()}


def typed_values(entry: dict[str, JSON]) -> str:
    """What stands behind `mm tools run NAME` to try a new entry: ` KEY=VALUE` for each parameter that is required.

    A value is the author's own example ("…, such as 1.4.2") where there is one; `…` is a text like any other.
    """
    parameters = entry.get("parameters", {})
    assert isinstance(parameters, dict)
    words = ""
    for name, schema in parameters.items():
        if isinstance(schema, dict) and schema.get("required") is not False:
            value = _typed(schema)
            words += f" {name}={value if value == _ANY else shlex.quote(value)}"
    return words


def _typed(schema: dict[str, JSON]) -> str:
    kind, choices = str(schema["type"]), schema.get("enum")
    if isinstance(choices, list):
        return str(choices[0])
    example = _EXAMPLE.search(str(schema.get("description", "")))
    if example and (kind == "string" or (kind in ("integer", "number") and example[1].isdecimal())):
        return example[1]
    return _VALUES.get(kind, _ANY)


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
