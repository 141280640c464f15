"""What was repaired, in short lines for the reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mm.counts import count
from mm.dispatch.json_text import Literal, to_json
from mm.dispatch.readings import Rank, Repair
from mm.messages import JSON
from mm.schemas.keywords import Tokens
from mm.schemas.wire_names import WireNames

MAX_NOTES = 5
MAX_VALUE = 60
MAX_NAME = 64
MAX_PATH = 300


def notes_of(repairs: Sequence[Repair], names: WireNames) -> tuple[str, ...]:
    """One line a repair, such as `took limit="10" as 10`, the first few of them."""
    lines = [_line(repair, names) for repair in repairs[:MAX_NOTES]]
    if len(repairs) > MAX_NOTES:
        lines.append(f"and {count(len(repairs) - MAX_NOTES, 'more value')} likewise")
    return tuple(lines)


def _line(repair: Repair, names: WireNames) -> str:
    name = path_text(names.path(repair.path))
    if repair.rank is Rank.LEFT_OUT:
        return f"left out {name}=null"
    sent, taken = (names.spell_at(repair.path, value) for value in (repair.sent, repair.taken))
    shown = sent[:MAX_VALUE] if isinstance(sent, Literal) else brief(sent)
    return f"took {name}={shown} as {brief(taken)}"


def path_text(path: Iterable[str | int] | Tokens) -> str:
    """`rows[1].n` for a path; names that would be misread are written as JSON: `rows[1]["a b"]`. Long ones are cut."""
    text = ""
    for token in path:
        if isinstance(token, int):
            text += f"[{token}]"
            continue
        name = token if len(token) <= MAX_NAME else token[:MAX_NAME] + "..."
        if token and all(character.isalnum() or character in "_-$" for character in token[:MAX_NAME]):
            text += f".{name}" if text else name
        else:
            text += f"[{to_json(name)}]" if text else name
    return text if len(text) <= MAX_PATH else text[: MAX_PATH // 2] + "..." + text[-MAX_PATH // 2 :]


def brief(value: JSON, limit: int = MAX_VALUE) -> str:
    """A value as JSON in one short line; what is cut is marked. Costs no more for a huge value."""
    text = to_json(_pruned(value, limit))
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _pruned(value: JSON, limit: int) -> JSON:
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, list):
        return [_pruned(item, limit // 2) for item in value[: limit // 2]]
    if isinstance(value, dict):
        return {key[:limit]: _pruned(value[key], limit // 2) for key in list(value)[: limit // 4]}
    return value
