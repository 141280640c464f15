"""What the shell is offered behind a Tab: tools, parameters, models, sessions. Starts nothing, and is never an error.

An agent file that is only found is read for its names and for nothing else: no variable is expanded, no path is
looked at, and only what can be a tool's name leaves it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mm.errors import MMError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from mm.config.nodes import Node

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_MOST_SESSIONS = 50


def complete_tool(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The tools of the agent file of this line: declared ones, and built-in ones that are on."""
    return _items(_offered(lambda: ((name, "") for name in _tool_names(context))), incomplete)


def complete_values(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`KEY=` for each parameter of the tool of this line that has no value yet."""
    given = {value.partition("=")[0] for value in context.params.get("values") or ()}
    open_keys = [pair for pair in _offered(lambda: _keys(context)) if pair[0].removesuffix("=") not in given]
    return _items([pair for pair in open_keys if pair[0] != incomplete], incomplete)


def complete_weights(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The models whose weights mm can fetch."""
    return _items(_offered(_weights), incomplete)


def complete_model(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What `-m` takes: the models whose weights are here, then the providers."""
    return _items(_offered(_models), incomplete)


def complete_session(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids of the latest sessions, of all folders."""
    return _items(_offered(_sessions), incomplete)


def complete_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, which the shell knows best."""
    return _by_shell(incomplete, "file")


def complete_folder(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Folders, which the shell knows best."""
    return _by_shell(incomplete, "dir")


def _offered(find: Callable[[], Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
    """What there is to offer: nothing where it cannot be read."""
    try:
        return list(find())
    except (MMError, OSError, ValueError, RecursionError):
        return []


def _items(offered: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    found = dict.fromkeys(pair for pair in offered if pair[0].startswith(incomplete))
    return [CompletionItem(value, help=says or None) for value, says in found]


def _by_shell(incomplete: str, kind: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type=kind)]


def _tree(context: click.Context) -> Node | None:
    """The agent file of this line as it is written; None if there is none."""
    from mm.config.find import find
    from mm.config.source import decode, read_bytes
    from mm.config.yaml_tree import read_tree
    from mm.folders import with_home

    named = context.params.get("agent_file") or context.find_root().params.get("agent_file")
    start = context.find_root().params.get("cwd") or "."
    found = with_home(named) if named else getattr(find(Path(start), os.environ), "path", None)
    return read_tree(found, decode(found, read_bytes(found)))[0] if found else None


def _items_of(tree: Node | None, key: str) -> tuple[Node, ...]:
    from mm.config.nodes import MappingNode, SequenceNode

    listed = tree.find(key) if isinstance(tree, MappingNode) else None
    return listed.items if isinstance(listed, SequenceNode) else ()


def _tool_names(context: click.Context) -> Iterator[str]:
    from mm.config.nodes import MappingNode

    tree = _tree(context)
    for entry in _items_of(tree, "tools"):
        yield from _name(entry.find("name") if isinstance(entry, MappingNode) else None)
    yield from _builtins(tree)


def _builtins(tree: Node | None) -> Iterator[str]:
    """The built-in tools that are on."""
    from mm.config.nodes import MappingNode
    from mm.config.schema import DEFAULT_BUILTINS

    if tree is None or (isinstance(tree, MappingNode) and tree.find("builtins") is None):
        yield from DEFAULT_BUILTINS
    for item in _items_of(tree, "builtins"):
        yield from _name(item)
    if _items_of(tree, "skills"):
        yield "read_skill"


def _keys(context: click.Context) -> Iterator[tuple[str, str]]:
    """The parameters of the tool of this line. Those of an MCP server's tool only the server knows."""
    tree, name = _tree(context), context.params.get("name")
    yield from _declared_keys(tree, name)
    on = tuple(dict.fromkeys(_builtins(tree)))
    if name in on:
        yield from _builtin_keys(name, on)


def _builtin_keys(name: str, on: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The parameters of a built-in tool, made as a run makes it, but without anything of the agent file."""
    from mm.app.toolbox import Toolbox
    from mm.config.schema import Config
    from mm.tools.builtins.skills import skill_tools
    from mm.tools.places import Places
    from mm.tools.skills import Skill

    cwd = Path.cwd()
    toolbox = Toolbox(
        Config(file=None, folder=cwd, builtins=on),
        cwd,
        places=lambda: Places(cwd),
        environment={},
        person=None,
        search=lambda words, limit: "",
        warn=lambda text: None,
    )
    made = toolbox.builtins(None)
    if name == "read_skill":  # made only where there are skills, and those are not looked for here
        made += skill_tools([Skill(name, "", cwd, cwd, "")])
    for builtin in made:
        if builtin.name == name:
            yield from ((f"{key}=", "") for key in builtin.parameters.get("properties", {}))


def _declared_keys(tree: Node | None, name: str | None) -> Iterator[tuple[str, str]]:
    """The parameters of a declared tool, in the short form or in a whole JSON Schema."""
    from mm.config.nodes import MappingNode, Scalar

    for entry in _items_of(tree, "tools"):
        if not isinstance(entry, MappingNode) or [*_name(entry.find("name"))] != [name]:
            continue
        parameters = entry.find("parameters")
        if not isinstance(parameters, MappingNode):
            continue
        if isinstance(parameters.find("type"), Scalar):
            parameters = parameters.find("properties")
        for parameter in parameters.entries if isinstance(parameters, MappingNode) else ():
            yield from ((f"{name}=", "") for name in _name(parameter.key))


def _name(node: Node | None) -> Iterator[str]:
    """The text of a node, if a tool can be called so: nothing else may reach the shell."""
    from mm.config.nodes import Scalar
    from mm.config.tools_section import is_name

    if isinstance(node, Scalar) and is_name(node.text):
        yield node.text


def _weights() -> Iterator[tuple[str, str]]:
    from mm.models.weights import catalogue

    return ((name, f"{known.bytes / 1e6:,.0f} MB") for name, known in catalogue().items())


def _models() -> Iterator[tuple[str, str]]:
    from mm import folders
    from mm.models.providers import PROVIDERS
    from mm.models.weights import present

    if (folders.own_folders()[1] / "models").is_dir():
        yield from ((f"local:{name}", "its weights are here") for name in present())
    yield from ((f"{provider}:", "") for provider in PROVIDERS if provider not in ("local", "scripted"))


def _sessions() -> Iterator[tuple[str, str]]:
    from mm import folders
    from mm.session.store import Store, default_path
    from mm.visible import make_visible_line

    if not (folders.own_folders()[1] / "sessions.db").is_file():
        return
    store = Store(default_path())
    try:
        for session in store.sessions(limit=_MOST_SESSIONS):
            yield session.id, make_visible_line(session.title)[:60]
    finally:
        store.close()
