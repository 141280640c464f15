"""Finds skills: folders with a SKILL.md that tells how to do something."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mm.errors import ToolError
from mm.tools.frontmatter import Document, read_document
from mm.tools.open_files import opened_file
from mm.visible import make_visible_line

SKILL_FILE = "SKILL.md"
_DEEPEST = 4  # levels of folders below a configured one
_LARGEST = 1 << 20  # bytes of a SKILL.md
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_MOST_BESIDE = 100


@dataclass(frozen=True, slots=True)
class Skill:
    """`folder` is resolved: whatever is read for the skill lies in it. `body` is SKILL.md without its frontmatter."""

    name: str
    description: str
    folder: Path
    file: Path
    body: str


def load_skills(folders: Iterable[Path]) -> tuple[list[Skill], list[str]]:
    """Every skill in these folders (or that such a folder is), and warnings about what is not as it should be."""
    skills: dict[str, Skill] = {}
    warnings: list[str] = []
    seen: set[Path] = set()
    for folder in folders:
        before = len(seen)
        for file in _skill_files(folder, warnings, frozenset(), 0):
            if _real(file) not in seen:
                seen.add(_real(file))
                _keep(_load(file, warnings), skills, warnings)
        if len(seen) == before and os.path.isdir(folder):  # noqa: PTH112 - False also where that may not be known
            warnings.append(f"`{folder}`: there is no {SKILL_FILE} in it.")
    return list(skills.values()), warnings


def catalogue(skills: Sequence[Skill]) -> str:
    """For the system text: what there is, and how to get at it; "" without skills."""
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills]
    return "Skills. Before you do what one is about, call read_skill with its name.\n" + "\n".join(lines)


def beside(skill: Skill) -> list[str]:
    """The other files of a skill, relative to its folder, in order; capped. Links that lead out are not among them."""
    found = []
    for folder, names, files in os.walk(skill.folder):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "__pycache__")
        for name in sorted(files):
            path = Path(folder, name)
            if path != skill.file and not name.startswith(".") and _real(path).is_relative_to(skill.folder):
                found.append(make_visible_line(str(path.relative_to(skill.folder))))
        if len(found) > _MOST_BESIDE:
            return [*found[:_MOST_BESIDE], "…"]
    return found


def find_skill(skills: Sequence[Skill], name: str) -> Skill:
    """By name: exact, or else the one that equals it up to case and `-`, `_`, space. Raises ToolError."""
    exact = [skill for skill in skills if skill.name == name]
    close = exact or [skill for skill in skills if _plain(skill.name) == _plain(name)]
    if len(close) != 1:
        names = ", ".join(f"`{skill.name}`" for skill in skills)
        raise ToolError(f"There is no skill `{make_visible_line(name)}`. The skills are: {names}.")
    return close[0]


def _real(path: Path) -> Path:
    """Where a path leads. Of links in a circle: itself, which then cannot be opened."""
    return Path(os.path.realpath(path))


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.strip().casefold())


def _skill_files(folder: Path, warnings: list[str], above: frozenset[Path], depth: int) -> Iterator[Path]:
    """The SKILL.md of this folder, else those of the folders in it. Links to folders are followed, but in no circle."""
    resolved = _real(folder)
    if resolved in above:
        return
    if depth > _DEEPEST:
        warnings.append(f"`{folder}`: lies more than {_DEEPEST} folders deep, so no skill was looked for in it.")
        return
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        warnings.append(f"`{folder}`: cannot be read: {(error.strerror or str(error)).lower()}.")
        return
    files = [name for name in names if name.casefold() == SKILL_FILE.casefold()]
    if files:
        file = SKILL_FILE if SKILL_FILE in files else files[0]
        if file != SKILL_FILE:
            warnings.append(f"`{folder / file}`: the file should be called {SKILL_FILE}. It was read all the same.")
        yield folder / file
        return
    for name in names:
        try:
            is_folder = not name.startswith(".") and stat.S_ISDIR((folder / name).stat().st_mode)
        except PermissionError:
            warnings.append(f"`{folder}`: may be listed but not entered, so no skill was looked for in it.")
            return
        except OSError:  # a link that leads nowhere
            continue
        if is_folder:
            yield from _skill_files(folder / name, warnings, above | {resolved}, depth + 1)


def _load(file: Path, warnings: list[str]) -> Skill | None:
    """The skill, mended where that is clear; None, with a warning, if its file cannot be read at all."""
    folder, resolved = _real(file.parent), _real(file)
    if not resolved.is_relative_to(folder):
        warnings.append(f"`{file}`: a link that leads out of the skill's folder. The skill was left out.")
        return None
    try:
        text = _text(resolved, file, warnings)
    except (ToolError, OSError) as error:
        warnings.append(f"`{file}`: {error} The skill was left out.")
        return None
    document = read_document(text)
    warnings += [f"`{file}`: {problem}." for problem in document.problems]
    name = _name(document, file, warnings)
    return Skill(name, _description(document, file, warnings), folder, resolved, document.body)


def _text(resolved: Path, file: Path, warnings: list[str]) -> str:
    with opened_file(resolved) as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        warnings.append(f"`{file}`: only its first {_LARGEST:,} bytes were read.")
        data = data[:_LARGEST]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        warnings.append(f"`{file}`: it is not UTF-8; what is not was replaced.")
        return data.decode("utf-8", "replace")


def _name(document: Document, file: Path, warnings: list[str]) -> str:
    given = " ".join(document.fields.get("name", "").split())
    name = make_visible_line(given or file.parent.resolve().name)
    if not given and document.fields:
        warnings.append(f"`{file}`: `name` is missing; the folder's name `{name}` was taken.")
    if len(name) > _LONGEST_NAME:
        warnings.append(f"`{file}`: `name` is longer than {_LONGEST_NAME} characters and was cut.")
    return name[:_LONGEST_NAME]


def _description(document: Document, file: Path, warnings: list[str]) -> str:
    given = " ".join(document.fields.get("description", "").split())
    if not given:
        lines = (line.strip("# ").strip() for line in document.body.split("\n"))
        given = next((line for line in lines if line), "(no description)")
        warnings.append(f"`{file}`: `description` is missing; `{given[:60]}` was taken.")
    if len(given) > _LONGEST_DESCRIPTION:
        warnings.append(f"`{file}`: `description` is longer than {_LONGEST_DESCRIPTION} characters and was cut.")
    return "".join(c for c in given[:_LONGEST_DESCRIPTION] if unicodedata.category(c) != "Cc")


def _keep(skill: Skill | None, skills: dict[str, Skill], warnings: list[str]) -> None:
    if skill is None:
        return
    first = skills.get(_plain(skill.name))
    if first is None:
        skills[_plain(skill.name)] = skill
        return
    warnings.append(f"`{skill.file}`: `{first.file}` is called `{first.name}` too; only that one is used.")
