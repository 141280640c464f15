"""Turns one parameter of the short form into JSON Schema, and checks each of its keys without a validator."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mm.config import meant
from mm.config.flow import flow, flow_of, quoted
from mm.config.keys import PARAMETER, PARAMETER_TYPES
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of, to_json
from mm.config.reader import Fields, Reader
from mm.config.type_words import meant_type
from mm.messages import JSON

_FITS = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems"),
    "object": ("properties", "additionalProperties"),
    "boolean": (),
}
_ONLY_PYTHON = re.compile(r"\(\?P[<=>]|\\[AZ]|\(\?[aiLmsux]+\)")
_UNICODE_CLASS = re.compile(r"\\[pP]\{[^}]*\}")
_MOST = 2**53


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its JSON Schema and what is not part of that."""

    document: JSON
    kind: str
    required: bool
    allow_dash: bool


class ShortForm:
    """Reads parameters, nested ones too."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def read(self, node: Node, name: str, *, at_top: bool = False) -> Parameter:
        """`name` is what messages call it, such as `items of tags`."""
        fields = self.reader.fields(node, PARAMETER)
        kind = self._kind(fields, in_flow=isinstance(node, MappingNode) and node.is_flow)
        self._check_fit(fields, kind, name)
        document: dict[str, JSON] = {"type": kind}
        document.update(self._texts(fields))
        document.update(self._bounds(fields, kind, name))
        document.update(self._inner(fields, kind, name))
        self._check_values(fields, kind, name, document)
        return Parameter(document, kind, self._required(fields, name), self._allow_dash(fields, name, at_top))

    def _kind(self, fields: Fields, *, in_flow: bool) -> str:
        guess = "array" if "items" in fields else "object" if "properties" in fields else "string"
        node = fields.get("type")
        if node is None:
            return guess
        if not isinstance(node, Scalar):
            self.reader.problem(
                node, f"`type` must be one type, and this is {kind_of(node)}", _one_type(node, in_flow=in_flow)
            )
            return guess
        if node.text not in PARAMETER_TYPES:
            found = meant_type(node.text)
            message = f"`type: {node.text}` is no type; there are {', '.join(PARAMETER_TYPES)}"
            self.reader.problem_instead(node, message, _keys_edit(found or {"type": guess}, in_flow=in_flow))
            return str(found.get("type", guess))
        return node.text

    def _check_fit(self, fields: Fields, kind: str, name: str) -> None:
        lost: dict[str, list[str]] = {}
        for key in fields:
            owners = [one for one, keys in _FITS.items() if key in keys]
            if owners and kind not in owners:
                lost.setdefault(owners[0], []).append(key)
        for owner, keys in lost.items():
            written = " and ".join(f"`{key}`" for key in keys)
            hint = f"Write `type: {owner}`, or remove {written}."
            say = "says" if len(keys) == 1 else "say"
            self.reader.problem(
                fields[keys[0]], f"{written} {say} nothing about `{name}`, whose type is `{kind}`", hint
            )

    def _texts(self, fields: Fields) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        for key in ("description", "format"):
            if key in fields:
                found[key] = self.reader.text(fields[key], key)
        if "pattern" in fields:
            found["pattern"] = self.reader.text(fields["pattern"], "pattern")
            self._check_pattern(fields["pattern"], found["pattern"])
        return found

    def _check_pattern(self, node: Node, pattern: str) -> None:
        outside = _ONLY_PYTHON.search(pattern)
        try:
            re.compile(_UNICODE_CLASS.sub(r"\\w", pattern))
        except (re.error, RecursionError, OverflowError) as error:
            self.reader.problem(node, f"`pattern` is no regular expression: {error}", "Put it in single quotes.")
            return
        if outside:
            hint = "Use `^` and `$` for the ends, and plain groups."
            self.reader.problem(node, f"`{outside.group()}` in `pattern` is not known to JSON Schema", hint)

    def _bounds(self, fields: Fields, kind: str, name: str) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            least = -1e300 if key != "multipleOf" else 1e-300
            value = self.reader.number(fields.get(key), key, least, 1e300)
            if value is not None and key in _FITS[kind]:
                found[key] = value
        for key in ("minLength", "maxLength", "minItems", "maxItems"):
            value = self.reader.integer(fields.get(key), key, 0, _MOST)
            if value is not None and key in _FITS[kind]:
                found[key] = value
        for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
            if low in found and high in found and found[low] > found[high]:
                message = f"`{low}` of `{name}` is larger than `{high}`: no value fits"
                self.reader.problem(fields[low], message, "Swap the two.")
        if "uniqueItems" in fields:
            found["uniqueItems"] = self.reader.boolean(fields["uniqueItems"], "uniqueItems")
        return found

    def _inner(self, fields: Fields, kind: str, name: str) -> dict[str, JSON]:
        if kind == "array" and "items" in fields:
            return {"items": self._nested(fields["items"], f"items of {name}", "items").document}
        if kind != "object":
            return {}
        found: dict[str, JSON] = {}
        if "properties" in fields:
            inner = {
                one: self._nested(value, f"{name}.{one}", one)
                for one, value in self.reader.mapping(self._by_name(fields["properties"]), "properties").items()
            }
            found["properties"] = {one: parameter.document for one, parameter in inner.items()}
            found["additionalProperties"] = False
            required = [one for one, parameter in inner.items() if parameter.required]
            found.update({"required": required} if required else {})
        more = fields.get("additionalProperties")
        if isinstance(more, MappingNode):
            found["additionalProperties"] = self._nested(more, f"fields of {name}", "additionalProperties").document
        elif more is not None:
            found["additionalProperties"] = self.reader.boolean(more, "additionalProperties")
        return found

    def _by_name(self, node: Node) -> Node:
        """`properties` as a list of their names, or of fields that say their own."""
        found = meant.named(node, "name")
        if found is None:
            return node
        names = [entry.key.text for entry in found.entries]
        shown = ", ".join(f"{flow(one)}: {_shown_field(found.find(one))}" for one in names)
        message = f"`properties` must be a mapping, and this is {kind_of(node)}"
        self.reader.problem(node, message, f"Write `properties: {{{shown}}}`.")
        return found

    def _nested(self, node: Node, name: str, key: str) -> Parameter:
        if isinstance(node, Scalar) and node.text and not node.is_null:
            found = meant_type(node.text) or {"type": "string", "description": node.text}
            message = f"`{key}` must be a mapping, and this is {kind_of(node)}"
            self.reader.problem(node, message, f"Write `{flow(key)}: {flow(found)}`.")
            node = MappingNode(node.place, ())
        return ShortForm(self.reader).read(node, name)

    def _required(self, fields: Fields, name: str) -> bool:
        default = "default" not in fields
        node = fields.get("required")
        if node is not None and not isinstance(node, Scalar):
            hint = "Say it in each of its properties: `required: false`."
            self.reader.problem(node, f"`required` of `{name}` must be `true` or `false`", hint)
            return default
        required = self.reader.boolean(node, "required", default)
        if required and not default:
            hint = "Remove `required: true`, or the default."
            self.reader.problem(fields["required"], f"`{name}` is required, so its default is never used", hint)
        return required

    def _allow_dash(self, fields: Fields, name: str, at_top: bool) -> bool:
        if "allow_dash" in fields and not at_top:
            hint = "Write it beside the type of the parameter itself."
            self.reader.problem(fields["allow_dash"], f"`allow_dash` in {name} has no effect", hint)
        return self.reader.boolean(fields.get("allow_dash"), "allow_dash")

    def _check_values(self, fields: Fields, kind: str, name: str, document: dict[str, JSON]) -> None:
        """Take `enum` and `default` into the document; both must be values that the parameter may have."""
        if "enum" in fields:
            allowed = [self._value(item, kind, "enum") for item in self.reader.items(fields["enum"], "enum")]
            values = [value for value, fits in allowed if fits]
            if not allowed and isinstance(fields["enum"], SequenceNode):
                self.reader.problem(fields["enum"], f"`enum` of `{name}` is empty: no value fits", "Remove it.")
            if len({repr(value) for value in values}) < len(values):
                self.reader.problem(fields["enum"], f"`enum` of `{name}` has a value twice", "Remove one.")
            document["enum"] = values
        if "default" not in fields:
            return
        value, fits = self._value(fields["default"], kind, "default")
        if fits:
            wrong = _violation(value, document)
            if wrong:
                self.reader.problem(fields["default"], f"the default of `{name}` {wrong}", "Change one of the two.")
            document["default"] = value

    def _value(self, node: Node, kind: str, key: str) -> tuple[JSON, bool]:
        """A value of the parameter's type, and whether it is one. In a text, numbers keep their spelling."""
        if kind == "string" and isinstance(node, Scalar) and not node.is_null:
            return node.text, True
        value = to_json(node)
        if not _FIT_TYPE[kind](value):
            hint = value_edit(node, kind, key)
            self.reader.problem(node, f"this value of `{key}` is {kind_of(node)}, and the type is `{kind}`", hint)
            return value, False
        return value, True


def _shown_field(node: Node | None) -> str:
    is_empty = node is None or (isinstance(node, MappingNode) and not node.entries)
    return "{type: string, description: …}" if is_empty or node is None else flow_of(node)


def _keys_edit(keys: dict[str, JSON], *, in_flow: bool) -> str:
    """One or more keys as they have to be written: inside braces behind commas, else each on a line of its own."""
    written = [f"{key}: {flow(value)}" for key, value in keys.items()]
    return f"Write `{', '.join(written)}`." if in_flow else f"Write `{'` and, on the next line, `'.join(written)}`."


def _one_type(node: Node, *, in_flow: bool) -> str:
    """The edit for `type: [string, "null"]`, and for several types."""
    kinds = [item.text for item in node.items if isinstance(item, Scalar)] if isinstance(node, SequenceNode) else []
    kinds = [str(meant_type(kind).get("type", kind)) for kind in kinds if kind not in ("null", "~")]
    if len(kinds) == 1:
        return _keys_edit({"type": kinds[0], "required": False}, in_flow=in_flow)
    return "For several types, write a whole JSON Schema, with `type: object` at the top of `parameters`."


def value_edit(node: Node, kind: str, key: str) -> str:
    """How to write a value of `default` or `enum` in the type of its parameter."""
    before = "" if key == "enum" else f"{key}: "
    text = node.text.strip().lower() if isinstance(node, Scalar) else ""
    if key == "default" and (text in meant.NOTHING or not text) and kind != "boolean" and isinstance(node, Scalar):
        return "Leave `default` out, and write `required: false`."
    number, truth = meant.number(node), meant.boolean(node)
    if kind in ("integer", "number") and number is not None and (kind == "number" or number == int(number)):
        return f"Write `{before}{flow(number)}`."
    if kind == "boolean" and truth is not None:
        return f"Write `{before}{flow(truth)}`."
    if kind == "array" and not isinstance(node, SequenceNode):
        return f"Write `{before}[{', '.join(map(flow_of, meant.items(node)))}]`."
    if kind == "string" and meant.text(node):
        return f"Write `{before}{quoted(meant.text(node))}`."
    fitting = next((one for one, fits in _FIT_TYPE.items() if fits(to_json(node))), "string")
    return f"Write `type: {fitting}`, or change the value."


def _is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_integer(value: JSON) -> bool:
    return _is_number(value) and value == int(value)


_FIT_TYPE: dict[str, Callable[[JSON], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _violation(value: JSON, document: dict[str, JSON]) -> str:
    """What keeps a default from being a value of its parameter; "" if nothing does."""
    checks: tuple[tuple[str, Callable[[JSON], bool], str], ...] = (
        ("enum", lambda limit: value not in limit, "is not in `enum`"),
        ("minimum", lambda limit: value < limit, "is below `minimum`"),
        ("maximum", lambda limit: value > limit, "is above `maximum`"),
        ("exclusiveMinimum", lambda limit: value <= limit, "is not above `exclusiveMinimum`"),
        ("exclusiveMaximum", lambda limit: value >= limit, "is not below `exclusiveMaximum`"),
        ("minLength", lambda limit: len(value) < limit, "is shorter than `minLength`"),
        ("maxLength", lambda limit: len(value) > limit, "is longer than `maxLength`"),
        ("minItems", lambda limit: len(value) < limit, "has fewer items than `minItems`"),
        ("maxItems", lambda limit: len(value) > limit, "has more items than `maxItems`"),
    )
    return next((words for key, breaks, words in checks if key in document and breaks(document[key])), "")
