"""Keys of a parameter that stand beside it: `type: string` at the indentation of `file:`."""

from __future__ import annotations

from mm.config.keys import PARAMETER
from mm.config.nodes import Entry, MappingNode, Node, Scalar
from mm.config.reader import Reader

_ALSO_NAMES = frozenset({"format", "pattern", "items", "properties", "minimum", "maximum"})
"""Keys that are as likely the names of parameters, where they stand alone."""


def with_strays(reader: Reader, node: MappingNode) -> MappingNode:
    """The parameters with such keys where they belong. Each parameter that lacks its keys is one problem."""
    if node.is_flow:
        return node
    kept: list[Entry] = []
    strays: list[Entry] = []
    for entry in node.entries:
        if kept and _is_stray(entry):
            strays.append(entry)
            continue
        _take_in(reader, kept, strays)
        kept.append(entry)
        strays = []
    _take_in(reader, kept, strays)
    return MappingNode(node.place, tuple(kept))


def _is_stray(entry: Entry) -> bool:
    return PARAMETER.find(entry.key.text) is not None and not isinstance(entry.value, MappingNode)


def _take_in(reader: Reader, kept: list[Entry], strays: list[Entry]) -> None:
    """Put the keys into the parameter above them, and say so; back beside it, where they do not belong to it."""
    if not strays:
        return
    owner = kept[-1]
    own = _own_keys(owner.value, strays)
    if own is None:
        kept += strays
        return
    name, has = owner.key.text, {one.key.text for one in own}
    again = [one for one in strays if one.key.text not in has]
    names = " and ".join(f"`{one.key.text}`" for one in strays)
    stand, them, each = ("stands", "it", "it") if len(strays) == 1 else ("stand", "them", "each")
    hint = f"Indent {them} under `{name}:`, two more blanks before {each}."
    if has and not again:
        hint = f"Remove {them}: `{name}` has its own."
    elif has and isinstance(owner.value, MappingNode) and owner.value.is_flow:
        hint = f"Write {them} into the braces of `{name}`."
    reader.problem(strays[0].key, f"{names} {stand} beside `{name}`, not under it", hint)
    together = (*own, *again)
    kept[-1] = Entry(owner.key, MappingNode(together[0].key.place, together))


def _own_keys(value: Node, strays: list[Entry]) -> tuple[Entry, ...] | None:
    """The keys that the parameter has already; None if the strays are not its own."""
    if all(one.key.text in _ALSO_NAMES for one in strays):
        return None
    if isinstance(value, Scalar) and value.is_null and not value.text:
        return ()
    is_typed = any(one.key.text == "type" and isinstance(one.value, Scalar) for one in strays)
    return value.entries if isinstance(value, MappingNode) and is_typed else None
