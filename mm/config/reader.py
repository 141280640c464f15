"""Takes typed values out of the tree of an agent file, and collects every problem on the way."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeGuard, TypeVar

from mm.config import quantities
from mm.config.expand import expand, expand_home
from mm.config.identity import identity
from mm.config.keys import Key, Section
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of
from mm.config.problems import Problem
from mm.config.schema import Place

Fields = dict[str, Node]
_Amount = TypeVar("_Amount", int, float)


class Reader:
    """One reading of one file. A value that is wrong is reported and read as its default, so that reading goes on.

    Without `environ`, variables stay as written: nothing of the environment gets into the result.
    """

    def __init__(self, file: Path, environ: Mapping[str, str] | None) -> None:
        self.file = file
        self.folder = identity(file).parent
        self.environ = environ
        self.problems: list[Problem] = []
        self.warnings: list[str] = []

    def problem(self, at: Node | Place, message: str, hint: str = "") -> None:
        place = at if isinstance(at, Place) else at.place
        self.problems.append(Problem(place, message, hint))

    def warn(self, at: Node | Place, message: str) -> None:
        place = at if isinstance(at, Place) else at.place
        self.warnings.append(str(Problem(place, message)))

    def fields(self, node: Node, section: Section) -> Fields:
        """The values of a mapping by the names of the table; unknown and missing keys are reported.

        A key that is plainly misspelt is reported, and read as what it is meant to be where it would be missed: what
        follows from its absence is no mistake of its own.
        """
        if not isinstance(node, MappingNode):
            keys = ", ".join(key.name for key in section.keys[:4])
            self.problem(node, f"{section.title} is {kind_of(node)}, not a mapping", f"Write it as keys: {keys}, …")
            return {}
        found: Fields = {}
        meant: Fields = {}
        for entry in node.entries:
            key = section.find(entry.key.text)
            if key is None:
                near = self._unknown(entry.key, section)
                if near and section.is_missed(near) and _may_be_meant(entry.value, near):
                    meant.setdefault(near.name, entry.value)
            elif key.name in found:
                self.problem(entry.key, f"`{entry.key.text}` is `{key.name}` a second time", "Remove one of the two.")
            else:
                found[key.name] = entry.value
        found = {**meant, **found}
        for key in section.keys:
            if key.required and key.name not in found:
                self.problem(node, f"{section.title} lacks `{key.name}`", f"Add `{key.name}:`. {key.says}")
        return found

    def text(self, node: Node | None, key: str, default: str = "") -> str:
        """The source text of a scalar: `1.10` stays "1.10"."""
        if node is None:
            return default
        if not isinstance(node, Scalar) or node.is_null:
            self.problem(node, f"`{key}` must be text, and this is {kind_of(node)}", _text_hint(node, key))
            return default
        if "\0" in node.text:
            self.problem(node, f"`{key}` holds a NUL character, which no program can be given", "Remove it.")
            return default
        return node.text

    def texts(self, node: Node | None, key: str) -> list[Scalar]:
        """The items of a list of texts."""
        return [item for item in self.items(node, key) if self._is_text(item, key)]

    def items(self, node: Node | None, key: str) -> tuple[Node, ...]:
        """The items of a list of anything; an empty value is an empty list."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return ()
        if not isinstance(node, SequenceNode):
            source = node.text if isinstance(node, Scalar) else "…"
            self.problem(node, f"`{key}` must be a list, and this is {kind_of(node)}", f"Write `{key}: [{source}]`.")
            return ()
        return node.items

    def boolean(self, node: Node | None, key: str, default: bool = False) -> bool:
        if node is None:
            return default
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, bool):
            self.problem(node, f"`{key}` must be `true` or `false`", f"Write `{key}: true` or `{key}: false`.")
            return default
        return value

    def integer(self, node: Node | None, key: str, least: int, most: int) -> int | None:
        value = self.number(node, key, least, most)
        if value is None or value == int(value):
            return None if value is None else int(value)
        if node is not None:
            self.problem(node, f"`{key}` must be a whole number")
        return None

    def number(self, node: Node | None, key: str, least: float, most: float) -> float | None:
        if node is None:
            return None
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.problem(node, f"`{key}` must be a number, and this is {kind_of(node)}")
        elif not least <= value <= most:
            self.problem(node, f"`{key}` must be between {least:,} and {most:,}")
        else:
            return value
        return None

    def choice(self, node: Node | None, key: str, choices: Iterable[str], default: str) -> str:
        allowed = tuple(choices)
        text = self.text(node, key, default)
        if text in allowed or node is None:
            return text
        message = f"`{key}` must be one of {', '.join(allowed)}, and this is `{text}`"
        self.problem(node, message, did_you_mean(text, allowed))
        return default

    def seconds(self, node: Node | None, key: str, default: float) -> float:
        return self._amount(node, key, default, quantities.seconds)

    def size(self, node: Node | None, key: str, default: int) -> int:
        return self._amount(node, key, default, quantities.size)

    def expanded(self, node: Node | None, key: str) -> tuple[str, tuple[str, ...]]:
        """A text with its variables filled in, and their names."""
        text = self.text(node, key)
        result = expand(text, self.environ)
        if result.wrong and node is not None:
            self.problem(node, f"`{key}`: {result.wrong}", result.hint)
        if "\0" in result.text and node is not None:
            self.problem(node, f"`{key}`: a variable in it holds a NUL character")
        return result.text, result.variables

    def mapping(self, node: Node | None, key: str) -> dict[str, Node]:
        """The values of a mapping with free keys; an empty value is an empty mapping."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return {}
        if not isinstance(node, MappingNode):
            self.problem(node, f"`{key}` must be a mapping, and this is {kind_of(node)}", "Write it as `name: value`.")
            return {}
        return {entry.key.text: entry.value for entry in node.entries}

    def expanded_map(self, node: Node | None, key: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """`env` or `headers`: texts with their variables filled in, and the names of those."""
        texts: dict[str, str] = {}
        variables: list[str] = []
        for name, value in self.mapping(node, key).items():
            if not name or "\0" in name or (key == "env" and "=" in name):
                self.problem(value, f"`{name}` cannot be the name of a variable or header")
            texts[name], used = self.expanded(value, f"{key}.{name}")
            variables.extend(used)
        return texts, tuple(variables)

    def path(self, node: Node | None, key: str) -> Path | None:
        """An absolute path; a relative one starts at the folder of the file."""
        text, _ = self.expanded(node, key)
        if not text:
            if node is not None and isinstance(node, Scalar) and not node.is_null and not node.text:
                self.problem(node, f"`{key}` is empty", "Name a path.")
            return None
        return self.absolute(text)

    def absolute(self, text: str) -> Path:
        """A path as written, from the folder of the file; `~` is the user's home."""
        if self.environ is None and text.startswith(("~", "${")):
            return Path(text)
        return self.folder / expand_home(text, self.environ)

    def program(self, node: Scalar, key: str) -> str:
        """A program: an absolute path if it has a slash, else a name for PATH."""
        text, _ = self.expanded(node, key)
        if not text:
            self.problem(node, f"`{key}` has no program", "Write the program first.")
        return str(self.absolute(text)) if "/" in text or text == "~" else text

    def is_written(self, node: Node) -> bool:
        """Whether a text stands with its variables unfilled, so that nothing outside can be looked up by it."""
        return self.environ is None and isinstance(node, Scalar) and ("${" in node.text or node.text.startswith("~"))

    def _amount(self, node: Node | None, key: str, default: _Amount, parse: Callable[[object], _Amount]) -> _Amount:
        if node is None:
            return default
        try:
            return parse(node.value if isinstance(node, Scalar) else None)
        except ValueError as error:
            written = node.text if isinstance(node, Scalar) else kind_of(node)
            self.problem(node, f"`{key}: {written}` {error}")
            return default

    def _is_text(self, item: Node, key: str) -> TypeGuard[Scalar]:
        if not isinstance(item, Scalar):
            self.problem(item, f"an entry of `{key}` must be text, and this is {kind_of(item)}")
        elif item.is_null:
            self.problem(item, f"an entry of `{key}` is empty", 'Write `""` for an empty text, or remove it.')
        elif "\0" in item.text:
            self.problem(item, f"an entry of `{key}` holds a NUL character, which no program can be given")
        else:
            return True
        return False

    def _unknown(self, written: Scalar, section: Section) -> Key | None:
        """Report a key that is not in the table. Gives the one that is meant, if there is one near it."""
        known = [name for key in section.keys for name in (key.name, *key.aliases)]
        hint = (section.advice or {}).get(written.text, "")
        near = "" if hint else nearest(written.text, known)
        for key in section.keys:
            if written.text in key.misspellings:
                near = key.name
        hint = f"Did you mean `{near}`?" if near else hint or f"Known keys: {', '.join(known)}."
        self.problem(written, f"{section.title} has no key `{written.text}`", hint)
        return section.find(near)


def _may_be_meant(value: Node, key: Key) -> bool:
    """Whether the value of a misspelt key is a mapping if, and only if, that of `key` would be."""
    return isinstance(value, MappingNode) == (key.shape.get("type") == "object" or "$ref" in key.shape)


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """`Did you mean `x`?`, or nothing if no known name is near."""
    near = nearest(text, known)
    return f"Did you mean `{near}`?" if near else ""


def nearest(text: str, known: Iterable[str]) -> str:
    """The known name that is written most like `text`, or "" if none is near."""
    folded = {name.lower().replace("-", "_"): name for name in known}
    near = difflib.get_close_matches(text.lower().replace("-", "_"), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else ""


def _text_hint(node: Node, key: str) -> str:
    if isinstance(node, Scalar):
        return f'Write a text, or `{key}: ""` for an empty one.'
    return f'Write it as one text: `{key}: "…"`.'
