"""Takes typed values out of the tree of an agent file, and collects every problem on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeGuard, TypeVar

from mm.config import meant, quantities
from mm.config.advice import number_edit, shown_mapping, size_edit, text_edit, time_edit, within
from mm.config.expand import expand, expand_home, names_without_braces, shown_names, with_braces
from mm.config.flow import flow_of, quoted
from mm.config.identity import identity
from mm.config.key_reading import read_keys, with_name
from mm.config.near import nearest
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of
from mm.config.problems import Problem
from mm.config.schema import Place
from mm.config.shapes import Section

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
        self.warnings: list[Problem] = []

    def problem(self, at: Node | Place, message: str, hint: str = "") -> None:
        place = at if isinstance(at, Place) else at.place
        self.problems.append(Problem(place, message, hint))

    def problem_instead(self, at: Scalar, message: str, hint: str = "") -> None:
        """The same, in place of what has been said about this text: that it needs quotes, which it then does not."""
        inside = range(at.place.column, at.place.column + max(1, len(at.text)))
        self.problems = [
            one for one in self.problems if one.place.line != at.place.line or one.place.column not in inside
        ]
        self.problem(at, message, hint)

    def warn(self, at: Node | Place, message: str) -> None:
        place = at if isinstance(at, Place) else at.place
        self.warnings.append(Problem(place, message))

    def fields(self, node: Node, section: Section) -> Fields:
        """The values of a mapping by the names of the table; unknown and missing keys are reported.

        A key that is plainly misspelt is reported, and read as what it is meant to be: what follows from its absence
        is no mistake of its own.
        """
        if not isinstance(node, MappingNode):
            keys = ", ".join(key.name for key in section.keys[:4])
            self.problem(node, f"{section.title} is {kind_of(node)}, not a mapping", f"Write it as keys: {keys}, …")
            return {}
        reading = read_keys(node, section)
        for problem in reading.problems:
            self.problems.append(problem)
        for key in section.keys:
            if key.required and key.name not in reading.fields:
                self.problem(node, f"{section.title} lacks `{key.name}`", f"Add `{key.name}:`. {key.says}")
        return reading.fields

    def text(self, node: Node | None, key: str, default: str = "") -> str:
        """The source text of a scalar: `1.10` stays "1.10"."""
        if node is None:
            return default
        if not isinstance(node, Scalar) or node.is_null:
            self.problem(node, f"`{key}` must be text, and this is {kind_of(node)}", text_edit(node, key))
            return meant.text(node) or default
        if "\0" in node.text:
            self.problem(node, f"`{key}` holds a NUL character, which no program can be given", "Remove it.")
            return default
        return node.text

    def texts(self, node: Node | None, key: str, *, are_paths: bool = False) -> list[Scalar]:
        """The items of a list of texts."""
        return [item for item in self.items(node, key, are_paths=are_paths) if self._is_text(item, key)]

    def items(self, node: Node | None, key: str, *, are_paths: bool = False) -> tuple[Node, ...]:
        """The items of a list of anything; an empty value is an empty list. What is meant by a text is read as well."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return ()
        if isinstance(node, SequenceNode):
            return node.items
        found = meant.items(node, whole=self._is_path if are_paths else lambda text: False)
        hint = f"Write `{key}: [{', '.join(map(flow_of, found))}]`."
        self.problem(node, f"`{key}` must be a list, and this is {kind_of(node)}", hint)
        return found

    def entries(self, node: Node | None, key: str, section: Section) -> tuple[Node, ...]:
        """The items of a list of mappings. One that is written without the list is read as if it stood in one."""
        if node is None or isinstance(node, SequenceNode) or (isinstance(node, Scalar) and node.is_null):
            return () if node is None or isinstance(node, Scalar) else node.items
        message = f"`{key}` must be a list, and this is {kind_of(node)}"
        if isinstance(node, Scalar) or not node.entries:
            self.problem(node, message, f"Write `- {section.keys[0].name}: …` beneath it, or remove it.")
            return ()
        first = node.entries[0]
        if any(section.find(entry.key.text) for entry in node.entries):
            shown = flow_of(node)
            hint = f"Put `- ` before `{first.key.text}`, and two more blanks before its other keys."
            self.problem(node, message, f"Write `{key}: [{shown}]`." if node.place != first.key.place else hint)
            return (node,)
        return self._named_entries(node, key, message)

    def _named_entries(self, node: MappingNode, key: str, message: str) -> tuple[Node, ...]:
        """The entries of a mapping whose keys are the names that belong into the entries."""
        first, *others = [entry.key.text for entry in node.entries]
        more = f"; likewise {', '.join(f'`{one}`' for one in others)}." if others else "."
        hint = f"Write `- name: {first}` in place of `{first}:`, with its keys beneath `name`{more}"
        self.problem(node, message, hint)
        return tuple(with_name(entry) for entry in node.entries)

    def boolean(self, node: Node | None, key: str, default: bool = False) -> bool:
        if node is None:
            return default
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool):
            return value
        given = meant.boolean(node)
        choice = "Write `{0}: true` or `{0}: false`." if given is None else "Write `{0}: {1}`."
        self.problem(node, f"`{key}` must be `true` or `false`", choice.format(key, "true" if given else "false"))
        return default if given is None else given

    def integer(self, node: Node | None, key: str, least: int, most: int) -> int | None:
        value = self.number(node, key, least, most)
        if value is None or value == int(value):
            return None if value is None else int(value)
        if node is not None:
            self.problem(node, f"`{key}` must be a whole number", f"Write `{key}: {round(value)}`.")
        return None

    def number(self, node: Node | None, key: str, least: float, most: float) -> float | None:
        if node is None:
            return None
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            given = meant.number(node)
            hint = f"Write `{key}: {within(given, least, most)}`." if given is not None else number_edit(key, least)
            self.problem(node, f"`{key}` must be a number, and this is {kind_of(node)}", hint)
        elif not least <= value <= most:
            hint = f"Write `{key}: {within(value, least, most)}`."
            self.problem(node, f"`{key}` must be between {least:,} and {most:,}", hint)
        else:
            return value
        return None

    def choice(
        self,
        node: Node | None,
        key: str,
        choices: Iterable[str],
        default: str,
        *,
        choices_meant: Mapping[str, str] | None = None,
        otherwise: str = "",
    ) -> str:
        """One of the texts. `choices_meant` are other words for them; `otherwise` is the edit if none is near."""
        allowed = tuple(choices)
        text = self.text(node, key, default)
        if text in allowed or node is None:
            return text
        message = f"`{key}` must be one of {', '.join(allowed)}, and this is `{text}`"
        near = choices_meant.get(text.strip().lower(), "") if choices_meant else ""
        near = near or nearest(text, allowed)
        self.problem(node, message, f"Write `{key}: {near}`." if near else otherwise)
        return near or default

    def seconds(self, node: Node | None, key: str, default: float) -> float:
        return self._amount(node, key, default, quantities.seconds, time_edit)

    def size(self, node: Node | None, key: str, default: int) -> int:
        return self._amount(node, key, default, quantities.size, size_edit)

    def expanded(self, node: Node | None, key: str, *, has_dollars: bool = False) -> tuple[str, tuple[str, ...]]:
        """A text with its variables filled in, and their names. `has_dollars` says that `$NAME` may stand as it is."""
        text = self.text(node, key) if has_dollars else self.text_with_braces(node, key)
        result = expand(text, self.environ)
        if result.wrong and node is not None:
            self.problem(node, f"`{key}`: {result.wrong}", result.hint)
        if "\0" in result.text and node is not None:
            self.problem(node, f"`{key}`: a variable in it holds a NUL character")
        return result.text, result.variables

    def text_with_braces(self, node: Node | None, key: str) -> str:
        """A text of a place where `$NAME` surely is a variable: it is reported, and read as `${NAME}`."""
        text = self.text(node, key)
        names = names_without_braces(text)
        if not names or not isinstance(node, Scalar):
            return text
        mended = with_braces(text)
        may_show = node.plain and (key != "api_key" or text == f"${names[0]}")
        edit = quoted(mended) if may_show else shown_names(names, braces=True)
        message = f"`{key}`: without braces, nothing is filled in for {shown_names(names, braces=False)}"
        self.problem(node, message, f"Write {edit}.")
        return mended

    def _warn_of_dollars(self, node: Node, key: str) -> None:
        """`$NAME` in a text that may hold one. In small letters it is rather a piece of a password."""
        names = names_without_braces(node.text) if isinstance(node, Scalar) else ()
        likely = [name for name in names if name == name.upper() or name in (self.environ or ())]
        if likely:
            message = f"`{key}`: without braces, nothing is filled in for {shown_names(likely, braces=False)}"
            self.warn(node, f"{message}; write {shown_names(likely, braces=True)} if that is meant")

    def mapping(self, node: Node | None, key: str) -> dict[str, Node]:
        """The values of a mapping with free keys; an empty value is an empty mapping."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return {}
        if not isinstance(node, MappingNode):
            found = meant.mapping(node)
            hint = f"Write `{key}: {shown_mapping(found)}`." if found else f"Write `{key}: {{NAME: value}}`."
            self.problem(node, f"`{key}` must be a mapping, and this is {kind_of(node)}", hint)
            node = found or MappingNode(node.place, ())
        return {entry.key.text: entry.value for entry in node.entries}

    def expanded_map(self, node: Node | None, key: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """`env` or `headers`: texts with their variables filled in, and the names of those."""
        texts: dict[str, str] = {}
        variables: list[str] = []
        for name, value in self.mapping(node, key).items():
            if not name or "\0" in name or (key == "env" and "=" in name):
                self.problem(value, f"`{name}` cannot be the name of a variable or header")
            text, used = self.expanded(value, f"{key}.{name}", has_dollars=True)
            self._warn_of_dollars(value, f"{key}.{name}")
            texts[name] = expand_home(text, self.environ) if key == "env" else text
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

    def _amount(
        self,
        node: Node | None,
        key: str,
        default: _Amount,
        parse: Callable[[object], _Amount],
        edit: Callable[[str, Node], str],
    ) -> _Amount:
        if node is None:
            return default
        try:
            return parse(node.value if isinstance(node, Scalar) else None)
        except ValueError as error:
            written = node.text if isinstance(node, Scalar) else kind_of(node)
            self.problem(node, f"`{key}: {written}` {error}", edit(key, node))
            return default

    def _is_path(self, text: str) -> bool:
        """Whether a text with blanks in it is the path of something that is there."""
        return self.environ is not None and self.absolute(text).exists()

    def _is_text(self, item: Node, key: str) -> TypeGuard[Scalar]:
        if not isinstance(item, Scalar):
            text = meant.text(item)
            hint = f"Write {quoted(text)} in its place." if text else "Write a text in its place, or remove it."
            self.problem(item, f"an entry of `{key}` must be text, and this is {kind_of(item)}", hint)
        elif item.is_null:
            self.problem(item, f"an entry of `{key}` is empty", 'Write `""` for an empty text, or remove it.')
        elif "\0" in item.text:
            hint = "Remove the `\\0`."
            self.problem(item, f"an entry of `{key}` holds a NUL character, which no program can be given", hint)
        else:
            return True
        return False
