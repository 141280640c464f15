"""Reads `parameters`: the short form, or a whole JSON Schema."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mm.config import meant
from mm.config.flow import flow, flow_of
from mm.config.keys import PARAMETER
from mm.config.near import nearest
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode, kind_of, node_of, place_of, to_json
from mm.config.reader import Reader
from mm.config.schema import Place
from mm.config.short_form import ShortForm
from mm.config.strays import with_strays
from mm.config.type_words import meant_type
from mm.messages import JSON

_SCHEMA_WORDS = frozenset(
    {"properties", "required", "additionalProperties", "$defs", "$ref", "anyOf", "oneOf", "allOf", "description"}
)
_MOST_STEPS = 200  # of looking for the top-level properties of a whole schema


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tool's parameters: the JSON Schema, and what a template needs to know of each.

    `unreadable` says that their names are not known, since something is wrong with all of them.
    """

    document: JSON
    types: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    allow_dash: frozenset[str] = frozenset()
    absent: bool = False
    unreadable: bool = False

    @property
    def dotted_places(self) -> dict[str, Place]:
        """Where each parameter stands, by `parameters.NAME`."""
        return {f"parameters.{name}": place for name, place in self.places.items()}


def read_parameters(reader: Reader, node: Node | None) -> Parameters:
    """Both forms; none at all means a tool without parameters."""
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return Parameters(_closed({}, []), absent=True)
    if not isinstance(node, MappingNode):
        return _not_a_mapping(reader, node)
    if not node.entries:
        return Parameters(_closed({}, []), absent=True)
    return _whole(reader, node) if _is_whole(node) or _is_nearly_whole(reader, node) else _short(reader, node)


def _not_a_mapping(reader: Reader, node: Node) -> Parameters:
    """A list of parameters, or their names alone. The names of a list are read as declared."""
    found = meant.named(node if isinstance(node, SequenceNode) else SequenceNode(node.place, meant.items(node)), "name")
    message = f"`parameters` must be a mapping, and this is {kind_of(node)}"
    if found is None:
        reader.problem(node, message, "Remove it, or write `parameters: {NAME: {type: string, description: …}}`.")
        return Parameters(_closed({}, []), absent=True, unreadable=True)
    shown = ", ".join(f"{flow(entry.key.text)}: {_shown_parameter(entry.value)}" for entry in found.entries)
    reader.problem(node, message, f"Write `parameters: {{{shown}}}`.")
    if isinstance(node, SequenceNode):
        return _short(reader, found)
    return Parameters(_closed({}, []), absent=True, unreadable=True)


def _shown_parameter(node: Node) -> str:
    empty = isinstance(node, MappingNode) and not node.entries
    return "{type: string, description: …}" if empty else flow_of(node)


def _is_whole(node: MappingNode) -> bool:
    """`type: object` as text makes it a whole schema; a parameter called `type` is a mapping."""
    kind = node.find("type")
    return isinstance(kind, Scalar) and kind.text == "object"


def _is_nearly_whole(reader: Reader, node: MappingNode) -> bool:
    """A whole schema without `type: object`, or with that in other words. Reports it."""
    kind, properties = node.find("type"), node.find("properties")
    if isinstance(kind, Scalar) and meant_type(kind.text) == {"type": "object"}:
        reader.problem(kind, f"`type: {kind.text}` is no type of JSON Schema", "Write `type: object`.")
        return True
    if kind is not None or not isinstance(properties, MappingNode) or not properties.entries:
        return False
    inner = properties.entries
    if any(PARAMETER.find(one.key.text) for one in inner) and not isinstance(node.find("required"), SequenceNode):
        return False
    if not all(isinstance(one.value, MappingNode) for one in inner):
        return False
    hint = "Write `type: object` beside it: then all of `parameters` is one."
    reader.problem(node.entries[0].key, "`properties` belongs to a whole JSON Schema", hint)
    return True


def _short(reader: Reader, node: MappingNode) -> Parameters:
    properties: dict[str, JSON] = {}
    required: list[str] = []
    types: dict[str, str] = {}
    dashes: set[str] = set()
    node = with_strays(reader, node)
    for entry in node.entries:
        name = entry.key.text
        if not _may_be_parameter(reader, entry, node):
            kind = _in_words(entry.value).get("type", "string")
            types.update({} if name in _SCHEMA_WORDS else {name: str(kind)})
            continue
        parameter = ShortForm(reader).read(entry.value, name, at_top=True)
        properties[name], types[name] = parameter.document, parameter.kind
        if parameter.required:
            required.append(name)
        if parameter.allow_dash:
            dashes.add(name)
    places = {entry.key.text: entry.key.place for entry in node.entries}
    return Parameters(_closed(properties, required), types, places, frozenset(dashes))


def _may_be_parameter(reader: Reader, entry: Entry, node: MappingNode) -> bool:
    name, value = entry.key.text, entry.value
    if isinstance(value, MappingNode):
        if not name.strip() or any(not one.isprintable() for one in name):
            reader.problem(entry.key, f"{name!r} cannot be the name of a parameter", "Use letters, digits and `_`.")
        return True
    others = [one.key.text for one in node.entries if isinstance(one.value, MappingNode)]
    if name == "required" and isinstance(value, SequenceNode) and others:
        listed = {item.text for item in value.items if isinstance(item, Scalar)}
        optional = [f"`{one}`" for one in others if one not in listed]
        more = f", and write `required: false` in {' and '.join(optional)}" if optional else ""
        hint = f"Remove it{more}: the others are required anyway. Only a whole JSON Schema (`type: object`) has it."
        reader.problem(entry.key, "`required` is no parameter", hint)
    elif name in _SCHEMA_WORDS or name == "type":
        hint = "For a whole JSON Schema, write `type: object` at the top of `parameters`."
        reader.problem(entry.key, f"`{name}` looks like a part of a JSON Schema, not like a parameter", hint)
    else:
        written = {"type": "string", **_in_words(value)}
        more = "" if "description" in written else ", description: …"
        hint = f"Write `{flow(name)}: {flow(written)[:-1]}{more}}}`."
        reader.problem(value, f"the parameter `{name}` must be a mapping, and this is {kind_of(value)}", hint)
    return False


def _in_words(value: Node) -> dict[str, JSON]:
    """What is meant by `month: integer`, `month: Month, such as 3`, `kind: [sum, list]`, `dry: false`."""
    if isinstance(value, SequenceNode):
        return {"enum": [item.text for item in value.items if isinstance(item, Scalar)]}
    if not isinstance(value, Scalar) or not value.text or value.is_null:
        return {}
    if not isinstance(value.value, str):
        kind = "boolean" if isinstance(value.value, bool) else "integer" if isinstance(value.value, int) else "number"
        return {"type": kind, "default": value.value}
    return meant_type(value.text) or {"description": value.text}


def _closed(properties: Mapping[str, JSON], required: Iterable[str]) -> JSON:
    document: dict[str, JSON] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    names = list(required)
    return {**document, "required": names} if names else document


def _whole(reader: Reader, node: MappingNode) -> Parameters:
    document = {**to_json(node), "type": "object"}
    dashes = _take_dashes(reader, node, document)
    problems = importlib.import_module("mm.schemas.problems").problems
    for problem in problems(document):
        hint = problem.hint
        if problem.pointer and problem.pointer[-1] == "required":
            written = node_of(node, problem.pointer)
            if isinstance(written, (Scalar, MappingNode)):
                hint = f"Write `required: [{', '.join(map(flow_of, meant.items(written)))}]`."
        reader.problem(place_of(node, problem.pointer), f"`parameters`: {problem.message}", hint)
    _check_required(reader, node, document)
    types = {name: _kind(document, schema) for name, schema in _properties(document).items()}
    places = {name: _place(node, name) for name in types}
    return Parameters(document, types, places, dashes)


def _check_required(reader: Reader, node: MappingNode, document: JSON) -> None:
    """A name in `required` that is no property: no call could ever be right."""
    names, required = _properties(document), node.find("required")
    values = document.get("additionalProperties")
    if not isinstance(required, SequenceNode) or "patternProperties" in document or values or isinstance(values, dict):
        return
    for item in required.items:
        if isinstance(item, Scalar) and item.text not in names:
            near = nearest(item.text, names)
            add = f"Remove it, or add `{flow(item.text)}: {{type: string, description: …}}` to `properties`."
            hint = f"Write `{near}`." if near else add
            reader.problem(item, f"`required` names `{item.text}`, which is no property", hint)


def _take_dashes(reader: Reader, node: MappingNode, document: JSON) -> frozenset[str]:
    """`allow_dash` is mm's own word: it is taken out of the schema."""
    properties = node.find("properties")
    found = set()
    for entry in properties.entries if isinstance(properties, MappingNode) else ():
        flag = entry.value.find("allow_dash") if isinstance(entry.value, MappingNode) else None
        if flag is not None:
            del document["properties"][entry.key.text]["allow_dash"]
            if reader.boolean(flag, "allow_dash"):
                found.add(entry.key.text)
    return frozenset(found)


def _properties(document: JSON) -> dict[str, JSON]:
    """The top-level properties of a whole schema, those behind `$ref` and in its unions included."""
    found: dict[str, JSON] = {}
    waiting = [document]
    for _ in range(_MOST_STEPS):
        if not waiting:
            break
        schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        if isinstance(schema.get("properties"), dict):
            found = {**schema["properties"], **found}
        waiting.append(_follow(document, schema.get("$ref")))
        for word in ("allOf", "anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                waiting.extend(schema[word])
        waiting.extend(schema.get(word) for word in ("then", "else"))
    return found


def _kind(document: JSON, schema: JSON) -> str:
    """The one type of a property, or ""."""
    for _ in range(10):
        if not isinstance(schema, dict):
            return ""
        if isinstance(schema.get("type"), str):
            return str(schema["type"])
        schema = _follow(document, schema.get("$ref"))
    return ""


def _follow(document: JSON, reference: JSON) -> JSON:
    """What a local reference names; None if it is no local reference or names nothing."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    current = document
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(current, dict) and name in current:
            current = current[name]
        elif isinstance(current, list) and name.isascii() and name.isdigit() and int(name) < len(current):
            current = current[int(name)]
        else:
            return None
    return current


def _place(node: MappingNode, name: str) -> Place:
    properties = node.find("properties")
    for entry in properties.entries if isinstance(properties, MappingNode) else ():
        if entry.key.text == name:
            return entry.key.place
    return node.place
