"""Turns one parameter of the short form into JSON Schema, and checks each of its keys without a validator."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from mm.config import meant
from mm.config.advice import within
from mm.config.flow import flow, flow_of
from mm.config.keys import PARAMETER, PARAMETER_TYPES
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of
from mm.config.parameter_values import read_values
from mm.config.reader import Fields, Reader
from mm.config.type_words import meant_type
from mm.messages import JSON
from mm.schemas.engine import is_pattern

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
_MEND = {"unterminated character set": ("]", "["), "missing ), unterminated subpattern": (")", "(")}
_MOST = 2**53
_LEAST_STEP = 1e-300


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
        document.update(read_values(self.reader, fields, kind, name, document))
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
            with warnings.catch_warnings(action="ignore"):  # of Python, for what may once mean something else to it
                re.compile(_UNICODE_CLASS.sub(r"\\w", pattern))
        except (re.error, RecursionError, OverflowError) as error:
            if not is_pattern(pattern):  # JSON Schema knows some that Python does not, such as `(?<year>…)`
                self.reader.problem(node, *_broken_pattern(pattern, error))
            return
        if outside:
            hint = "Use `^` and `$` for the ends, and plain groups."
            self.reader.problem(node, f"`{outside.group()}` in `pattern` is not known to JSON Schema", hint)

    def _bounds(self, fields: Fields, kind: str, name: str) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            value = self.reader.number(fields.get(key), key, -1e300, 1e300)
            if key == "multipleOf" and value is not None and value < _LEAST_STEP:
                hint = f"Write `multipleOf: {within(abs(value) or 1, 1e-9, 1e300)}`, or remove it."
                self.reader.problem(fields[key], "`multipleOf` must be above 0", hint)
            elif value is not None and key in _FITS[kind]:
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


def _broken_pattern(pattern: str, error: Exception) -> tuple[str, str]:
    """What keeps a pattern from being a regular expression, and where; and the edit, if the reason says it."""
    at = error.pos if isinstance(error, re.error) else None
    if not isinstance(error, re.error) or at is None:
        return "`pattern` is no regular expression: it is too deep or too large", "Write a shorter one."
    where = f" at character {at + 1}, `{pattern[at : at + 20]}`" if pattern[at:] else " at its end"
    message = f"`pattern` is no regular expression: {error.msg}{where if error.pattern == pattern else ''}"
    if error.msg in _MEND:
        closer, opener = _MEND[error.msg]
        return message, f"Close it with `{closer}`, or write `\\{opener}` if that character is meant."
    if error.msg in ("nothing to repeat", "multiple repeat", "unbalanced parenthesis"):
        return message, f"Write `\\{pattern[at : at + 1]}` if that character is meant, or remove it."
    return message, "Mend it there: `pattern` is read as in JSON Schema (ECMA 262)."
