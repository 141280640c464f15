"""Names of properties as they go over the wire: legal for every server, and led back to the author's names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mm.messages import JSON
from mm.schemas.groups import NONE_RENAMED, Group, joined
from mm.schemas.keywords import Tokens

MAX_LENGTH = 64
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")


class NameClashError(Exception):
    """An object holds both spellings of one property."""

    def __init__(self, path: Tokens, author: str, wire: str) -> None:
        super().__init__(path, author, wire)
        self.path = path
        self.author = author
        self.wire = wire


class WireNames:
    """The wire names of every object position of one schema."""

    def __init__(self, groups: Mapping[str, Group], root: Group) -> None:
        self._groups = groups
        self._root = root
        self.any = any(group.renamed for group in groups.values())

    def at(self, place: str) -> Mapping[str, str]:
        """Renamed properties at a `#/pointer` to a subschema: author's name → wire name."""
        return self._groups[place].renamed if place in self._groups else NONE_RENAMED

    def group(self, place: str) -> Group | None:
        return self._groups.get(place)

    def path(self, path: Iterable[str | int]) -> Tokens:
        """A path into a value, its properties spelt as the model knows them."""
        if not self.any:
            return tuple(path)
        group: Group | None = self._root
        shown: list[str | int] = []
        for token in path:
            group = group.holder(token) if group else None
            shown.append(group.renamed.get(token, token) if group and isinstance(token, str) else token)
            group = group.step(token) if group else None
        return tuple(shown)

    def spell_at(self, path: Iterable[str | int], value: JSON) -> JSON:
        """A value at a path, its properties spelt as the model knows them."""
        if not self.any:
            return value
        group: Group | None = self._root
        for token in path:
            group = group.holder(token).step(token) if group else None
        return _spelt(value, group)

    def restore(self, value: JSON, path: Tokens = (), *, group: Group | None = None) -> JSON:
        """A value with the author's names at every depth. Raises NameClashError where both spellings are present."""
        return _restored(value, group or self._root, path) if self.any else value

    def restore_quietly(self, value: JSON) -> JSON:
        """Like `restore`, but a value that holds both spellings comes back as it is."""
        try:
            return self.restore(value)
        except NameClashError:
            return value

    def spell(self, value: JSON, *, group: Group | None = None) -> JSON:
        """A value under the author's names as the model would have to write it."""
        return _spelt(value, group or self._root) if self.any else value


def _restored(value: JSON, group: Group | None, path: Tokens) -> JSON:
    if group is None:
        return value
    if isinstance(value, list):
        return [_restored(item, group.step(index), (*path, index)) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    restored = {}
    for key, item in value.items():
        author = group.original.get(key, key)
        if author != key and author in value:
            raise NameClashError(path, author, key)
        restored[author] = _restored(item, group.step(author), (*path, author))
    return restored


def _spelt(value: JSON, group: Group | None) -> JSON:
    if group is None:
        return value
    if isinstance(value, list):
        return [_spelt(item, group.step(index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {group.renamed.get(key, key): _spelt(item, group.step(key)) for key, item in value.items()}
    return value


def wire_names(document: JSON) -> WireNames:
    """The wire names of a mended schema: deterministic, free of collisions, `$defs` included.

    Names stay as they are where they are legal (`[A-Za-z0-9_.-]`, 1 to 64 characters). Keys of free-form maps are no
    names of the schema and are never renamed.
    """
    groups = joined(document)
    for group in {id(group): group for group in groups.values()}.values():
        group.renamed = _renamed(group.properties)
        group.original = {wire: author for author, wire in group.renamed.items()}
    return WireNames(groups, groups["#"])


def _renamed(names: Iterable[str]) -> Mapping[str, str]:
    names = set(names)
    illegal = sorted(name for name in names if not is_legal(name))
    taken = names - set(illegal)
    renamed = {}
    for name in illegal:
        renamed[name] = _free_name(_ILLEGAL.sub("_", name)[:MAX_LENGTH] or "_", taken)
        taken.add(renamed[name])
    return renamed or NONE_RENAMED


def is_legal(name: str) -> bool:
    return 0 < len(name) <= MAX_LENGTH and not _ILLEGAL.search(name)


def _free_name(wanted: str, taken: set[str]) -> str:
    name, count = wanted, 1
    while name in taken:
        count += 1
        suffix = f"_{count}"
        name = wanted[: MAX_LENGTH - len(suffix)] + suffix
    return name
