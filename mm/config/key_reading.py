"""Finds the keys of a section in a mapping; what is misspelt, misplaced or unknown is a problem with its edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from mm.config.advice import advise
from mm.config.keys import PARAMETER_TYPES, SECTIONS
from mm.config.near import nearest
from mm.config.nodes import Entry, MappingNode, Node, Scalar
from mm.config.problems import Problem
from mm.config.schema import Place
from mm.config.shapes import Key, Section


@dataclass(frozen=True, slots=True)
class Reading:
    """The values by the names of the table, and what is wrong with the keys."""

    fields: dict[str, Node]
    problems: tuple[Problem, ...]


def read_keys(node: MappingNode, section: Section) -> Reading:
    """Sort the entries of a mapping. A misspelt key is read as the one that is meant."""
    found: dict[str, Node] = {}
    meant: dict[str, Node] = {}
    problems: list[Problem] = []
    entries, misplaced = list(node.entries), 0
    for at, entry in enumerate(entries):
        key = section.find(entry.key.text)
        if misplaced:
            misplaced -= 1
        elif key is None:
            near, hint = _unknown(entry, node, section)
            message = f"{section.title} has no key `{entry.key.text}`"
            problems.append(Problem(entry.key.place, message, hint))
            if near and near.name not in meant:
                meant[near.name] = entry.value
        elif key.name in found:
            message = f"`{entry.key.text}` is `{key.name}` a second time"
            problems.append(Problem(entry.key.place, message, "Remove one of the two."))
        else:
            beneath = tuple(_beneath(entries[at:], key, section))
            found[key.name] = MappingNode(beneath[0].key.place, beneath) if beneath else entry.value
            problems += _misplaced(entry, beneath)
            misplaced = len(beneath)
    return Reading({**meant, **found}, tuple(problems))


def with_name(entry: Entry) -> MappingNode:
    """An entry `spend: {…}` of a mapping as the mapping `{name: spend, …}`."""
    if not isinstance(entry.value, MappingNode):
        return MappingNode(entry.key.place, (Entry(Scalar(entry.key.place, "name"), entry.key),))
    rest = tuple(one for one in entry.value.entries if one.key.text != "name")
    return MappingNode(entry.key.place, (Entry(Scalar(entry.key.place, "name"), entry.key), *rest))


def _unknown(entry: Entry, node: MappingNode, section: Section) -> tuple[Key | None, str]:
    """The key that is meant, if its value may be one of that, and the edit."""
    written, value = entry.key.text, entry.value
    special = advise(section.name, written, value, node) or (section.advice or {}).get(written, "")
    if special:
        return None, special
    known = [name for key in section.keys for name in (key.name, *key.aliases)]
    listed = next((key for key in section.keys if written in key.misspellings and may_be_meant(value, key)), None)
    key = listed or section.find(nearest(written, known))
    if key is None:
        return None, f"Known keys: {', '.join(known)}."
    taken = next((one for one in node.entries if one is not entry and section.find(one.key.text) is key), None)
    if taken is not None:
        return None, f"Remove it: `{taken.key.text}` is there, in line {taken.key.place.line}."
    return key if may_be_meant(
        value, key
    ) else None, f"Did you mean `{listed.name if listed else nearest(written, known)}`?"


def may_be_meant(value: Node, key: Key) -> bool:
    """Whether a value could be that of `key`: a mapping for a mapping, and true or false for nothing else."""
    if isinstance(value, Scalar) and isinstance(value.value, bool) and key.shape.get("type") in ("array", "object"):
        return False
    return isinstance(value, MappingNode) == (key.shape.get("type") == "object" or "$ref" in key.shape)


def _beneath(entries: Sequence[Entry], key: Key, section: Section) -> Iterator[Entry]:
    """The unknown keys behind an empty key that belong beneath it: their indentation was forgotten."""
    value = entries[0].value
    if isinstance(value, Scalar) and value.is_null and not value.text:
        unknown = takewhile(lambda one: section.find(one.key.text) is None, entries[1:])
        yield from takewhile(lambda one: _fits_beneath(one, key), unknown)


def _fits_beneath(entry: Entry, key: Key) -> bool:
    alternatives = key.shape.get("anyOf", [key.shape])
    reference = next((str(shape["$ref"]).rsplit("/", 1)[-1] for shape in alternatives if "$ref" in shape), "")
    if reference == "parameters":
        is_type = isinstance(entry.value, Scalar) and entry.value.text in PARAMETER_TYPES
        return isinstance(entry.value, MappingNode) or is_type
    table = next((one for one in SECTIONS if one.name == reference), None)
    if table is not None:
        return table.find(entry.key.text) is not None
    values = key.shape.get("additionalProperties")
    return isinstance(values, dict) and isinstance(entry.value, MappingNode if "$ref" in values else Scalar)


def _misplaced(entry: Entry, beneath: Sequence[Entry]) -> Iterator[Problem]:
    if beneath:
        names = " and ".join(f"`{one.key.text}`" for one in beneath)
        place: Place = beneath[0].key.place
        message = f"{names} {'stands' if len(beneath) == 1 else 'stand'} beside `{entry.key.text}`, which is empty"
        yield Problem(place, message, f"Indent {names} under `{entry.key.text}:`, by two more blanks.")
