"""Reads `command`, `stdin`, `env` and `cwd` of a tool entry."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from mm.config import meant
from mm.config.flow import flow, flow_of, quoted
from mm.config.keys import FLAG
from mm.config.near import did_you_mean, nearest
from mm.config.nodes import Entry, MappingNode, Node, Scalar, SequenceNode, kind_of, scalars
from mm.config.reader import Fields, Reader
from mm.config.schema import CommandTool, Flag, Group, Place, Slot, Template
from mm.config.templates import parse_template, placeholders

_JSON_WORDS = frozenset({"true", "yes", "on", "json", "all", "object", "arguments", "args", "parameters", "params"})
_COMMAND_WORDS = frozenset(
    {"program", "command", "cmd", "exec", "executable", "path", "run", "script", "args", "arguments", "argv"}
)

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
        self.written: list[Scalar] = []
        self.named: tuple[str, ...] = ()

    def read(self, fields: Fields, allow_dash: frozenset[str]) -> CommandTool:
        """The entry as data; what is wrong is reported."""
        command = fields["command"]
        self.named = _named(fields)
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
        if isinstance(command, Scalar) and not command.is_null and command.text:
            words = _words(command)
            hint = f"Write each argument as its own entry: command: [{', '.join(map(flow_of, words))}]"
            self.reader.problem(command, "`command` must be a list: it is run without a shell", hint)
            return words
        if isinstance(command, MappingNode):
            found = _flattened(command)
            hint = f"Write `command: [{', '.join(map(flow_of, found))}]`."
            self.reader.problem(command, "`command` must be a list, and this is a mapping", hint)
            return found
        items = self.reader.items(command, "command") if isinstance(command, SequenceNode) else ()
        if not items:
            self.reader.problem(command, "`command` is empty", "Write the program first: command: [./script.sh]")
        return items

    def _program(self, node: Node) -> str:
        if not isinstance(node, Scalar) or node.is_null:
            inner = ", ".join(map(flow_of, scalars(node)))
            hint = f"Write `{inner}`, without the brackets." if inner else "Write the program: command: [./script.sh]"
            self.reader.problem(node, f"the program must be text, and this is {kind_of(node)}", hint)
            self.used.update(name for one in scalars(node) for name in placeholders(one.text))
            return ""
        template, mistakes = parse_template(node.text, self.types)
        if template.slots or mistakes or placeholders(node.text):
            self.used.update(template.slots)
            hint = "Write the program's name first; a value may only stand in its arguments."
            if " " in node.text and not placeholders(node.text.split()[0]):
                words = ", ".join(flow_of(word) for word in _words(node))
                hint = f"Write each argument as its own entry: {words}"
            self.reader.problem(node, "the program may not hold a placeholder", hint)
            return ""
        return self.reader.program(node, "command")

    def _entries(self, items: Iterable[Node]) -> Iterable[Template | Group | Flag]:
        for item in items:
            if isinstance(item, Scalar):
                yield self._entry(item)
            elif isinstance(item, SequenceNode):
                yield self._group(item)
            elif len(item.entries) == 1 and FLAG.find(item.entries[0].key.text) is None:
                yield self._unquoted(item, item.entries[0])
            else:
                yield self._flag(item)

    def _unquoted(self, node: MappingNode, entry: Entry) -> Template | Group | Flag:
        """A text that YAML reads as a mapping, such as `--month: {{month}}`, `Accept: text/plain` or `{month}`."""
        key, value = entry.key.text, entry.value
        if not isinstance(value, Scalar) or nearest(key, [one.name for one in FLAG.keys]):
            return self._flag(node)
        message = "an entry of `command` must be text, and this is a mapping"
        if key.startswith("-") and value.text:
            pieces = [flow(key), flow(value.text)]
            hint = f"Write it as a group: [{', '.join(pieces)}]" if "{{" in value.text else f"Write {', '.join(pieces)}"
            self.reader.problem(node, message, hint)
            return Group((self._entry(Scalar(node.place, key)), self._entry(Scalar(node.place, value.text))))
        if value.is_null and key in self.types:
            hint = f"Write {flow(f'{{{{{key}}}}}')}."
            self.reader.problem(node, f"`{{{key}}}` is no placeholder, and YAML reads it as a mapping", hint)
            self.used.add(key)
            return Template((Slot(key),), node.place)
        text = f"{{{key}}}" if value.is_null and node.is_flow else f"{key}: {value.text}".rstrip(" ")
        self.reader.problem(node, message, f"Write it in quotes: {quoted(text)}")
        return self._entry(Scalar(node.place, text))

    def _entry(self, node: Scalar) -> Template:
        if node.is_null:
            self.reader.problem(node, "an entry of `command` is empty", 'Write `""` for an empty argument.')
        if "\0" in node.text:
            self.reader.problem(node, "an entry of `command` holds a NUL character, which no program can be given")
        template, mistakes = parse_template(
            node.text, placeholders(node.text) if self.any_name else self.types, self.named
        )
        for mistake in mistakes:
            self.reader.problem(node, mistake.message, mistake.hint)
            self.used.update(name for name in self.types if name in node.text)
        self.used.update(template.slots)
        self.written.append(node)
        self._one_list(node, template.slots)
        return Template(template.pieces, node.place)

    def _group(self, node: SequenceNode) -> Group:
        entries = []
        for item in node.items:
            if isinstance(item, Scalar):
                entries.append(self._entry(item))
            else:
                self.reader.problem(item, f"a group holds texts only, and this is {kind_of(item)}", "Take it out.")
        slots = tuple(name for entry in entries for name in entry.slots)
        is_literal = not any(placeholders(one.text) for one in scalars(node))
        if is_literal and not slots and len(entries) == len(node.items):
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
        if isinstance(node, (MappingNode, SequenceNode)):
            hint = "Write `stdin: json`: it hands over all arguments as one JSON object."
            self.reader.problem(node, f"`stdin` must be text, and this is {kind_of(node)}", hint)
            return None, True
        word = node.text.strip().lower()
        if node.text == "json":
            return None, True
        if word in _JSON_WORDS:
            self.reader.problem(node, f"`stdin: {node.text}` is neither `json` nor a template", "Write `stdin: json`.")
            return None, True
        if word in meant.NOTHING or not word:
            message = f"`stdin: {node.text}` is neither `json` nor a template".replace(": `", "` ")
            self.reader.problem(node, message, "Remove it: without `stdin` the program is given nothing to read.")
            return None, False
        return self._entry(node), False

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
            if name in self.used or name not in self.places:
                continue
            if not self._report_other_braces(name):
                hint = f'Put "{{{{{name}}}}}" into `command`, or remove the parameter.'
                self.reader.problem(self.places[name], f"the parameter `{name}` is used nowhere", hint)

    def _report_other_braces(self, name: str) -> bool:
        """`{month}`, `$month`, `${month}`, `<month>`, `%month%` or the bare name of a parameter that is else unused."""
        other = re.compile(
            rf"\$?\{{\s*{re.escape(name)}\s*\}}|\$\b{re.escape(name)}\b|<{re.escape(name)}>|%{re.escape(name)}%"
        )
        for node in self.written:
            found = other.search(node.text) or (re.fullmatch(re.escape(name), node.text))
            if found:
                mended = f"{node.text[: found.start()]}{{{{{name}}}}}{node.text[found.end() :]}"
                self.reader.problem(node, f"`{found.group()}` is no placeholder of mm", f"Write {quoted(mended)}.")
                return True
        return False


def _named(fields: Fields) -> tuple[str, ...]:
    """The names of all placeholders, each once."""
    texts = (text for key in ("command", "stdin") if key in fields for text in scalars(fields[key]))
    return tuple(dict.fromkeys(name for text in texts for name in placeholders(text.text)))


def _words(command: Scalar) -> tuple[Scalar, ...]:
    try:
        words = shlex.split(command.text)
    except ValueError:
        words = command.text.split()
    return tuple(Scalar(command.place, word) for word in words)


def _flattened(command: MappingNode) -> tuple[Node, ...]:
    """`{program: ./x.sh, args: [a, b]}` as the list that is meant."""
    found: list[Node] = []
    for entry in command.entries:
        if entry.key.text.lower() not in _COMMAND_WORDS:
            found.append(entry.key)
        if isinstance(entry.value, SequenceNode):
            found += entry.value.items
        elif not isinstance(entry.value, Scalar) or entry.value.text:
            found.append(entry.value)
    return tuple(found)
