"""The reply to an invalid call: what is wrong, what was sent, what is allowed, and one call that is right.

It quotes the call because a model that is only told that a parameter is missing tends to send the same call again.
"""

from __future__ import annotations

from collections.abc import Sequence

from mm.dispatch.findings import Finding
from mm.dispatch.json_text import to_json
from mm.dispatch.notes import MAX_NAME
from mm.messages import JSON
from mm.schemas.compiled import ROOT, CompiledSchema, Position, Way
from mm.schemas.sample import example
from mm.schemas.words import description, facts, kind_words
from mm.tools.spec import Tool

MAX_QUOTE = 1_000
MAX_PARAMETERS = 40
MAX_LISTED = 2_500
"""Characters of all findings, and of all parameters: the whole reply stays below 8 KB, whatever was sent."""
MAX_LINE = 600
MAX_EXAMPLE = 1_200
MAX_DESCRIPTION = 200


def compose(tool: Tool, schema: CompiledSchema, given: dict[str, JSON], findings: Sequence[Finding]) -> str:
    """The whole reply, in the names that the model knows."""
    text = getattr(given, "text", "") or to_json(given)
    parameters = _within(_parameters(schema), MAX_LISTED)
    lines = [f"The call of `{tool.name}` was not run: its arguments do not fit.", "What is wrong:"]
    found = [f"- {finding.line}" for finding in findings] or ["- The arguments do not fit the parameters."]
    lines += _within(found, MAX_LISTED)
    lines.append(f"You sent: {capped(text)}")
    if parameters:
        lines += [f"Parameters of `{tool.name}`:", *parameters]
    else:
        lines.append(f"`{tool.name}` takes no parameters.")
    shown = example(schema, schema.names.restore_quietly(given))
    correct = "" if shown is None else to_json(schema.names.spell(shown))
    if correct and len(correct) <= MAX_EXAMPLE:
        lines.append(f"A correct call of `{tool.name}` has these arguments: {correct}")
    lines.append(
        "Send the call again with each parameter as its own field, corrected. Do not send the same arguments again."
    )
    return "\n".join(lines)


def _parameters(schema: CompiledSchema) -> list[str]:
    """One line a parameter: name, type, whether required, what is allowed, description."""
    positions: dict[str, list[Position]] = {}
    required: list[set[str]] = []
    ways = schema.ways(ROOT)
    for way in ways:
        required.append({name for names in schema.gather(way, "required") for name in names})
        for name in _names(schema, way):
            positions.setdefault(name, []).append(schema.property_position(way, name))
    always = set[str]().intersection(*required) if not required else set.intersection(*required)
    shown = list(positions.items())[:MAX_PARAMETERS]
    lines = [_parameter(schema, name, places[0], required=name in always) for name, places in shown]
    return lines + ["- ..."] * (len(positions) - len(shown))


def _within(lines: Sequence[str], limit: int) -> list[str]:
    """As many lines as there is room for, each of them cut if it is long, and how many more there are."""
    kept: list[str] = []
    for line in lines[:MAX_PARAMETERS]:
        kept.append(line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "...")
        limit -= len(kept[-1]) + 1
        if limit < 0 and len(kept) > 1:
            kept.pop()
            break
    return kept if len(kept) == len(lines) else [*kept, f"- and {len(lines) - len(kept)} more"]


def _names(schema: CompiledSchema, way: Way) -> list[str]:
    declared = [name for properties in schema.gather(way, "properties") for name in properties]
    return [*declared, *(name for names in schema.gather(way, "required") for name in names)]


def _parameter(schema: CompiledSchema, name: str, position: Position, *, required: bool) -> str:
    told = [kind_words(schema, position), "required" if required else "optional", *facts(schema, position)]
    said = description(schema, position)
    if len(said) > MAX_DESCRIPTION:
        said = said[:MAX_DESCRIPTION] + "..."
    wire = str(schema.names.path((name,))[0])
    return f"- {shortened(wire)} ({', '.join(told)})" + (f": {said}" if said else "")


def capped(text: str, limit: int = MAX_QUOTE) -> str:
    """A text as it was sent, its middle left out if it is long."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 3 // 4], text[-limit // 4 :]
    return f"{head} [... {len(text) - len(head) - len(tail):,} characters left out ...] {tail}"


def shortened(name: str) -> str:
    return f"`{name}`" if len(name) <= MAX_NAME else f"`{name[:MAX_NAME]}...`"


def named(value: JSON) -> str:
    """The kind of a JSON value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"
