"""Turns the argv template of a command tool and checked arguments into argv entries, in one pass."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from mm.config.schema import CommandTool, Flag, Group, Literal, Slot, Template
from mm.errors import ToolError
from mm.messages import JSON
from mm.schemas.schema import Schema
from mm.tools.process import check_entry
from mm.tools.spec import Arguments

_WHOLE_NUMBER_LIMIT = 10**21  # above, an integral float is shorter with an exponent (as in ECMAScript)
_SUBSCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems", "items", "then", "else")


def render_argv(tool: CommandTool, schema: Schema, arguments: Arguments) -> tuple[str, ...]:
    """The argv of one call. Raises ToolError, for the model, where a value cannot be what the template needs."""
    entries = [tool.program]
    guard = _OptionGuard(tool, schema)
    for part in tool.arguments:
        if isinstance(part, Flag):
            entries += [guard.note_literal(part.text)] if arguments.get(part.when) is True else []
        else:
            group = part.entries if isinstance(part, Group) else (part,)
            entries += _render_group(group, arguments, guard)
    return tuple(entries)


def render_stdin(tool: CommandTool, arguments: Arguments) -> bytes | None:
    """The bytes for standard input, None if the tool declares none. A slot without a value is empty."""
    if tool.stdin is None and not tool.stdin_json:
        return None
    text = to_json(dict(arguments)) if tool.stdin is None else _fill(tool.stdin, arguments)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError("A value contains half of a surrogate pair. Send valid Unicode text.") from None


def _fill(template: Template, arguments: Arguments) -> str:
    given = {name: _to_text(value) for name, value in arguments.items() if value is not None}
    pieces = template.pieces
    return "".join(piece.text if isinstance(piece, Literal) else given.get(piece.parameter, "") for piece in pieces)


def _render_group(group: Sequence[Template], arguments: Arguments, guard: _OptionGuard) -> Iterator[str]:
    """The entries of one group: none if a value is missing, once per item if it has a list."""
    slots = dict.fromkeys(slot for entry in group for slot in entry.slots)
    if any(arguments.get(slot) is None for slot in slots):
        return
    lists = [slot for slot in slots if isinstance(arguments[slot], list | tuple)]
    if len(lists) > 1:
        raise ToolError(
            f"This tool is declared in a way that cannot take lists for {' and '.join(f'`{one}`' for one in lists)} "
            "in one call. Send a list for one of them only, and tell the user."
        )
    items = arguments[lists[0]] if lists else [None]
    for item in items:
        values = {**arguments, lists[0]: item} if lists else arguments
        for entry in group:
            yield _render_entry(entry, values, guard)


def _render_entry(entry: Template, values: Arguments, guard: _OptionGuard) -> str:
    texts = [piece.text if isinstance(piece, Literal) else _to_text(values[piece.parameter]) for piece in entry.pieces]
    text = "".join(texts)
    longest = max(entry.slots, key=lambda slot: len(_to_text(values[slot])), default=None)
    if longest is not None:
        check_entry(text, f"The value of `{longest}`")
        guard.check(entry, texts, values)
    else:
        guard.note_literal(text)
    return text


class _OptionGuard:
    """Refuses values that would be read as options (CWE-88).

    Only an entry whose first character comes from a value is looked at; a literal `--` before it makes it safe.
    """

    def __init__(self, tool: CommandTool, schema: Schema) -> None:
        self._allow_dash = tool.allow_dash
        self._document = schema.document
        self._options_ended = False

    def note_literal(self, text: str) -> str:
        self._options_ended = self._options_ended or text == "--"
        return text

    def check(self, entry: Template, texts: Sequence[str], values: Arguments) -> None:
        """`texts` are the rendered pieces. Raises ToolError naming a parameter whose value nobody vouched for."""
        if self._options_ended or not "".join(texts).startswith("-") or isinstance(entry.pieces[0], Literal):
            return
        name = self._chosen_freely(entry, texts, values)
        if not name:
            return
        shown = "".join(texts)[:60]
        raise ToolError(
            f"The value of `{name}` makes an argument that begins with `-` ({json.dumps(shown, ensure_ascii=False)}), "
            "which the program could take for an option. Nothing was run. Send a value that does not begin with `-` "
            "(for a file, `./-name` works). If it must begin so, tell the user: the tool's author can allow it with "
            "`allow_dash: true`."
        )

    def _chosen_freely(self, entry: Template, texts: Sequence[str], values: Arguments) -> str:
        """The parameter that may choose which option this is; "" if none may.

        Every piece says which option it is, up to the first `=` that the author wrote or listed.
        """
        free = []
        for piece, text in zip(entry.pieces, texts, strict=True):
            if isinstance(piece, Slot) and not self._is_trusted(piece.parameter, values[piece.parameter]):
                free.append((piece.parameter, text))
            elif "=" in text:
                break
        names = [name for name, text in free if text] or [name for name, _ in free]
        return names[0] if names else ""

    def _is_trusted(self, name: str, value: JSON) -> bool:
        """Numbers, values that the author listed, and parameters that the author opened."""
        return _is_number(value) or name in self._allow_dash or value in _listed_values(self._document, name)


def _listed_values(document: JSON, name: str) -> list[str]:
    """The texts that the author's own `enum` and `const` list for a parameter or the items of it."""
    properties = document.get("properties") if isinstance(document, dict) else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return [value for value in _walk_listed(document, schema, set()) if isinstance(value, str)]


def _walk_listed(document: JSON, schema: JSON, seen: set[int]) -> Iterator[JSON]:
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield from schema.get("enum", ())
    if "const" in schema:
        yield schema["const"]
    for key in _SUBSCHEMAS:
        below = schema.get(key)
        for one in below if isinstance(below, list) else [below]:
            yield from _walk_listed(document, one, seen)
    yield from _walk_listed(document, _referenced(document, schema.get("$ref")), seen)


def _referenced(document: JSON, reference: JSON) -> JSON:
    """Where a reference inside the document leads, None if nowhere: then nothing is trusted on its account."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    place = document
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        place = place.get(step) if isinstance(place, dict) else None
    return place


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _to_text(value: JSON) -> str:
    """A value as argv has it: text verbatim, else JSON, a number in its shortest form."""
    if isinstance(value, str):
        return value
    if isinstance(value, float | Decimal):
        return _shortest_number(value)
    return to_json(value)


def _shortest_number(value: float | Decimal) -> str:
    """`3` for 3.0, `10000000000000000` for 1e16, `1e300` for 1e+300."""
    if _is_whole(value):
        return str(int(value))
    if isinstance(value, Decimal):
        return str(value).replace("E+", "e").replace("E", "e")
    mantissa, _, exponent = float.__repr__(value).partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _is_whole(value: float | Decimal) -> bool:
    return -_WHOLE_NUMBER_LIMIT < value < _WHOLE_NUMBER_LIMIT and value == int(value)


def to_json(value: JSON) -> str:
    """Compact JSON with numbers in their shortest form (`3` for 3.0): what command and wasm tools get on stdin."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain(value: JSON) -> JSON:
    """Mappings and tuples as JSON's own containers; floats that are whole as integers."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float | Decimal) and _is_whole(value):
        return int(value)
    return float(value) if isinstance(value, Decimal) else value


def describe_templates(parts: Iterable[Template | Group | Flag]) -> list[JSON]:
    """The template in JSON, for a digest: the same for the same meaning."""
    return [_describe(part) for part in parts]


def _describe(part: Template | Group | Flag) -> JSON:
    if isinstance(part, Flag):
        return {"flag": part.text, "when": part.when}
    if isinstance(part, Group):
        return {"group": [_describe(entry) for entry in part.entries]}
    return [{"slot": piece.parameter} if isinstance(piece, Slot) else piece.text for piece in part.pieces]
