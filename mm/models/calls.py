"""Puts the pieces of streamed calls together. Every server numbers and repeats them in its own way."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mm.messages import JSON, ToolCall
from mm.models.as_sent import AsSent


@dataclass(slots=True)
class _Slot:
    """One call while it comes in. `whole` says that its arguments came as one object."""

    index: int | None = None
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    whole: bool = False

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def complete(self) -> bool:
        return self.whole or (self._ends_like_one and _is_object(self.arguments))

    @property
    def _ends_like_one(self) -> bool:
        last = next((piece for piece in reversed(self.pieces) if not piece.isspace()), "")
        return last.rstrip().endswith("}")


@dataclass(frozen=True, slots=True)
class _Piece:
    """One entry of a delta's `tool_calls`, with what is absent in any of its spellings as None or ""."""

    index: int | None
    id: str
    name: str
    arguments: str
    whole: bool

    @classmethod
    def of(cls, entry: Mapping[str, JSON]) -> _Piece:
        function = entry.get("function")
        inner: Mapping[str, JSON] = function if isinstance(function, dict) else entry
        arguments = inner.get("arguments")
        return cls(
            index=_index(entry.get("index")),
            id=_text(entry.get("id")).strip(),
            name=_text(inner.get("name")),
            arguments=_text(arguments),
            whole=isinstance(arguments, AsSent),
        )

    @property
    def opens(self) -> bool:
        """Whether this looks like a whole call, or the first piece of its arguments, and not like a repeated name."""
        return bool(self.name and self.arguments.lstrip().startswith("{"))


class CallCollector:
    """Collects calls from deltas. `names` are the offered tools: they tell a streamed name from a repeated one."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(name.lower() for name in names)
        self._slots: list[_Slot] = []
        self._last: _Slot | None = None
        self._batch: list[_Slot] = []  # the slots of the latest delta with several entries

    def add(self, entries: Sequence[JSON]) -> None:
        """Take the `tool_calls` of one delta."""
        pieces = [_Piece.of(entry) for entry in entries if isinstance(entry, dict)]
        touched: list[_Slot] = []
        for position, piece in enumerate(pieces):
            slot = self._find(piece, position, several=len(pieces) > 1, touched=touched)
            if slot is None:
                slot = _Slot(index=piece.index)
                self._slots.append(slot)
            self._fill(slot, piece)
            touched.append(slot)
            self._last = slot
        if len(pieces) > 1:
            self._batch = touched

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began, each with an id of its own."""
        seen: set[str] = set()
        calls: list[ToolCall] = []
        for slot in self._slots:
            if not slot.name and not slot.arguments.strip():
                continue
            identity = slot.id if slot.id and slot.id not in seen else f"call_{uuid.uuid4().hex[:16]}"
            seen.add(identity)
            calls.append(ToolCall(identity, slot.name, join_halves(slot.arguments)))
        return tuple(calls)

    def _find(self, piece: _Piece, position: int, *, several: bool, touched: list[_Slot]) -> _Slot | None:
        """The slot that this piece continues; None if it begins a call."""
        if piece.index is not None:
            return self._by_index(piece, touched)
        if piece.id:
            return self._by_id(piece)
        if several:
            return self._by_position(piece, position)
        return None if self._last is None or self._begins_anew(piece, self._last) else self._last

    def _by_index(self, piece: _Piece, touched: list[_Slot]) -> _Slot | None:
        same = [slot for slot in self._slots if slot.index == piece.index]
        if same:
            slot = next((slot for slot in same if piece.id and slot.id == piece.id), same[-1])
            twice = slot in touched and bool(piece.name)
            return None if twice or self._begins_anew(piece, slot) else slot
        if piece.name:
            return None
        known = next((slot for slot in self._slots if piece.id and slot.id == piece.id), None)
        if known is not None:
            return known
        unfinished = self._last is not None and self._last.pieces and not self._last.complete
        return self._last if unfinished and not piece.id else None

    def _by_id(self, piece: _Piece) -> _Slot | None:
        for slot in reversed(self._slots):
            if slot.id == piece.id:
                return None if self._begins_anew(piece, slot) else slot
        last = self._last
        if last is None or piece.name or last.complete:
            return None
        return last if last.pieces or not last.id else None

    def _by_position(self, piece: _Piece, position: int) -> _Slot | None:
        if position >= len(self._batch):
            return None
        slot = self._batch[position]
        return None if self._begins_anew(piece, slot) else slot

    def _begins_anew(self, piece: _Piece, slot: _Slot) -> bool:
        """Whether a piece that points at a slot is another call all the same (several at index 0, missing ids)."""
        if not piece.name:
            return False
        same_id = bool(piece.id) and piece.id == slot.id
        other_id = bool(piece.id and slot.id) and not same_id
        other_name = bool(slot.name) and piece.name != slot.name
        if slot.complete:
            return other_id or (not same_id and (piece.opens or other_name)) or (same_id and other_name and piece.opens)
        if not other_name or same_id:
            return False
        if slot.pieces:
            return other_id and piece.opens
        return other_id or {slot.name.lower(), piece.name.lower()} <= self._names

    def _fill(self, slot: _Slot, piece: _Piece) -> None:
        slot.id = slot.id or piece.id
        slot.name = self._join_name(slot.name, piece.name)
        if piece.whole:
            slot.pieces, slot.whole = [piece.arguments], True
        elif piece.arguments and not slot.whole:
            slot.pieces.append(piece.arguments)

    def _join_name(self, held: str, piece: str) -> str:
        """Most servers send the name once or again and again; some stream it in fragments."""
        joined = held + piece
        if not held or not piece:
            return joined
        if held.lower() not in self._names and any(name.startswith(joined.lower()) for name in self._names):
            return joined
        if piece.startswith(held) or held.lower() not in self._names:
            return piece
        return held


def join_halves(text: str) -> str:
    """Put together surrogate pairs whose halves came in two pieces; lone ones stay."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _index(value: JSON) -> int | None:
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 9:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else str(value)


def _is_object(text: str) -> bool:
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
