"""What an argv template lets a value do, or fails to do: places for `mm tools check` to warn about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from mm.config.program_findings import Words
from mm.config.schema import CommandTool, Flag, Group, Literal, Slot, Template, ToolEntry
from mm.messages import JSON

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
_CODE = {"python": "-c", "perl": "-e", "ruby": "-e", "node": "-e", "php": "-r", "lua": "-e", "deno": "eval"}
_STARTERS = frozenset({"env", "xargs", "ssh"})
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")


def _templates(tool: CommandTool) -> list[Template]:
    """Every text of `command` behind the program, groups opened, in order."""
    found: list[Template] = []
    for argument in tool.arguments:
        if isinstance(argument, Template):
            found.append(argument)
        elif isinstance(argument, Group):
            found.extend(argument.entries)
    return found


def _words_of(tool: CommandTool) -> list[str]:
    """Program and arguments as texts, placeholders as `{{x}}`."""
    return [Path(tool.program).name, *map(_text, _templates(tool))]


def _text(template: Template) -> str:
    return "".join(
        piece.text if isinstance(piece, Literal) else f"{{{{{piece.parameter}}}}}" for piece in template.pieces
    )


def look_at_code(tool: CommandTool) -> Iterator[Words]:
    """Placeholders in places where a program reads its argument as code, or as another program's argv."""
    words = _words_of(tool)
    hint = "Move the code into a script, and hand it the value as an argument of its own."
    for position, word in enumerate(words):
        name = word.rsplit("/", 1)[-1].rstrip("0123456789.") or word
        flag = r"-[a-z]*c[a-z]*" if name in _SHELLS else re.escape(_CODE[name]) if name in _CODE else ""
        if flag:
            for option, code in pairwise(words[position + 1 :]):
                if re.fullmatch(flag, option) and "{{" in code:
                    yield f"a value is put into the code of `{name} {option}`, and so can be code", hint
        elif name in _EXECUTING and words[0] == "find" and any("{{" in later for later in words[position:]):
            yield f"a value stands behind `find … {name}`, and so can be a program", hint
    if words[0] in _STARTERS and any("{{" in word for word in words[1:]):
        more = "Put literal words before the value, or use a script."
        yield f"`{words[0]}` starts what its arguments say, so a value can choose the program", more


def look_at_dashes(entry: ToolEntry) -> Iterator[Words]:
    """Entries that the option guard will refuse when a value starts with `-`."""
    assert isinstance(entry.run, CommandTool)
    previous = ""
    properties = _properties(entry)
    for template in _templates(entry.run):
        text = _text(template)
        if text == "--":
            return
        first = template.pieces[0] if template.pieces else None
        if isinstance(first, Slot) and _may_start_with_dash(properties.get(first.parameter), first, entry.run):
            if previous.startswith("--") and "{{" not in previous:
                hint = f'Write `"{previous}={{{{{first.parameter}}}}}"` if the program takes that, else '
            else:
                hint = 'Put a `"--"` before it if the program takes that (a script with a bare $1 does not), else '
            message = f"a value of `{first.parameter}` that starts with `-` is refused: it would be an option"
            yield message, hint + f"`allow_dash: true` if `{first.parameter}` may be one."
        previous = text


def _properties(entry: ToolEntry) -> Mapping[str, JSON]:
    document = entry.schema.document
    properties = document.get("properties") if isinstance(document, dict) else None
    return properties if isinstance(properties, dict) else {}


def _may_start_with_dash(schema: JSON, slot: Slot, tool: CommandTool) -> bool:
    """Only a text that may be anything: numbers, booleans and the author's own values pass the guard."""
    if slot.parameter in tool.allow_dash or not isinstance(schema, dict):
        return False
    items = schema.get("items") if schema.get("type") == "array" else schema
    if not isinstance(items, dict) or {"enum", "const"} & set(items):
        return False
    pattern = items.get("pattern")
    starts_safely = isinstance(pattern, str) and re.match(r"\^(\[A-Z|\[a-z|\[0-9|\\d|\\w|[A-Za-z0-9/])", pattern)
    return items.get("type", "string") == "string" and not starts_safely


def look_at_options(entry: ToolEntry) -> Iterator[Words]:
    """`--limit` followed by an optional `{{limit}}`: without the value, the option stays behind alone."""
    assert isinstance(entry.run, CommandTool)
    required = entry.schema.document.get("required", []) if isinstance(entry.schema.document, dict) else []
    for before, after in pairwise(entry.run.arguments):
        if not isinstance(before, Template) or not isinstance(after, Template) or before.slots:
            continue
        if len(after.pieces) != 1 or not after.slots or after.slots[0] in required:
            continue
        option, value = _text(before), after.slots[0]
        if option.startswith("-") and option not in ("-", "--"):
            hint = f'Write them as a group: ["{option}", "{{{{{value}}}}}"]'
            yield f"`{option}` stays behind alone when the optional `{value}` is left out", hint


def look_at_literals(tool: CommandTool) -> Iterator[Words]:
    """Texts that a shell would have changed, and that arrive as they stand."""
    texts = [argument.text for argument in tool.arguments if isinstance(argument, Flag)]
    texts += [piece.text for one in _templates(tool) for piece in one.pieces if isinstance(piece, Literal)]
    if any(word in _SHELLS for word in _words_of(tool)):
        return
    for text in texts:
        if re.search(r"\$\{?[A-Za-z_]", text) or text.startswith("~/"):
            yield (
                f"`{text}` arrives as it stands: nothing is expanded in `command`",
                "Write the value, or use a script.",
            )
        elif text in ("|", ">", ">>", "<", "&&", "||", ";", "2>&1"):
            yield f"`{text}` arrives as an argument: there is no shell", "Move the line into a script."
