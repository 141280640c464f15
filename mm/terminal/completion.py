"""Completion of `/commands` at the start of a message, of what follows some, and of `@files` anywhere in it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from mm.folders import with_home
from mm.terminal.commands.table import COMMANDS
from mm.visible import make_visible_line

_MOST = 100
_ROOM_FOR_HELP = 50  # columns
_ARGUMENT = re.compile(r"/(?P<command>\w+) +(?P<typed>\S*)")
_MENTION = re.compile(r'(?<!\S)@("?)([^\s"]*)$')


Choices: TypeAlias = Callable[[str], Sequence[tuple[str, str]]]
"""What can follow the command of this name, each with its meaning."""


class ChatCompleter(Completer):
    """Completes names of commands, what `choices` says can follow them, and paths of files."""

    def __init__(self, choices: Choices = lambda command: ()) -> None:
        self._choices = choices

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and " " not in before and "\n" not in before:
            yield from _commands(before)
            return
        argument = _ARGUMENT.fullmatch(before)
        if argument:
            yield from _arguments(argument["typed"], self._choices(argument["command"]))
            return
        mention = _MENTION.search(before)
        if mention:
            yield from _paths(mention.group(2), quoted=bool(mention.group(1)))


def _commands(typed: str) -> Iterator[Completion]:
    """Each command once: by its name or, after those, by another name that it has."""
    found: list[tuple[bool, str, str]] = []
    for command in COMMANDS:
        names = [name for name in (command.name, *command.aliases) if f"/{name}".startswith(typed)]
        found += [(names[0] != command.name, names[0], command.help)] if names else []
    has_room = get_app().output.get_size().columns >= _ROOM_FOR_HELP
    for _, name, meaning in sorted(found, key=lambda item: item[0]):
        yield Completion(f"/{name}", start_position=-len(typed), display_meta=meaning if has_room else "")


def _arguments(typed: str, choices: Sequence[tuple[str, str]]) -> Iterator[Completion]:
    for value, meaning in choices:
        if value.startswith(typed):
            yield Completion(value, start_position=-len(typed), display_meta=make_visible_line(meaning))


def _paths(typed: str, *, quoted: bool) -> Iterator[Completion]:
    """Files and folders that begin with what was typed; hidden ones only if a dot was typed."""
    folder, _, start = typed.rpartition("/")
    root = with_home(f"{folder}/" if "/" in typed else ".")
    try:
        with os.scandir(root) as entries:
            found = sorted((entry.name, entry.is_dir()) for entry in entries if entry.name.startswith(start))
    except OSError:
        return
    fitting = [item for item in found if start.startswith(".") or not item[0].startswith(".")]
    for name, is_folder in fitting[:_MOST]:
        if not name.isprintable() or '"' in name:
            continue
        whole = f"{folder}/{name}" if "/" in typed else name
        text = whole + ("/" if is_folder else "")
        display = make_visible_line(name) + ("/" if is_folder else "")
        if " " in whole and not quoted:
            yield Completion(f'"{text}', start_position=-len(typed), display=display)
        else:
            yield Completion(
                text + ('"' if quoted and not is_folder else ""), start_position=-len(typed), display=display
            )
