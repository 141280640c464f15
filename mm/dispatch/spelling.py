"""How the values of one call were spelt: their keys, on the way to the author's names, and their numbers."""

from __future__ import annotations

from mm.dispatch.json_text import Literal, read_literals, spell, to_json
from mm.dispatch.readings import Source
from mm.messages import JSON
from mm.schemas.keywords import Tokens
from mm.schemas.wire_names import WireNames


class Spelling:
    """The names of one schema, and the literals of the texts that values were read from, each read once."""

    def __init__(self, names: WireNames) -> None:
        self._names = names
        self._literals: dict[Source, JSON] = {}

    def under_own_names(self, value: JSON, place: str, path: Tokens) -> JSON:
        """A value that was read from a text, under the author's names. Raises NameClashError."""
        group = self._names.group(place) if self._names.any else None
        return self._names.restore(value, path, group=group) if group else value

    def as_item(self, value: JSON, place: str, path: Tokens, source: Source | None) -> tuple[JSON, Source | None]:
        """A value that becomes the one item of a list: under the names that items have, and with a source that agrees.

        `place` is that of the list. Raises NameClashError.
        """
        item = self.under_own_names([value], place, path)[0]
        if source is None or item == value:
            return item, source
        return item, Source(spell(self._node(path, source)), path, place, is_item=True)

    def literal(self, number: int | float, path: Tokens, source: Source | None) -> str:
        """The number as it was spelt, or its shortest spelling if it came from no text."""
        node = self._node(path, source) if source is not None else None
        return str(node) if isinstance(node, Literal) else to_json(number)

    def as_spelt(self, value: JSON, path: Tokens, source: Source | None) -> JSON:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return Literal(self.literal(value, path, source)) if is_number else value

    def _node(self, path: Tokens, source: Source) -> JSON:
        """What stands at a path, numbers as literals; None if nothing does."""
        if source not in self._literals:
            read = read_literals(source.text)
            value = self.under_own_names([read] if source.is_item else read, source.place, source.path)
            self._literals[source] = value[0] if source.is_item else value
        node = self._literals[source]
        for token in path[len(source.path) :]:
            node = _member(node, token)
        return node


def _member(node: JSON, token: str | int) -> JSON:
    if isinstance(node, dict):
        return node.get(str(token))
    return node[token] if isinstance(node, list) and isinstance(token, int) and token < len(node) else None
