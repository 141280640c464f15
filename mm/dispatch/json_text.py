"""JSON text read strictly, written plainly, and compared by value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

from mm.messages import JSON

MAX_DEPTH = 128
"""Lists and objects within one another. No tool needs more, and deeper ones could exhaust a validator's stack."""
MAX_DIGITS = 4_300
"""Digits of a number, once its exponent is applied: the most that Python turns into text and back."""

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_SUSPICIOUS = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)|[\ud800-\udfff\0]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BLANK = " \t\r\n"


class UnreadableError(Exception):
    """A text is not one JSON value that can be used. `reason` continues "the text ..." or "it ..."."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(text: str, *, sendable: bool = True) -> JSON:
    """The one JSON value of a text, exact in every integer. Raises UnreadableError.

    Control characters inside strings are taken as they are: they have one reading, and models write raw line breaks.
    With `sendable` off, NUL and halves of surrogate pairs are taken too.
    """
    return _read(text, _DECODER, sendable)


def read_literals(text: str) -> JSON:
    """The same value with each number replaced by a Literal that holds its own text. Only for texts that `read`."""
    return _read(text, _LITERAL_DECODER, sendable=False)


class Literal(str):
    """A number of a JSON text, spelt as in that text."""

    __slots__ = ()


def spell(value: JSON) -> str:
    """JSON text of what `read_literals` read: every number as it was spelt."""
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(key)}: {spell(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spell, value)) + "]"
    return to_json(value)


def _read(text: str, decoder: json.JSONDecoder, sendable: bool) -> JSON:
    stripped = text.strip(_BLANK)
    try:
        value, end = decoder.raw_decode(stripped)
    except RecursionError:
        raise UnreadableError(f"is nested more than {MAX_DEPTH} levels deep") from None
    except json.JSONDecodeError as error:
        raise UnreadableError(_complaint(error, stripped)) from None
    except ValueError:
        raise UnreadableError(f"has a number of more than {MAX_DIGITS} digits") from None
    if end != len(stripped):
        raise UnreadableError(f"has something after the end of its JSON value: {_excerpt(stripped, end)}")
    if stripped.count("[") + stripped.count("{") > MAX_DEPTH:
        refuse_depth(value)
    if sendable and _SUSPICIOUS.search(stripped):
        refuse_unsendable(value)
    return value


def _complaint(error: json.JSONDecodeError, text: str) -> str:
    if error.pos >= len(text):
        return "ends too early to be JSON"
    what = error.msg[:1].lower() + error.msg[1:]
    return f"is not valid JSON: {what} at character {error.pos + 1}: {_excerpt(text, error.pos)}"


def _excerpt(text: str, start: int) -> str:
    piece = text[start : start + 30]
    return to_json(piece.encode("utf-8", "replace").decode()) + ("..." if start + 30 < len(text) else "")


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise UnreadableError(f"has the key {to_json(_visible(twice))} twice in one object")
    return made


def _float(literal: str) -> float | int:
    """A number that was written with a point or an exponent: an integer if it is one that no float can hold."""
    value = float(literal)
    if math.isinf(value):
        raise UnreadableError(f"has a number that is too large: {literal[:40]}")
    if value == 0 and literal.lower().partition("e")[0].strip("-0."):
        raise UnreadableError(f"has a number that is too small: {literal[:40]}")
    if abs(value) < 2**53:
        return value
    exact = read_number(literal, exact=True)
    return exact if isinstance(exact, int) and exact != value else value


def _constant(name: str) -> JSON:
    raise UnreadableError(f"has {name}, which is not a JSON number")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)
_LITERAL_DECODER = json.JSONDecoder(strict=False, parse_float=Literal, parse_int=Literal)


def _members(node: JSON) -> Iterable[JSON]:
    return node.values() if isinstance(node, dict) else node


def refuse_depth(value: JSON, limit: int = MAX_DEPTH) -> None:
    """Raise UnreadableError for containers nested deeper than a limit. Takes cycles for depth."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        if not level:
            return
        level = [child for node in level for child in _members(node) if isinstance(child, (dict, list))]
    if level:
        raise UnreadableError(f"is nested more than {limit} levels deep")


def _leaves(value: JSON) -> Iterable[JSON]:
    """Every scalar and every key, of a value whose depth is bounded."""
    level = [value]
    while level:
        inner: list[JSON] = []
        for node in level:
            if isinstance(node, dict):
                yield from node
                inner.extend(node.values())
            elif isinstance(node, list):
                inner.extend(node)
            else:
                yield node
        level = inner


def refuse_unsendable(value: JSON) -> None:
    """Raise UnreadableError for text that no program can be given: NUL, or half of a surrogate pair."""
    for leaf in _leaves(value):
        if isinstance(leaf, str):
            if "\0" in leaf:
                raise UnreadableError(f"has a NUL character (\\u0000) in {to_json(_visible(leaf))}")
            if _SURROGATE.search(leaf):
                raise UnreadableError(f"has half of a surrogate pair (\\ud800-\\udfff) in {to_json(_visible(leaf))}")


def refuse_foreign(value: JSON) -> None:
    """Raise UnreadableError for what is no JSON value: arguments that were not read from a JSON text by `read`."""
    refuse_depth(value)
    for leaf in _leaves(value):
        if isinstance(leaf, float) and not math.isfinite(leaf):
            raise UnreadableError(f"has {leaf}, which is not a JSON number")
        if leaf is not None and not isinstance(leaf, (str, int, float)):
            raise UnreadableError(f"has a value that is not JSON: {type(leaf).__name__}")
        if isinstance(leaf, int) and abs(leaf) >= 10**MAX_DIGITS:
            raise UnreadableError(f"has a number of more than {MAX_DIGITS} digits")
    refuse_unsendable(value)


def _visible(text: str) -> str:
    return text[:40].encode("utf-8", "replace").decode()


def read_number(text: str, *, exact: bool) -> int | float | None:
    """The number that a text holds in JSON's syntax, None if it holds none or one out of bounds.

    A number without a fraction is an integer, exact to the last digit. With `exact` off, one that is written with a
    point or an exponent and is too large for a float's exact range stays a float.
    """
    match = _NUMBER.fullmatch(text.strip(_BLANK))
    if match is None:
        return None
    if match.lastindex == 2 and len(match[0]) < MAX_DIGITS:
        return int(match[0])
    sign, whole, fraction, exponent = str(match[1]), str(match[2]), str(match[3] or ""), str(match[4] or "0")
    if len(exponent) > 6 or len(whole) + len(fraction) > MAX_DIGITS:
        return None
    digits = (whole + fraction).rstrip("0") if match[3] or match[4] else whole
    power = int(exponent) - len(fraction) + len(whole) + len(fraction) - len(digits)
    if not digits.strip("0"):
        return 0
    if power < 0:
        number = float(match[0])
        return number or None
    if len(digits.lstrip("0")) + power > MAX_DIGITS:
        return None
    integer: int = int(sign + digits) * 10**power
    if exact or not (match[3] or match[4]) or abs(integer) <= 2**53:
        return integer
    try:
        return float(integer)
    except OverflowError:
        return integer


def to_json(value: JSON) -> str:
    """Valid JSON text of a value, as short as it is readable, beyond ASCII as it is."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def canonical(value: JSON) -> str:
    """JSON text that is equal for equal values: keys sorted, 3.0 written as 3."""
    return json.dumps(_normal(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _normal(value: JSON) -> JSON:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return value
