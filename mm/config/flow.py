"""Writes values as YAML on one line: for entries that mm adds, and for the edits that it proposes."""

from __future__ import annotations

import json
import re

from mm.config.nodes import MappingNode, Node, Scalar
from mm.messages import JSON

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./ -]*[A-Za-z0-9_./]|--?[A-Za-z0-9][A-Za-z0-9-]*|--|[A-Za-z]")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def flow(value: JSON) -> str:
    """A value on one line: texts bare where that is safe, else in double quotes."""
    if isinstance(value, str):
        bare = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if bare else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return json.dumps(value)


def flow_of(node: Node) -> str:
    """A value of the file on one line; numbers keep their spelling."""
    if isinstance(node, Scalar):
        if not isinstance(node.value, str):
            return node.text or "null"
        return quoted(node.text) if " " in node.text else flow(node.text)
    if isinstance(node, MappingNode):
        return "{" + ", ".join(f"{flow(entry.key.text)}: {flow_of(entry.value)}" for entry in node.entries) + "}"
    return "[" + ", ".join(map(flow_of, node.items)) + "]"


def quoted(text: str) -> str:
    """A text in quotes, as a person would write it."""
    if not any(one in text for one in '"\\\n'):
        return f'"{text}"'
    return json.dumps(text, ensure_ascii=False) if "'" in text or "\n" in text else f"'{text}'"
