"""Reads `command`, `stdin`, `env` and `cwd` of a tool entry."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from mm.config.keys import FLAG
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of, scalars
from mm.config.reader import Fields, Reader, did_you_mean
from mm.config.schema import CommandTool, Flag, Group, Place, Template
from mm.config.templates import parse_template, placeholders

Types = Mapping[str, str]
"""Parameter names and their JSON types; "" where the schema does not say one type."""


class CommandReader:
    """Reads one command entry. `types` are its declared parameters, `places` where each of them stands.

    With `any_name` every name counts as declared: something is wrong with the parameters as a whole.
    """

    def __init__(self, reader: Reader, types: Types, places: Mapping[str, Place], *, any_name: bool = False) -> None:
        self.reader = reader
        self.types = types
        self.places = places
        self.any_name = any_name
        self.used: set[str] = set()

    def read(self, fields: Fields, allow_dash: frozenset[str]) -> CommandTool:
        """The entry as data; what is wrong is reported."""
        command = fields["command"]
        items = self._items(command)
        env, _ = self.reader.expanded_map(fields.get("env"), "env")
        self._no_placeholders(fields)
        stdin, stdin_json = self._stdin(fields.get("stdin"))
        tool = CommandTool(
            program=self._program(items[0]) if items else "",
            arguments=tuple(self._entries(items[1:])),
            stdin=stdin,
            stdin_json=stdin_json,
            env=env,
            cwd=self.reader.path(fields.get("cwd"), "cwd"),
            timeout=self.reader.seconds(fields.get("timeout"), "timeout", 60.0),
            allow_dash=allow_dash,
        )
        self._check_use(stdin_json)
        return tool

    def _items(self, command: Node) -> tuple[Node, ...]:
        if isinstance(command, Scalar) and not command.is_null:
            hint = f"Write each argument as its own entry: command: [{_split(command.text)}]"
            self.reader.problem(command, "`command` must be a list: it is run without a shell", hint)
            self._entry(command)
            return ()
        items = self.reader.items(command, "command")
        if not items and isinstance(command, (SequenceNode, Scalar)):
            self.reader.problem(command, "`command` is empty", "Write the program first: command: [./script.sh]")
        return items

    def _program(self, node: Node) -> str:
        if not isinstance(node, Scalar) or node.is_null:
            self.reader.problem(node, f"the program must be text, and this is {kind_of(node)}")
            return ""
        template, _ = parse_template(node.text, self.types)
        if template.slots or placeholders(node.text):
            self.used.update(template.slots)
            hint = "Write the program's name first; a value may only stand in its arguments."
            self.reader.problem(node, "the program may not hold a placeholder", hint)
            return ""
        return self.reader.program(node, "command")

    def _entries(self, items: Iterable[Node]) -> Iterable[Template | Group | Flag]:
        for item in items:
            if isinstance(item, Scalar):
                yield self._entry(item)
            elif isinstance(item, SequenceNode):
                yield self._group(item)
            else:
                yield self._flag(item)

    def _entry(self, node: Scalar) -> Template:
        if node.is_null:
            self.reader.problem(node, "an entry of `command` is empty", 'Write `""` for an empty argument.')
        if "\0" in node.text:
            self.reader.problem(node, "an entry of `command` holds a NUL character, which no program can be given")
        template, mistakes = parse_template(node.text, placeholders(node.text) if self.any_name else self.types)
        for mistake in mistakes:
            self.reader.problem(node, mistake.message, mistake.hint)
            self.used.update(name for name in self.types if name in node.text)
        self.used.update(template.slots)
        self._one_list(node, template.slots)
        return template

    def _group(self, node: SequenceNode) -> Group:
        entries = []
        for item in node.items:
            if isinstance(item, Scalar):
                entries.append(self._entry(item))
            else:
                self.reader.problem(item, f"a group holds texts only, and this is {kind_of(item)}", "Take it out.")
        slots = tuple(name for entry in entries for name in entry.slots)
        if not slots and len(entries) == len(node.items):
            hint = "Write its entries directly into `command`, or put a `{{x}}` into it."
            self.reader.problem(node, "a group without a placeholder is never dropped or repeated", hint)
        self._one_list(node, slots)
        return Group(tuple(entries))

    def _flag(self, node: MappingNode) -> Flag:
        fields = self.reader.fields(node, FLAG)
        text = self.reader.text(fields.get("flag"), "flag")
        when = self.reader.text(fields.get("when"), "when")
        if "flag" in fields and placeholders(text):
            self.reader.problem(fields["flag"], "a flag is a literal text", "Use a group for a value: [--x, {{x}}]")
        if not when or self.any_name:
            pass
        elif when not in self.types:
            hint = did_you_mean(when, self.types) or f"Add `{when}:` to `parameters`."
            self.reader.problem(fields["when"], f"`when: {when}` is not a parameter", hint)
        elif self.types[when] != "boolean":
            hint = f"Give `{when}` the type `boolean`."
            self.reader.problem(fields["when"], f"`when: {when}` is not a boolean parameter", hint)
        self.used.add(when)
        return Flag(text, when)

    def _stdin(self, node: Node | None) -> tuple[Template | None, bool]:
        if node is None:
            return None, False
        text = self.reader.text(node, "stdin")
        if text == "json":
            return None, True
        return (self._entry(node), False) if isinstance(node, Scalar) and text else (None, False)

    def _one_list(self, node: Node, slots: Iterable[str]) -> None:
        lists = sorted({name for name in slots if self.types.get(name) == "array"})
        if len(lists) > 1:
            names = " and ".join(f"`{name}`" for name in lists)
            hint = "Repeating is only clear for one list: give each its own entry."
            self.reader.problem(node, f"two lists stand together: {names}", hint)

    def _no_placeholders(self, fields: Fields) -> None:
        for node in (text for key in ("env", "cwd") if key in fields for text in scalars(fields[key])):
            for name in placeholders(node.text):
                self.used.add(name)
                message = f"`{{{{{name}}}}}` stands in `env` or `cwd`: a value may only reach `command` and `stdin`"
                self.reader.problem(node, message, "Pass it as an argument, or with `stdin: json`.")

    def _check_use(self, stdin_json: bool) -> None:
        for name in self.types if not stdin_json else ():
            if name not in self.used:
                hint = f'Put "{{{{{name}}}}}" into `command`, or remove the parameter.'
                self.reader.problem(self.places[name], f"the parameter `{name}` is used nowhere", hint)


def _split(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return ", ".join(f'"{word}"' if set(word) & set("{}[],:#&*!|>'\"%@` ") else word for word in words)
