"""Steps 3 to 5 of a call: argument names, conversion, check. What they cannot mend they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mm.dispatch import invalid_reply
from mm.dispatch.convert import Conversion, TooMuchError
from mm.dispatch.exact import settle
from mm.dispatch.findings import clash, find_problems, too_much
from mm.dispatch.json_text import UnreadableError, canonical, read, refuse_depth, refuse_foreign, to_json
from mm.dispatch.notes import notes_of
from mm.dispatch.readings import Reading, Source
from mm.errors import ToolError
from mm.messages import JSON
from mm.schemas.compiled import CompiledSchema, compiled
from mm.schemas.engine import BrokenSchemaError
from mm.schemas.wire_names import NameClashError
from mm.tools.spec import Tool

__all__ = ["Checked", "InvalidCall", "canonical", "check", "parse", "to_json"]


@dataclass(frozen=True, slots=True)
class Checked:
    """Arguments that the author's schema accepts, and in short lines what was repaired to get there."""

    arguments: dict[str, JSON]
    notes: tuple[str, ...] = ()


class InvalidCall(ToolError):  # noqa: N818 - it is a reply, named as such
    """The reply to a call whose arguments do not fit."""


class Parsed(dict[str, JSON]):
    """Arguments that still know the text they were read from, so that `1.10` can be given on as it was written."""

    text: str = ""


def parse(text: str) -> dict[str, JSON]:
    """The arguments of a call: one JSON object, in the time that its length needs.

    Empty, blank or `null` is an object without keys; an object that was encoded twice is unwrapped. Raises ToolError
    for anything else.
    """
    if not text.strip() or text.strip() == "null":
        return {}
    try:
        value = read(text)
        if isinstance(value, str) and value.lstrip()[:1] == "{":
            text, value = value, read(value)
    except UnreadableError as error:
        raise ToolError(_unreadable(text, error.reason)) from None
    if not isinstance(value, dict):
        raise ToolError(_unreadable(text, f"is {invalid_reply.named(value)}, not an object"))
    parsed = Parsed(value)
    parsed.text = text
    return parsed


def _unreadable(text: str, reason: str) -> str:
    return (
        f"The call was not run: its arguments must be one JSON object, but the text {reason}.\n"
        f"You sent: {invalid_reply.capped(text)}\n"
        'Send the arguments again as one JSON object with each parameter as its own field, such as {"name": "value"}. '
        "Do not send the same text again."
    )


def check(tool: Tool, given: dict[str, JSON]) -> Checked:
    """Bring arguments under the author's names, convert and check them.

    Arguments that validate as they are come back unchanged. Raises InvalidCall, whose message is the whole reply.
    """
    try:
        schema = compiled(tool.schema)
        return _check(tool, schema, given)
    except (BrokenSchemaError, UnreadableError) as error:
        raise InvalidCall(f"The call of `{tool.name}` was not run: {_told(error)}") from None


def _told(error: BrokenSchemaError | UnreadableError) -> str:
    if isinstance(error, BrokenSchemaError):
        return f"the schema of its parameters cannot be used ({error.reason}). Go on without this tool, and say so."
    return f"what was sent {error.reason}. Send plain JSON values."


def _check(tool: Tool, schema: CompiledSchema, given: dict[str, JSON]) -> Checked:
    source = Source(given.text) if isinstance(given, Parsed) else None
    if source is None:
        refuse_foreign(given)
    arguments, dropped = _without_extras(tool, dict(given))
    try:
        arguments = schema.names.restore(arguments)
    except NameClashError as error:
        raise InvalidCall(invalid_reply.compose(tool, schema, given, [clash(schema, error)])) from None
    if schema.max_depth is not None:
        refuse_depth(arguments, schema.max_depth)
    if schema.is_valid(arguments):
        return _checked(schema, source, Reading(arguments), dropped)
    conversion = Conversion(schema, source)
    try:
        result = conversion.run(arguments)
    except TooMuchError:
        raise InvalidCall(invalid_reply.compose(tool, schema, given, [too_much()])) from None
    if len(result.found) == 1:
        return _checked(schema, source, result.found[0], dropped)
    problems = find_problems(schema, conversion, arguments, result.attempt)
    raise InvalidCall(invalid_reply.compose(tool, schema, given, problems))


def _checked(schema: CompiledSchema, source: Source | None, reading: Reading, dropped: tuple[str, ...]) -> Checked:
    arguments, exact = settle(schema, source.text, reading.value) if source else (reading.value, ())
    return Checked(arguments, (*dropped, *notes_of((*reading.repairs, *exact), schema.names)))


def _without_extras(tool: Tool, given: dict[str, JSON]) -> tuple[dict[str, JSON], tuple[str, ...]]:
    """A tool that was declared without parameters takes none: what came is dropped, and that is said."""
    if not tool.drops_extras or not given:
        return given, ()
    document = tool.schema.document
    declared: Mapping[str, JSON] = document.get("properties", {}) if isinstance(document, dict) else {}
    extras = [key for key in given if key not in declared]
    if not extras:
        return given, ()
    names = ", ".join(invalid_reply.shortened(key) for key in extras[:5]) + (", ..." if len(extras) > 5 else "")
    kept = {key: value for key, value in given.items() if key in declared}
    return kept, (f"`{tool.name}` takes no parameters: dropped {names}",)
