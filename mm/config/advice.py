"""What to write in place of a key that mm does not have, where its value or what stands beside it decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from mm.config import meant, quantities
from mm.config.flow import flow, flow_of, quoted
from mm.config.keys import MODEL
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, to_json

Advice = Callable[[str, Node, MappingNode], str]
"""Of the key, its value and the mapping that it stands in: the edit, or "" if there is no special one."""


def advise(section: str, key: str, value: Node, mapping: MappingNode) -> str:
    """The edit for an unknown key of a section; "" if its name alone says enough."""
    advice = _ADVICE.get(section, {}).get(key)
    return advice(key, value, mapping) if advice else ""


def _optional(key: str, value: Node, mapping: MappingNode) -> str:
    given = meant.boolean(value)
    return "" if given is None else f"Write `required: {'false' if given else 'true'}`."


def _bound(key: str, value: Node, mapping: MappingNode) -> str:
    kind, end = _kind(mapping), "min" if key.startswith("min") else "max"
    names = {"string": "Length", "array": "Items"}
    return f"Write `{end}{names[kind]}: {flow_of(value)}`." if kind in names else ""


def _kind(mapping: MappingNode) -> str:
    kind = mapping.find("type")
    return kind.text if isinstance(kind, Scalar) else "array" if mapping.find("items") else ""


def _example(key: str, value: Node, mapping: MappingNode) -> str:
    pieces = value.items if isinstance(value, SequenceNode) else (value,)
    shown = ", ".join(piece.text for piece in pieces if isinstance(piece, Scalar))
    before = mapping.find("description")
    text = f"{before.text}, such as {shown}" if isinstance(before, Scalar) and before.text else f"Such as {shown}"
    return f"Remove it, and write `description: {quoted(text)}`." if shown else ""


def _milliseconds(key: str, value: Node, mapping: MappingNode) -> str:
    amount = meant.number(value)
    return f"Write `timeout: {amount / 1000:g}s`." if amount is not None else ""


def _arguments(key: str, value: Node, mapping: MappingNode) -> str:
    command = mapping.find("command")
    if not isinstance(value, (SequenceNode, Scalar)) or command is None or isinstance(command, MappingNode):
        return ""
    entries = [flow_of(item) for item in (*meant.items(command), *meant.items(value))]
    return f"Remove it, and write `command: [{', '.join(entries)}]`."


def _shell(key: str, value: Node, mapping: MappingNode) -> str:
    if not isinstance(value, Scalar) or meant.boolean(value) is None:
        return ""
    return "Remove it: mm has no shell, each entry of `command` is one argument as it stands."


def _consent(key: str, value: Node, mapping: MappingNode) -> str:
    name, given = mapping.find("name"), meant.boolean(value)
    rule = value.text.strip().lower() if isinstance(value, Scalar) else ""
    if given is not None:
        rule = "ask" if given == (key not in ("allow", "auto_approve", "autoApprove", "yolo")) else "allow"
    if not isinstance(name, Scalar) or rule not in ("allow", "ask", "deny"):
        return ""
    return f"Remove it, and write `permissions: {{{rule}: [{flow(name.text)}]}}` at the top of the file."


def _remove(key: str, value: Node, mapping: MappingNode) -> str:
    return "Remove it."


def _required(key: str, value: Node, mapping: MappingNode) -> str:
    return "Remove it: a parameter is required, unless it says `required: false` or has a default."


def _of_model(key: str, value: Node, mapping: MappingNode) -> str:
    model = mapping.find("model")
    if isinstance(model, MappingNode):
        return f"Move it into `model:`, beside `name`: `{key}: {flow_of(value)}`."
    if key == "provider" and isinstance(model, Scalar) and isinstance(value, Scalar):
        return f"Remove it, and write `model: {value.text.strip().lower()}:{model.text}`."
    name = flow(model.text) if isinstance(model, Scalar) and model.text else "ollama:NAME"
    return f"Remove it, and write `model: {{name: {name}, {key}: {flow(to_json(value))}}}`."


def _rule(key: str, value: Node, mapping: MappingNode) -> str:
    names = [flow_of(item) for item in meant.items(value)]
    return f"Write `permissions: {{{key}: [{', '.join(names)}]}}`."


_ADVICE: Mapping[str, Mapping[str, Advice]] = {
    "agent": {
        **{each.name: _of_model for each in MODEL.keys if each.name not in ("name", "api_key", "headers")},
        **dict.fromkeys(("allow", "ask", "deny"), _rule),
        "version": _remove,
    },
    "tool": {
        **dict.fromkeys(("args", "arguments"), _arguments),
        **dict.fromkeys(
            ("allow", "auto_approve", "autoApprove", "yolo", "ask", "confirm", "approval", "permission"), _consent
        ),
        "shell": _shell,
        "timeout_ms": _milliseconds,
        "required": _required,
        "type": _remove,
        "kind": _remove,
    },
    "parameter": {
        **dict.fromkeys(("optional", "nullable"), _optional),
        **dict.fromkeys(("min", "max", "minimum_length", "maximum_length"), _bound),
        **dict.fromkeys(("example", "examples"), _example),
        **dict.fromkeys(("title", "label", "name"), _remove),
    },
}

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE|\bPAT\b", re.IGNORECASE)
_USUAL = {"max_rounds": 50, "output_limit": 30_000, "max_tokens": 1_000, "context": 8_192}
_TIMES = {"timeout": 60.0, "start_timeout": 20.0}


def time_edit(key: str, node: Node) -> str:
    """How to write a time that is none, or too long."""
    written = node.text if isinstance(node, Scalar) else ""
    return f"Write `{key}: {quantities.meant_seconds(written, _TIMES.get(key, 60.0))}`."


def size_edit(key: str, node: Node) -> str:
    """How to write a size that is none, or too large."""
    return f"Write `{key}: {quantities.meant_size(node.text if isinstance(node, Scalar) else '')}`."


def within(value: float, least: float, most: float) -> str:
    """A number as it is written, between its limits."""
    bounded = min(max(value, least), most)
    return f"{bounded:.9g}" if bounded != int(bounded) else str(int(bounded))


def shown_mapping(node: MappingNode) -> str:
    """A mapping on one line, without what looks like a secret in it."""
    shown = []
    for entry in node.entries:
        name, value = entry.key.text, flow_of(entry.value)
        is_secret = _SECRET.search(name) is not None and "${" not in value
        shown.append(f"{flow(name)}: {'…' if is_secret else value}")
    return f"{{{', '.join(shown)}}}"


def number_edit(key: str, least: float) -> str:
    return f"Write `{key}: {_USUAL.get(key) or within(1, least, 1e9)}`, or another number, or remove it."


def text_edit(node: Node, key: str) -> str:
    text = meant.text(node)
    if text:
        return f"Write `{key}: {quoted(text)}`."
    if isinstance(node, Scalar):
        return f'Write a text, or `{key}: ""` for an empty one.'
    return f'Write it as one text: `{key}: "…"`.'
