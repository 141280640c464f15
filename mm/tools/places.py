"""Which files a call is about: paths as a model writes them, resolved, and what consent they need.

"Inside" always means the resolved path, links followed: a link inside that leads out is outside.
"""

from __future__ import annotations

import difflib
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from mm import folders
from mm.config.schema import Config
from mm.config.started import started
from mm.errors import ToolError
from mm.tools.builtins.walk import KERNEL
from mm.tools.open_files import kind_of
from mm.tools.spec import Need
from mm.visible import make_visible_line

AGENT_FILE = "agent.yaml"
AGENT_FOLDER = ".mm"
_PATH_MAX = 4096  # bytes, of Linux; the system's own limit is met later where it is lower


class Places:
    """The working directory, further folders that may be read without asking, and what changing always asks for."""

    def __init__(self, cwd: Path, readable: Iterable[Path] = (), protected: Iterable[Path] = ()) -> None:
        self.cwd = cwd.resolve()
        self._readable = (self.cwd, *(path.resolve() for path in readable))
        self._protected = tuple(path.resolve() for path in protected)
        self._searched_for_agents = frozenset({self.cwd, *self.cwd.parents})

    def resolve(self, text: str) -> Path:
        """The absolute path that `text` leads to, links followed, whether there is something or not.

        A name that is there in another spelling of the same letters (é as one code point or as two) is that name.
        """
        if not text.strip():
            raise ToolError("The path is empty. Send the path of a file or folder, such as `src/main.py` or `.`.")
        try:
            if "\0" in text or len(os.fsencode(text)) > _PATH_MAX:
                raise ToolError("The path is too long or contains a NUL character. Send a shorter, plain path.")
            written = Path(text)
            if written.parts[:1] == ("~",):
                written = Path.home().joinpath(*written.parts[1:])
            return _as_spelled(self.cwd / written).resolve()
        except UnicodeEncodeError as error:
            raise ToolError("The path contains half a character (a lone surrogate). Send the path again.") from error
        except (OSError, RuntimeError) as error:
            raise ToolError(
                f"`{make_visible_line(text)}` leads nowhere: it is too long, or links form a circle."
            ) from error

    def inside(self, resolved: Path) -> bool:
        """Whether a resolved path may be read without asking. What the kernel makes up (/proc) may never be."""
        if any(resolved.is_relative_to(folder) for folder in KERNEL):
            return False
        return any(resolved.is_relative_to(folder) for folder in self._readable)

    def reading(self, resolved: Path) -> Need:
        """What reading a regular file or listing a folder asks of consent."""
        return Need.NONE if self.inside(resolved) else Need.ASK

    def changing(self, resolved: Path) -> Need:
        """What writing to a path asks of consent."""
        return Need.ALWAYS if self.protected(resolved) else Need.ASK

    def protected(self, resolved: Path) -> bool:
        """Whether mm trusts what is at this path: itself or a folder it lies in, under any name (hard links, case)."""
        line = (resolved, *resolved.parents)
        if any(path in self._protected or self._is_agent(path) for path in line):
            return True
        trusted = {status for path in self._trusted() if (status := _identity(path))}
        return any(_identity(path) in trusted for path in line)

    def scope(self, resolved: Path) -> str:
        """What an "always" for this path covers: the working directory as a whole, outside it this path alone."""
        return f"in {self.cwd}" if resolved.is_relative_to(self.cwd) else f"on {resolved}"

    def shown(self, resolved: Path) -> str:
        """A path as the model is told it: relative to the working directory where it is inside."""
        inside = resolved.is_relative_to(self.cwd)
        return make_visible_line(str(resolved.relative_to(self.cwd) if inside else resolved))

    def is_there(self, resolved: Path) -> bool:
        """Whether something is at a resolved path, as far as that may be known."""
        return _mode_or_none(resolved) is not None

    def file(self, text: str) -> Path:
        """The resolved path of a regular file that is there."""
        path, mode = self._there(text)
        if mode is not None and stat.S_ISDIR(mode):
            raise ToolError(f"`{self.shown(path)}` is a folder. Use list_files to see what is in it.")
        return path

    def folder(self, text: str) -> Path:
        """The resolved path of a folder that is there."""
        path, mode = self._there(text)
        if mode is not None and not stat.S_ISDIR(mode):
            raise ToolError(f"`{self.shown(path)}` is a file, not a folder.")
        return path

    def file_or_folder(self, text: str) -> tuple[Path, bool]:
        """The resolved path of what is there, and whether it is a folder."""
        path, mode = self._there(text)
        return path, mode is not None and stat.S_ISDIR(mode)

    def target(self, text: str) -> Path:
        """The resolved path of a regular file that is there, or that can be made (its folders too)."""
        resolved = self.resolve(text)
        if text.endswith(("/", "/.", "/..")):
            raise ToolError(f"`{make_visible_line(text)}` names a folder. Send the path of a file.")
        for path in (resolved, *resolved.parents):
            mode = _mode_or_none(path)
            if mode is None:
                continue
            if path != resolved and not stat.S_ISDIR(mode):
                raise ToolError(f"`{self.shown(path)}` is {kind_of(path.stat())}, so no file can be put in it.")
            if path == resolved and not stat.S_ISREG(mode):
                raise ToolError(f"`{self.shown(path)}` is {kind_of(path.stat())}. Send the path of a file.")
            break
        return resolved

    def _there(self, text: str) -> tuple[Path, int | None]:
        """The file or folder that is there, and its mode; None where it may not be looked at, which opening tells."""
        resolved = self.resolve(text)
        try:
            status = resolved.stat()
        except PermissionError:
            return resolved, None
        except (OSError, ValueError) as error:
            raise self._missing(resolved) from error
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise ToolError(f"`{self.shown(resolved)}` is {kind_of(status)}; only files and folders can be used.")
        return resolved, status.st_mode

    def _missing(self, resolved: Path) -> ToolError:
        """Nothing is there: name what is near. Names outside are not told without consent."""
        there = next(path for path in resolved.parents if stat.S_ISDIR(_mode_or_none(path) or 0))
        sentences = [f"There is no `{self.shown(resolved)}`."]
        if there != resolved.parent:
            sentences.append(f"There is no folder `{self.shown(there / resolved.relative_to(there).parts[0])}` either.")
        if not self.inside(there):
            sentences.append(f"Paths start at the working directory `{make_visible_line(str(self.cwd))}`.")
        elif names := _near(there, resolved.relative_to(there).parts[0]):
            sentences.append(f"Near it in `{self.shown(there)}`: {', '.join(f'`{name}`' for name in names)}.")
        else:
            sentences.append(f"list_files shows what is in `{self.shown(there)}`.")
        return ToolError(" ".join(sentences))

    def _is_agent(self, path: Path) -> bool:
        """Whether mm, started here, would find its agent file at this path."""
        return path.name.casefold() in (AGENT_FILE, AGENT_FOLDER) and path.parent in self._searched_for_agents

    def _trusted(self) -> Iterator[Path]:
        yield from self._protected
        for folder in self._searched_for_agents:
            yield folder / AGENT_FILE
            yield folder / AGENT_FOLDER
            yield folder / AGENT_FOLDER / AGENT_FILE


def protected_by(config: Config, cwd: Path) -> tuple[Path, ...]:
    """What an agent file makes mm trust: itself, all that it starts, skills, and mm's own folders.

    A file that is not there yet counts, since making it decides what runs. Folders that a program is given do not.
    """
    found = [folders.config_folder(), folders.data_folder(), folders.cache_folder(), *config.skills]
    if config.file is not None:
        found.append(config.file)
    named = [one.path for one in started(config, cwd)]
    return (*found, *(path for path in dict.fromkeys(named) if not stat.S_ISDIR(_mode_or_none(path) or 0)))


def _mode_or_none(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _as_spelled(path: Path) -> Path:
    """The path, with missing names replaced by the one entry there that reads the same."""
    if os.path.lexists(path):
        return path
    there = path.anchor
    for name in path.parts[1:]:
        there = os.path.join(there, name if os.path.lexists(os.path.join(there, name)) else _spelling(there, name))  # noqa: PTH118
    return Path(there)


def _spelling(folder: str, name: str) -> str:
    if name.isascii() and "\\" not in name:
        return name
    try:
        same = [entry for entry in os.listdir(folder) if _reading(entry) == _reading(name)]  # noqa: PTH208
    except OSError:
        return name
    return same[0] if len(same) == 1 else name


def _reading(name: str) -> str:
    return unicodedata.normalize("NFC", make_visible_line(name))


def _near(folder: Path, name: str) -> list[str]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))[:5000]
    except OSError:
        return []
    lower = {entry.casefold(): entry for entry in names}
    close = difflib.get_close_matches(name.casefold(), lower, n=3, cutoff=0.6)
    return [make_visible_line(lower[entry]) for entry in close] or [make_visible_line(entry) for entry in names[:10]]
