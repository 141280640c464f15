"""What is plainly meant by a value of the wrong kind: a text for a list, `yes` for true, a list for a mapping."""

from __future__ import annotations

import re
from collections.abc import Callable

from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode

NOTHING = frozenset({"none", "no", "false", "off", "nothing", "never", "null", "-", "[]", "{}"})
_TRUE = frozenset({"true", "yes", "y", "on", "1", "always", "enabled", "t", "ja"})
_FALSE = frozenset({"false", "no", "n", "off", "0", "never", "disabled", "none", "f", "nein"})
_NUMBER = re.compile(r"\s*([-+]?[0-9][0-9_,' ]*(?:\.[0-9]+)?|[-+]?\.[0-9]+)\s*([kKmM]?)\s*")


def items(node: Node, *, whole: Callable[[str], bool] = lambda text: False) -> tuple[Node, ...]:
    """The items of a list that is written as text or as a mapping; () if nothing is to be in it.

    `whole` says that a text with blanks is one item all the same, such as the path of a folder.
    """
    if isinstance(node, MappingNode):
        return tuple(entry.key for entry in node.entries if not _is_false(entry.value))
    if isinstance(node, SequenceNode):
        return node.items
    if whole(node.text):
        return (node,)
    if node.text.strip().lower() in NOTHING:
        return ()
    text = node.text.strip()
    bare = text[1:-1] if text[:1] + text[-1:] in ("[]", "()", "{}") else text
    pieces = re.split(r"[,;|\n]", bare) if re.search(r"[,;|\n]", bare) else bare.split()
    return tuple(Scalar(node.place, piece, plain) for piece, plain in map(_bare, pieces) if piece)


def _bare(piece: str) -> tuple[str, bool]:
    """A piece of a list without its quotes, and whether it had none."""
    text = piece.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1], False
    return text, True


def boolean(node: Node) -> bool | None:
    """What `yes`, `off`, `1` and their like mean; None if it is neither."""
    text = node.text.strip().lower() if isinstance(node, Scalar) else ""
    return True if text in _TRUE else False if text in _FALSE else None


def number(node: Node) -> int | float | None:
    """The number in a text, such as `1_000`, `30k` or `0,7`; None if there is none."""
    found = _NUMBER.fullmatch(node.text) if isinstance(node, Scalar) else None
    if not found:
        return None
    digits, power = found.group(1).strip(), found.group(2).lower()
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]{1,2}", digits):
        digits = digits.replace(",", ".")
    value = float(re.sub(r"[_,' ]", "", digits)) * {"": 1, "k": 1_000, "m": 1_000_000}[power]
    return int(value) if value == int(value) else value


def text(node: Node) -> str:
    """The one text that a list or a mapping of texts amounts to; "" if it does not."""
    if isinstance(node, SequenceNode) and all(isinstance(item, Scalar) for item in node.items):
        return " ".join(item.text for item in node.items if isinstance(item, Scalar))
    if isinstance(node, MappingNode) and len(node.entries) == 1 and isinstance(node.entries[0].value, Scalar):
        return f"{node.entries[0].key.text}: {node.entries[0].value.text}".strip()
    return ""


def mapping(node: Node) -> MappingNode | None:
    """Names and values that are written as a list, or as `NAME=value`."""
    pieces = node.items if isinstance(node, SequenceNode) else (node,)
    entries: list[Entry] = []
    for piece in pieces:
        if isinstance(piece, MappingNode):
            entries += piece.entries
            continue
        found = re.fullmatch(r"\s*([^=:\s]+)\s*[=:]\s*(.*)", piece.text) if isinstance(piece, Scalar) else None
        if found is None:
            return None
        name, value = found.groups()
        entries.append(Entry(Scalar(piece.place, name), Scalar(piece.place, value)))
    return MappingNode(node.place, tuple(entries)) if entries else None


def named(node: Node, name_key: str) -> MappingNode | None:
    """A list of mappings of which each says its own name, as a mapping by those names."""
    if not isinstance(node, SequenceNode):
        return None
    entries = []
    for item in node.items:
        if isinstance(item, Scalar):
            entries.append(Entry(item, MappingNode(item.place, ())))
            continue
        if not isinstance(item, MappingNode):
            return None
        name = item.find(name_key)
        if isinstance(name, Scalar):
            rest = tuple(entry for entry in item.entries if entry.key.text != name_key)
            entries.append(Entry(name, MappingNode(item.place, rest)))
        elif len(item.entries) == 1:
            entries.append(item.entries[0])
        else:
            return None
    return MappingNode(node.place, tuple(entries)) if entries else None


def _is_false(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is False
