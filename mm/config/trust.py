"""Which agent files the user trusts, and what such a file would do.

A file that mm found by itself may have come with somebody's repository: it does nothing until it is trusted, and
is asked about again when it, a skill of it, a program of its hooks or where a granted folder leads changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mm import folders
from mm.config.expand import expand, expand_home
from mm.config.schema import Config, WasmTool
from mm.errors import MMError

_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_MOST_NAMED = 3


def is_trusted(config: Config) -> bool:
    """Whether the file is trusted in its present state."""
    return config.file is not None and _stored(config.file) == _digests(config)


def changed_since(config: Config) -> tuple[str, ...]:
    """What has changed since the file was trusted, as ``its hooks: `check.py` ``; () if it never was."""
    stored = _stored(config.file) if config.file is not None else None
    if config.file is None or stored is None:
        return ()
    changed = [name for name, digest in _digests(config).items() if stored.get(name) != digest]
    before, now = _read(config.file).get("parts", {}), _parts(config)
    return tuple(_named(name, before.get(name, {}), now.get(name, {})) for name in changed)


def _named(name: str, before: dict[str, str], now: dict[str, str]) -> str:
    """A part of the file and what in it is another, new or gone; the part alone where that is not known."""
    paths = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    if not before or not paths:
        return name
    shown = [f"`{path}`{'' if path in before else ' is new'}{'' if path in now else ' is gone'}" for path in paths]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    return f"{name}: {', '.join(shown[:_MOST_NAMED])}{more}"


def trust(config: Config) -> None:
    """Trust the file in the state that `config` was read from."""
    if config.file is None:
        return
    record = {"path": str(config.file), "trusted": _digests(config), "parts": _parts(config)}
    place = _record(config.file)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    with os.fdopen(folders.open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
        json.dump(record, file)
    temporary.replace(place)


def _stored(file: Path) -> dict[str, str] | None:
    """The digests that were trusted; None if there are none, or the record cannot be read."""
    trusted = _read(file).get("trusted")
    return trusted if isinstance(trusted, dict) else None


def _read(file: Path) -> dict[str, Any]:
    """What is stored about the file; nothing if that cannot be read, or is another's."""
    place = _record(file)
    folders.refuse_if_not_ours(place)
    try:
        record = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and record.get("path") == str(file) else {}


def _record(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(file)).hexdigest()
    return folders.private_folder(folders.config_folder(), "trust") / f"{name}.json"


def _real(file: Path) -> Path:
    return Path(os.path.realpath(file))


def _digests(config: Config) -> dict[str, str]:
    return {
        "the agent file": config.digest,
        "its skills": _digest(_all_below(_expanded(config, str(path)) for path in config.skills)),
        "its hooks": _digest(_hook_files(config)),
        "its granted folders": _folders_digest(config),
    }


def _parts(config: Config) -> dict[str, dict[str, str]]:
    """The files of each part with their digests, to name what has changed: what is trusted are the digests above."""
    skills = _all_below(_expanded(config, str(path)) for path in config.skills)
    return {
        "its skills": _each(config, skills),
        "its hooks": _each(config, _hook_files(config)),
        "its granted folders": {_shown(config, path): str(_real(path)) for path in _granted(config)},
    }


def _each(config: Config, paths: Iterable[Path]) -> dict[str, str]:
    return {_shown(config, path): _digest([path]) for path in _counted(paths)}


def _shown(config: Config, path: Path) -> str:
    """A path as the agent file would name it."""
    return str(path.relative_to(config.folder) if path.is_relative_to(config.folder) else path)


def _folders_digest(config: Config) -> str:
    """Where the folders lead that modules are granted; what is in them is data."""
    return hashlib.sha256(b"\0".join(os.fsencode(_real(path)) for path in _granted(config))).hexdigest()


def _granted(config: Config) -> list[Path]:
    granted = [grant.folder for entry in config.tools if isinstance(entry.run, WasmTool) for grant in entry.run.grants]
    return [_expanded(config, str(path)) for path in granted]


def _hook_files(config: Config) -> Iterator[Path]:
    """The programs of hooks that are written with a slash, and the scripts that they are given."""
    for hook in config.hooks:
        if "/" in hook.command[0]:
            yield _expanded(config, hook.command[0])
        for text in hook.command[1:]:
            yield from (start / text for start in (config.folder, Path.cwd()) if _is_file(start / text))


def _expanded(config: Config, path: str) -> Path:
    """The path itself, also where `config` is a preview, which keeps `~` and `${VAR}` as written."""
    return config.folder / expand_home(expand(path, os.environ).text, os.environ)


def _all_below(roots: Iterable[Path]) -> Iterator[Path]:
    """All files and folders, in order. Links to folders are followed, as for loading; each folder is entered once."""
    waiting = sorted(set(roots), reverse=True)
    entered: set[str] = set()
    while waiting:
        path = waiting.pop()
        yield path
        resolved = os.path.realpath(path)
        if resolved not in entered and os.path.isdir(resolved):  # noqa: PTH112 - it never raises
            entered.add(resolved)
            with contextlib.suppress(OSError):
                waiting += sorted(path.iterdir(), reverse=True)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _digest(paths: Iterable[Path]) -> str:
    """One digest of paths, where their links lead, and contents.

    A missing file counts as missing, so that adding it is a change.
    """
    whole = hashlib.sha256()
    size = 0
    for path in dict.fromkeys(_counted(paths)):
        whole.update(os.fsencode(path) + b"\0" + os.fsencode(os.path.realpath(path)) + b"\0")
        if not _is_file(path):
            whole.update(b"no file\0")
            continue
        size += path.stat().st_size
        if size > _MOST_BYTES:
            raise _too_large()
        whole.update(_content(path))
    return whole.hexdigest()


def _counted(paths: Iterable[Path]) -> Iterator[Path]:
    for number, path in enumerate(paths):
        if number >= _MOST_FILES:
            raise _too_large()
        yield path


def _too_large() -> MMError:
    hint = "Name a smaller folder in `skills:`, or start mm with: mm -a FILE"
    return MMError("The skills and hooks of this agent file are too large to be checked for changes.", hint)


def _content(path: Path) -> bytes:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        return f"unreadable: {error.errno}".encode()
    return digest.digest()
