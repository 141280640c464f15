"""What an argv template lets a value do, or fails to do: places for `mm tools check` to warn about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from mm.config.argv_words import templates_of, text_of, words_of
from mm.config.code_findings import EXECUTING, INTERPRETERS, SHELLS
from mm.config.flow import quoted
from mm.config.program_findings import Words
from mm.config.schema import CommandTool, Flag, Group, Literal, Place, Slot, Template, ToolEntry
from mm.folders import with_home
from mm.messages import JSON

_EXPAND = "Write the value, or use a script."
_SIGNS = ("|", ">", ">>", "<", "&&", "||", ";", "&", "2>&1")
_GLOB = re.compile(r"[\w./~-]*(?:\*|\[[^\]]+\])[\w./*-]*")
_PATTERN_PROGRAMS = frozenset(
    {
        "find",
        "fd",
        "rg",
        "grep",
        "egrep",
        "git",
        "sed",
        "awk",
        "jq",
        "yq",
        "expr",
        "locate",
        "rsync",
        "tar",
        "zip",
        "unzip",
    }
)


def look_at_dashes(entry: ToolEntry) -> Iterator[Words]:
    """Entries that the option guard will refuse when a value starts with `-`: all of a tool in one finding."""
    if not isinstance(entry.run, CommandTool):
        return
    previous = ""
    refused: dict[str, tuple[str, Place | None]] = {}
    properties = _properties(entry)
    for template in templates_of(entry.run):
        text = text_of(template)
        if text == "--":
            break
        first = template.pieces[0] if template.pieces else None
        if isinstance(first, Slot) and _may_start_with_dash(properties.get(first.parameter), first, entry.run):
            refused.setdefault(first.parameter, (previous, template.place))
        previous = text
    if not refused:
        return
    name, (option, place) = next(iter(refused.items()))
    if option.startswith("--") and "{{" not in option:
        hint = f'Write `"{option}={{{{{name}}}}}"` if the program takes that, else '
    else:
        hint = 'Put a `"--"` before it if the program takes that (a script with a bare $1 does not), else '
    names = " or ".join(f"`{one}`" for one in refused)
    message = f"a value of {names} that starts with `-` is refused: it would be an option"
    yield Words(message, hint + f"`allow_dash: true` if {names} may be one.", place)


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
        option, value = text_of(before), after.slots[0]
        if option.startswith("-") and option not in ("-", "--"):
            hint = f'Write them as a group: ["{option}", "{{{{{value}}}}}"]'
            message = f"`{option}` stays behind alone when the optional `{value}` is left out"
            yield Words(message, hint, before.place)


def look_at_order(entry: ToolEntry) -> Iterator[Words]:
    """`"{{a}}", "{{b}}"` with an optional `a`: without it, the program takes the value of `b` for that of `a`."""
    assert isinstance(entry.run, CommandTool)
    required = entry.schema.document.get("required", []) if isinstance(entry.schema.document, dict) else []
    lists = [name for name, schema in _properties(entry).items() if isinstance(schema, dict) and _is_list(schema)]
    positional = list(_positional(entry.run.arguments))
    for one, after in pairwise(positional):
        name = one.slots[0]
        if len(one.pieces) == 1 and name not in required and name not in lists:
            message = f"without the optional `{name}`, `{text_of(after)}` moves up into its place"
            value = f'"{{{{{name}}}}}"'
            hint = f'Put {value} behind the others, or hand it over with an option: ["--{name}", {value}]'
            yield Words(message, hint, one.place)


def _is_list(schema: Mapping[str, JSON]) -> bool:
    """A list takes any number of places, so that its program cannot count from the left."""
    return schema.get("type") == "array"


def _positional(arguments: Sequence[Template | Group | Flag]) -> Iterator[Template]:
    """The entries with a value that the program knows by their place alone."""
    for before, one in pairwise((Template(()), *arguments)):
        option = text_of(before) if isinstance(before, Template) and not before.slots else ""
        is_value = option.startswith("-") and option not in ("-", "--")
        if isinstance(one, Template) and one.slots and not is_value and not text_of(one).startswith("-"):
            yield one


def look_at_blanks(tool: CommandTool) -> Iterator[Words]:
    """`"--month {{month}}"`: an option and its value in one entry arrive as one argument, blank and all."""
    words = words_of(tool)
    if words[0] in INTERPRETERS:
        return
    for template in templates_of(tool):
        text = text_of(template)
        found = re.fullmatch(r"(--?[A-Za-z][\w-]*)\s+(\S.*)", text) or re.fullmatch(
            r"([a-z][\w-]*)\s+(--?[a-z][\w=-]*)", text
        )
        if found:
            option, value = (quoted(one) for one in found.groups())
            one_piece = f'or `"{found.group(1)}={found.group(2)}"`' if found.group(1).startswith("--") else ""
            group = (
                f"Write it as a group: [{option}, {value}]"
                if template.slots
                else f"Write two entries: {option}, {value}"
            )
            hint = f"{group}{', ' + one_piece if one_piece else ''}."
            yield Words(f"`{text}` arrives as one argument, with the blank in it", hint, template.place)


def look_at_literals(entry: ToolEntry) -> Iterator[Words]:
    """Texts that a shell would have changed, and that arrive as they stand."""
    assert isinstance(entry.run, CommandTool)
    tool, properties = entry.run, _properties(entry)
    words = words_of(tool)
    if any(word in SHELLS for word in words):
        return
    texts = [
        (piece.text, one.place) for one in templates_of(tool) for piece in one.pieces if isinstance(piece, Literal)
    ]
    texts += [(argument.text, None) for argument in tool.arguments if isinstance(argument, Flag)]
    ends = any(word in EXECUTING for word in words)  # `find … -exec … ;`
    signs = [(text, place) for text, place in texts if text in _SIGNS and not (ends and text == ";")]
    for text, place in texts:
        variable = re.search(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))", text)
        name = next((one for one in variable.groups() if one), "") if variable else ""
        if variable or "${" in text or text.startswith("~/"):
            hint = f"Write `{with_home(text)}`, or use a script." if text.startswith("~/") else _EXPAND
            if variable and name in properties:
                hint = f"Write {quoted(text.replace(variable.group(), f'{{{{{name}}}}}'))}."
            yield Words(f"`{text}` arrives as it stands: nothing is expanded in `command`", hint, place)
    if words[0] not in _PATTERN_PROGRAMS:
        for before, template in pairwise([Template(()), *templates_of(tool)]):
            text = text_of(template)
            if _GLOB.fullmatch(text) and not text_of(before).startswith("-"):
                message = f"`{text}` arrives as it stands: nothing is expanded in `command`"
                yield Words(message, "Write the names of the files, or use a script.", template.place)
    if signs:
        shown = ", ".join(f"`{text}`" for text, _ in signs)
        verb = "arrives as an argument" if len(signs) == 1 else "arrive as arguments"
        yield Words(f"{shown} {verb}: there is no shell", "Move the line into a script.", signs[0][1])
