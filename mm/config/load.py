"""Turns an agent file into a `Config`, or into the list of everything that is wrong in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mm.config import meant
from mm.config.flow import quoted
from mm.config.hooks_section import read_hooks
from mm.config.identity import identity
from mm.config.instructions import read_instructions
from mm.config.keys import ROOT
from mm.config.model_section import read_model
from mm.config.nodes import MappingNode, Node, Scalar, SequenceNode, kind_of
from mm.config.permissions_section import check_tool_name, read_permissions
from mm.config.problems import ConfigProblems, Problem, unreadable
from mm.config.protected import check_write_grants
from mm.config.reader import Fields, Reader
from mm.config.schema import BUILTIN_NAMES, DEFAULT_BUILTINS, PLANNED_NAMES, Config
from mm.config.servers_section import read_servers
from mm.config.source import decode, read_bytes
from mm.config.tools_section import read_tools
from mm.config.yaml_tree import read_tree


def load(path: Path, *, environ: Mapping[str, str]) -> Config:
    """The agent that a file describes. Nothing is started, and nothing but the files it names is looked at.

    Raises ConfigProblems with every problem of the file, UsageError if there is no file to read.
    """
    return _sound(examine(path, environ=environ))


def preview(path: Path) -> Config:
    """The same with `~` and `${VAR}` as written: what may be shown of a file that is not trusted yet."""
    return _sound(examine(path, environ=None))


@dataclass(frozen=True, slots=True)
class Examined:
    """What could be read of a file, and what is wrong in it. With problems, `config` is only good for looking on.

    It is None where nothing of the file can be read. `warnings` are those of `config`, with their places.
    """

    config: Config | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()


def examine(path: Path, *, environ: Mapping[str, str] | None) -> Examined:
    """The same with what is wrong beside it, so that more can be found. Raises UsageError if there is no file."""
    try:
        return _read(path, environ)
    except ConfigProblems as unreadable:
        return Examined(None, unreadable.problems)


def _sound(examined: Examined) -> Config:
    if examined.problems or examined.config is None:
        raise ConfigProblems(examined.problems)
    return examined.config


def _read(path: Path, environ: Mapping[str, str] | None) -> Examined:
    data = read_bytes(path)
    tree, problems, warnings = read_tree(path, decode(path, data))
    if not isinstance(tree, MappingNode):
        place = tree.place
        hint = "Start with `name: …`, or write a file with: mm init"
        raise unreadable(path, f"the file is {kind_of(tree)}, not keys", hint, line=place.line, column=place.column)
    reader = Reader(path, environ)
    reader.problems += problems
    reader.warnings += warnings
    config = _config(reader, reader.fields(tree, ROOT))
    config = replace(config, digest=hashlib.sha256(data).hexdigest(), warnings=tuple(map(str, reader.warnings)))
    return Examined(config, tuple(reader.problems), tuple(reader.warnings))


def _config(reader: Reader, fields: Fields) -> Config:
    tools = read_tools(reader, fields.get("tools"))
    servers = read_servers(reader, fields.get("mcpServers"))
    model = read_model(reader, fields.get("model"))
    known = tuple(dict.fromkeys((*BUILTIN_NAMES, *tools.names)))
    skills = _skills(reader, fields.get("skills"))
    instructions, files = read_instructions(reader, fields)
    defaults = Config(None, reader.folder)
    config = Config(
        file=identity(reader.file),
        folder=reader.folder,
        name=_name(reader, fields.get("name"), defaults.name),
        model=model,
        instructions=instructions,
        instructions_files=files,
        builtins=_builtins(reader, fields.get("builtins"), bool(skills)),
        yolo=reader.boolean(fields.get("yolo"), "yolo"),
        permissions=read_permissions(reader, fields.get("permissions"), known, servers),
        env_pass=_variables(reader, fields.get("env_pass")),
        hooks=read_hooks(reader, fields.get("hooks"), known, bool(servers)),
        skills=skills,
        mcp_servers=servers,
        tools=tools.entries,
        output_limit=reader.integer(fields.get("output_limit"), "output_limit", 1_000, 1_000_000)
        or defaults.output_limit,
        max_rounds=reader.integer(fields.get("max_rounds"), "max_rounds", 1, 1_000) or defaults.max_rounds,
        secret_variables=frozenset(model.key_variables if model else ()),
    )
    check_write_grants(reader, config, tools.grants)
    return config


def _name(reader: Reader, node: Node | None, default: str) -> str:
    name = reader.text(node, "name", default).strip()
    if node is not None and (not name or len(name) > 100 or not name.isprintable()):
        line = "".join(one for one in name.partition("\n")[0] if one.isprintable()).strip()[:100]
        reader.problem(node, "`name` must be one short line", f"Write `name: {quoted(line) if line else 'ops'}`.")
        return default
    return name


def _builtins(reader: Reader, node: Node | None, has_skills: bool) -> tuple[str, ...]:
    """The built-in tools that are on. `read_skill` is there whenever there are skills to read."""
    chosen = dict.fromkeys(DEFAULT_BUILTINS if node is None else ())
    wrong = _builtins_in_words(node)
    if wrong and node is not None:
        reader.problem(node, *wrong)
        return ()
    for item in reader.texts(node, "builtins"):
        if item.text in PLANNED_NAMES:
            reader.problem(item, f"`{item.text}` is planned, and not there yet", "Remove it.")
        elif item.text in chosen:
            reader.problem(item, f"`{item.text}` stands twice in `builtins`", "Remove one.")
        elif check_tool_name(reader, item, "builtins", BUILTIN_NAMES):
            chosen[item.text] = None
            if item.text == "read_skill" and not has_skills:
                reader.warn(item, "`read_skill` is on, and no `skills` are named")
    return tuple(dict.fromkeys((*chosen, *(("read_skill",) if has_skills else ()))))


def _builtins_in_words(node: Node | None) -> tuple[str, str] | None:
    """`builtins:` alone, as where all its items are commented out; `none`, `[none]`, `all`, `true`, `default`.

    Gives message and edit. Nothing alone could mean none of them as well as the default, and the two differ in `bash`.
    """
    if isinstance(node, Scalar) and node.is_null and not node.text.strip():
        defaults = ", ".join(DEFAULT_BUILTINS)
        return "`builtins` has no value", f"Write `builtins: []` for none, or remove it for the default: {defaults}."
    items = node.items if isinstance(node, SequenceNode) else (node,)
    word = items[0].text.strip().lower() if len(items) == 1 and isinstance(items[0], Scalar) else ""
    message = f"`builtins` must be a list of names, and this is `{word}`"
    if word in meant.NOTHING:
        return message, "Write `builtins: []`."
    if word in ("all", "*", "any"):
        return message, f"Write `builtins: [{', '.join(BUILTIN_NAMES)}]`."
    if word in ("default", "defaults", "true", "yes", "on"):
        return message, f"Remove it; or write `builtins: [{', '.join(DEFAULT_BUILTINS)}]`."
    return None


def _skills(reader: Reader, node: Node | None) -> tuple[Path, ...]:
    found = []
    for item in reader.texts(node, "skills", are_paths=True):
        path = reader.path(item, "skills")
        if path is None:
            continue
        if not reader.is_written(item) and not path.is_dir():
            reader.warn(item, f"`skills`: there is no folder `{item.text}`")
        found.append(path)
    return tuple(found)


def _variables(reader: Reader, node: Node | None) -> tuple[str, ...]:
    names: list[str] = []
    for item in reader.texts(node, "env_pass"):
        if not item.text or not _may_name_a_variable(item.text):
            bare = item.text.strip("${} ") or "GH_TOKEN"
            reader.problem(item, f"`{item.text}` cannot be the name of a variable", f"Write the name alone: `{bare}`.")
        else:
            names.append(item.text)
    return tuple(dict.fromkeys(names))


def _may_name_a_variable(text: str) -> bool:
    return text.isascii() and text.replace("_", "a").isalnum() and not text[0].isdigit()
