"""Reads the frontmatter of a SKILL.md, and mends what is clear in a broken one: nothing is dropped in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from mm.messages import JSON

_FENCE = re.compile(r"-{3,}\s*")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+(.*)|)$")


@dataclass(frozen=True, slots=True)
class Document:
    """A text with frontmatter. `fields` are texts; `problems` say what was wrong and what was made of it."""

    fields: dict[str, str]
    body: str
    problems: tuple[str, ...]


def read_document(text: str) -> Document:
    """Split a text into frontmatter and body. Never raises."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines or not _FENCE.fullmatch(lines[0]):
        return _without_fence(lines)
    end = next((number for number, line in enumerate(lines[1:], 1) if _closes(line)), None)
    problems = []
    if end is None:
        end = _end_of_fields(lines)
        problems.append("the frontmatter has no closing `---`; it was taken to end before the text")
        return _document(lines[1:end], lines[end:], problems)
    return _document(lines[1:end], lines[end + 1 :], problems)


def _closes(line: str) -> bool:
    return _FENCE.fullmatch(line) is not None or line.rstrip() == "..."


def _without_fence(lines: list[str]) -> Document:
    """Fields without the `---` before them are frontmatter if `name` or `description` comes first."""
    first = _KEY.match(lines[0].strip()) if lines else None
    if first is None or first[1].lower() not in ("name", "description"):
        return Document(
            {}, "\n".join(lines).strip(), ("it has no frontmatter (`---`, `name:`, `description:`, `---`)",)
        )
    end = next((number for number, line in enumerate(lines) if _closes(line)), None)
    body = lines[end + 1 :] if end is not None else lines[_end_of_fields(lines) :]
    fields = lines[: end if end is not None else _end_of_fields(lines)]
    return _document(fields, body, ["the frontmatter has no opening `---`"])


def _end_of_fields(lines: list[str]) -> int:
    """The first line from which on there is no field or continuation of one."""
    for number, line in enumerate(lines[1:], 1):
        if not (_KEY.match(line) or line.startswith((" ", "\t", "- "))):
            return number
    return len(lines)


def _document(header: list[str], body: list[str], problems: list[str]) -> Document:
    value, error = _parse("\n".join(header))
    if error:
        problems.append(f"the frontmatter is not valid YAML ({error}); each line was read as it stands")
        value = _by_lines(header)
    elif not isinstance(value, dict):
        problems.append("the frontmatter has no `key: value` lines")
        value = {}
    fields: dict[str, str] = {}
    plain = _by_lines(header)
    for key, entry in value.items():
        name = str(key).strip().lower()
        if isinstance(entry, str):
            fields[name] = entry.strip()
        elif name in ("name", "description"):
            fields[name] = plain.get(name, "")
            problems.append(f"`{name}` is not a text; it was read as `{fields[name][:60]}`. Put it in quotes")
    problems += [f"`{name}` is there twice; the last one was taken" for name in _doubled(header)]
    return Document(fields, "\n".join(body).strip(), tuple(problems))


def _parse(text: str) -> tuple[JSON, str]:
    """The value, every scalar as text, and what is wrong with it ("" if nothing)."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader), ""  # makes texts, lists and mappings only
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return None, f"{error.problem or 'unreadable'}{line}"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, str(error).split("\n")[0]


def _by_lines(header: list[str]) -> dict[str, str]:
    """`key: value` line by line: the value is all that follows the first colon, with the lines indented below it."""
    fields: dict[str, list[str]] = {}
    current: list[str] = []
    for line in header:
        match = _KEY.match(line)
        if match:
            current = [_bare(match[2] or "")]
            fields[match[1].lower()] = current
        else:
            current.append(_bare(line))
    return {key: " ".join(part for part in parts if part).strip() for key, parts in fields.items()}


def _bare(text: str) -> str:
    """Without the signs of a block (`>-`), and without quotes that stand at one or both ends."""
    text = text.strip()
    if re.fullmatch(r"[|>][+-]?[0-9]?", text):
        return ""
    if text[:1] in ("'", '"'):
        return text[1:].removesuffix(text[0])
    return text


def _doubled(header: list[str]) -> list[str]:
    names = [match[1].lower() for line in header if (match := _KEY.match(line))]
    return sorted({name for name in names if names.count(name) > 1})
