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

from mm import folders
from mm.config.expand import expand, expand_home
from mm.config.schema import Config, WasmTool
from mm.errors import MMError

_MOST_FILES = 2_000
_MOST_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024


def is_trusted(config: Config) -> bool:
    """Whether the file is trusted in its present state."""
    return config.file is not None and _stored(config.file) == _digests(config)


def changed_since(config: Config) -> tuple[str, ...]:
    """What has changed since the file was trusted, as `its skills`; () if it never was."""
    stored = _stored(config.file) if config.file is not None else None
    if stored is None:
        return ()
    return tuple(name for name, digest in _digests(config).items() if stored.get(name) != digest)


def trust(config: Config) -> None:
    """Trust the file in the state that `config` was read from."""
    if config.file is None:
        return
    record = {"path": str(config.file), "trusted": _digests(config)}
    place = _record(config.file)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    with os.fdopen(folders.open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w") as file:
        json.dump(record, file)
    temporary.replace(place)


def _stored(file: Path) -> dict[str, str] | None:
    """The digests that were trusted; None if there are none, or the record cannot be read."""
    place = _record(file)
    folders.refuse_if_not_ours(place)
    try:
        record = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("path") != str(file):
        return None
    trusted = record.get("trusted")
    return trusted if isinstance(trusted, dict) else None


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


def _folders_digest(config: Config) -> str:
    """Where the folders lead that modules are granted; what is in them is data."""
    granted = [grant.folder for entry in config.tools if isinstance(entry.run, WasmTool) for grant in entry.run.grants]
    return hashlib.sha256(b"\0".join(os.fsencode(_real(_expanded(config, str(path)))) for path in granted)).hexdigest()


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
