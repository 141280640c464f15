"""Reads `wasm`, `read`, `write` and `memory` of a tool entry: the module and the folders it is granted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mm.config.lookups import passes
from mm.config.nodes import Scalar
from mm.config.reader import Fields, Reader
from mm.config.schema import Grant, WasmTool
from mm.visible import make_shell_word

_NAMED = re.compile(r"(.+?):([^:/{}$]*)", re.DOTALL)
_KERNEL = (Path("/proc"), Path("/sys"), Path("/dev"))  # processes' environments and memory, devices
_DEFAULT_MEMORY = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WrittenGrant:
    """A grant, where its links end, and where and how it is written."""

    grant: Grant
    resolved: Path
    node: Scalar


def read_wasm(reader: Reader, fields: Fields) -> tuple[WasmTool, list[WrittenGrant]]:
    """The entry as data, and its grants for the checks that need the whole file."""
    module = reader.path(fields.get("wasm"), "wasm")
    if module is None and isinstance(fields["wasm"], Scalar) and fields["wasm"].is_null:
        reader.problem(fields["wasm"], "`wasm` is empty", "Name a module: wasm: tool.wasm")
    written = [*_grants(reader, fields, "read"), *_grants(reader, fields, "write")]
    _check_names(reader, written)
    _check_overlaps(reader, written)
    tool = WasmTool(
        module=module or reader.folder,
        grants=tuple(one.grant for one in written),
        memory=reader.size(fields.get("memory"), "memory", _DEFAULT_MEMORY),
        timeout=reader.seconds(fields.get("timeout"), "timeout", 30.0),
    )
    return tool, written


def _grants(reader: Reader, fields: Fields, key: str) -> Iterator[WrittenGrant]:
    for node in reader.texts(fields.get(key), key, are_paths=True):
        known = len(reader.problems)
        text, name = reader.text_with_braces(node, key), ""
        named = _NAMED.fullmatch(text)
        if named:
            text, name = named.groups()
            if name in ("", ".", ".."):
                reader.problem(node, f"`{node.text}` gives the folder no name", f"Write `{text}:docs`, or `{text}`.")
                continue
        folder, _ = reader.expanded(Scalar(node.place, text), key)
        if len(reader.problems) > known:
            continue
        if not folder.strip():
            reader.problem(node, f"a folder of `{key}` is empty", f"Name one: `{key}: [notes]`, or remove it.")
        else:
            found = _found(reader, node, key, reader.absolute(folder), text)
            if found is not None:
                yield from _named(reader, node, found, name, writable=key == "write")


def _found(reader: Reader, node: Scalar, key: str, path: Path, text: str) -> Path | None:
    """The folder itself; None, with a problem, if it is not one."""
    if reader.is_written(node):
        return path
    try:
        if path.is_dir():
            return path
        exists = path.exists()
    except (OSError, ValueError):
        exists = False
    if exists:
        hint = f"Grant its folder: `{Path(text).parent}`."
        reader.problem(node, f"`{key}`: `{text}` is a file, and a grant is a folder", hint)
    else:
        hint = f"Make it (`mkdir -p {_typed(text)}` in the folder of the agent file), or mend the path."
        reader.problem(node, f"`{key}`: there is no folder `{text}`", hint)
    return None


def _typed(text: str) -> str:
    """A path as one word for a shell, which fills in `~` and variables itself: their values are not shown."""
    if "${" in text:
        return f'"{text}"'
    home = "~/" if text.startswith("~/") else ""
    return home + make_shell_word(text.removeprefix(home))


def _named(reader: Reader, node: Scalar, folder: Path, name: str, *, writable: bool) -> Iterator[WrittenGrant]:
    resolved = Path(os.path.realpath(folder))
    name = name or resolved.name
    if not name or not name.isprintable():
        reader.problem(node, f"`{node.text}` has no name that a module could use", f"Name it: `{node.text}:files`.")
        return
    for kernel in _KERNEL:
        if is_inside(resolved, kernel) or is_inside(kernel, resolved):
            message = f"`{node.text}` holds `{kernel}`, through which the whole machine can be reached"
            reader.problem(node, message, "Grant a folder of its own for data.")
            return
    yield WrittenGrant(Grant(folder, name, writable, resolved), resolved, node)


def _check_names(reader: Reader, written: Iterable[WrittenGrant]) -> None:
    seen: dict[str, WrittenGrant] = {}
    for one in written:
        first = seen.setdefault(one.grant.name, one)
        if first is not one:
            message = f"`{one.node.text}` is mounted at `/{one.grant.name}`, as is `{first.node.text}`"
            line = f" (line {first.node.place.line})" if first.node.place.line != one.node.place.line else ""
            hint = f"Name one of them: `{one.node.text.partition(':')[0]}:other`."
            if one.resolved == first.resolved:
                hint = "Remove one of them: `write` includes reading."
            reader.problem(one.node, message + line, hint)


def _check_overlaps(reader: Reader, written: list[WrittenGrant]) -> None:
    """Writing into a folder that another grant calls read-only, and folders that are granted twice."""
    for number, one in enumerate(written):
        for other in written[:number]:
            if not (one.grant.writable or other.grant.writable) or one.grant.name == other.grant.name:
                continue
            if is_inside(one.resolved, other.resolved) or is_inside(other.resolved, one.resolved):
                kinds = f"`{_key(other)}: {other.node.text}`", f"`{_key(one)}: {one.node.text}`"
                message = f"{kinds[1]} and {kinds[0]} overlap: one folder lies in the other"
                reader.problem(one.node, message, "Grant folders that lie beside each other.")


def check_between(reader: Reader, granted: Iterable[WrittenGrant], earlier: Iterable[WrittenGrant]) -> None:
    """Report folders of one tool that another may replace: it could put a link there that leads anywhere.

    One folder that is granted to several tools as a whole is fine: no tool can replace its own root.
    """
    others = tuple(earlier)
    for one in granted:
        for other in others:
            if other.grant.writable and passes(one.grant.folder, other.resolved):
                _report_inside(reader, one, one, other)
            elif one.grant.writable and passes(other.grant.folder, one.resolved):
                _report_inside(reader, one, other, one)


def _report_inside(reader: Reader, at: WrittenGrant, inner: WrittenGrant, outer: WrittenGrant) -> None:
    one, two = (f"`{_key(each)}: {each.node.text}` (line {each.node.place.line})" for each in (inner, outer))
    message = f"{one} lies in {two} of another tool, which could put a link in its place"
    reader.problem(at.node, message, "Grant both the same folder, or folders that lie beside each other.")


def _key(one: WrittenGrant) -> str:
    return "write" if one.grant.writable else "read"


def is_inside(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or lies below it. Both are resolved."""
    return inner == outer or outer in inner.parents
