"""What an argv template lets a value do, or fails to do: places for `mm tools check` to warn about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from mm.config.flow import quoted
from mm.config.program_findings import Words
from mm.config.schema import CommandTool, Flag, Group, Literal, Place, Slot, Template, ToolEntry
from mm.folders import with_home
from mm.messages import JSON

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish"})
_CODE = {"python": "-c", "perl": "-e", "ruby": "-e", "node": "-e", "php": "-r", "lua": "-e", "deno": "eval"}
_STARTERS = frozenset({"env", "xargs", "ssh"})
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
    words, places = _words_of(tool), (None, *(template.place for template in _templates(tool)))
    hint = "Move the code into a script, and hand it the value as an argument of its own."
    for position, word in enumerate(words):
        name = word.rsplit("/", 1)[-1].rstrip("0123456789.") or word
        flag = r"-[a-z]*c[a-z]*" if name in _SHELLS else re.escape(_CODE[name]) if name in _CODE else ""
        if flag:
            for at in range(position + 1, len(words) - 1):
                if re.fullmatch(flag, words[at]) and "{{" in words[at + 1]:
                    message = f"a value is put into the code of `{name} {words[at]}`, and so can be code"
                    yield Words(message, hint, places[at + 1])
        elif name in _EXECUTING and words[0] == "find" and any("{{" in later for later in words[position:]):
            yield Words(f"a value stands behind `find … {name}`, and so can be a program", hint, places[position])
    if words[0] in _STARTERS and any("{{" in word for word in words[1:]):
        more = "Put literal words before the value, or use a script."
        yield Words(f"`{words[0]}` starts what its arguments say, so a value can choose the program", more)


def look_at_dashes(entry: ToolEntry) -> Iterator[Words]:
    """Entries that the option guard will refuse when a value starts with `-`: all of a tool in one finding."""
    if not isinstance(entry.run, CommandTool):
        return
    previous = ""
    refused: dict[str, tuple[str, Place | None]] = {}
    properties = _properties(entry)
    for template in _templates(entry.run):
        text = _text(template)
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
        option, value = _text(before), after.slots[0]
        if option.startswith("-") and option not in ("-", "--"):
            hint = f'Write them as a group: ["{option}", "{{{{{value}}}}}"]'
            message = f"`{option}` stays behind alone when the optional `{value}` is left out"
            yield Words(message, hint, before.place)


def look_at_blanks(tool: CommandTool) -> Iterator[Words]:
    """`"--month {{month}}"`: an option and its value in one entry arrive as one argument, blank and all."""
    words = _words_of(tool)
    if any(word in _SHELLS or word in _CODE for word in words[:1]):
        return
    for template in _templates(tool):
        text = _text(template)
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
    words = _words_of(tool)
    if any(word in _SHELLS for word in words):
        return
    texts = [(piece.text, one.place) for one in _templates(tool) for piece in one.pieces if isinstance(piece, Literal)]
    texts += [(argument.text, None) for argument in tool.arguments if isinstance(argument, Flag)]
    signs = [(text, place) for text, place in texts if text in _SIGNS]
    for text, place in texts:
        variable = re.search(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))", text)
        name = next((one for one in variable.groups() if one), "") if variable else ""
        if variable or "${" in text or text.startswith("~/"):
            hint = f"Write `{with_home(text)}`, or use a script." if text.startswith("~/") else _EXPAND
            if variable and name in properties:
                hint = f"Write {quoted(text.replace(variable.group(), f'{{{{{name}}}}}'))}."
            yield Words(f"`{text}` arrives as it stands: nothing is expanded in `command`", hint, place)
    if words[0] not in _PATTERN_PROGRAMS:
        for before, template in pairwise([Template(()), *_templates(tool)]):
            text = _text(template)
            if _GLOB.fullmatch(text) and not _text(before).startswith("-"):
                message = f"`{text}` arrives as it stands: nothing is expanded in `command`"
                yield Words(message, "Write the names of the files, or use a script.", template.place)
    if signs:
        shown = ", ".join(f"`{text}`" for text, _ in signs)
        verb = "arrives as an argument" if len(signs) == 1 else "arrive as arguments"
        yield Words(f"{shown} {verb}: there is no shell", "Move the line into a script.", signs[0][1])
