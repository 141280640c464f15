"""`~`, `${VAR}` and `${VAR:-default}` in the places of an agent file that expand them.

No value of a variable ever gets into a message: problems name the variable and quote the text as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$\{[^}]*\}?")
_WITHOUT_BRACES = re.compile(r"\$\$\{|\$\{[^}]*\}?|(?<!\$)\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its variables filled in. `wrong` says what could not be, with `text` as far as it came."""

    text: str
    variables: tuple[str, ...] = ()
    wrong: str = ""
    hint: str = ""


def expand(text: str, environ: Mapping[str, str] | None) -> Expanded:
    """Fill in variables; `$${` writes a literal `${`. Without an environment everything stays as written."""
    names: list[str] = []
    wrong: list[tuple[str, str]] = []

    def replace(found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        if found.group() == "$${":
            return "${"
        if name is None:
            wrong.append((f"`{found.group()}` is not understood", "Write `${VAR}` or `${VAR:-default}`."))
            return ""
        names.append(name)
        if environ is None:
            return found.group()
        value = environ.get(name)
        if value is None and default is None:
            wrong.append((f"the variable `{name}` is not set", f"Set it, or write `${{{name}:-default}}`."))
            return ""
        return default if default is not None and not value else value or ""

    filled = _VARIABLE.sub(replace, text)
    message, hint = wrong[0] if wrong else ("", "")
    return Expanded(filled, tuple(names), message, hint)


def expand_home(text: str, environ: Mapping[str, str] | None) -> str:
    """A leading `~` or `~/` becomes the home folder of `environ`; other texts stay."""
    if environ is None or not (text == "~" or text.startswith("~/")):
        return text
    home = environ.get("HOME", "")
    return home + text[1:] if home else text


def names_without_braces(text: str) -> tuple[str, ...]:
    """The names of `$NAME` in a text, each once: they look like variables, and are not filled in."""
    return tuple(dict.fromkeys(found.group(1) for found in _WITHOUT_BRACES.finditer(text) if found.group(1)))


def with_braces(text: str) -> str:
    """The same text with `${NAME}` for each of them."""
    return _WITHOUT_BRACES.sub(lambda found: f"${{{found.group(1)}}}" if found.group(1) else found.group(), text)


def shown_names(names: Iterable[str], *, braces: bool) -> str:
    """Variables as a message names them: `${HOME}` and `${PATH}`."""
    return " and ".join(f"`${{{name}}}`" if braces else f"`${name}`" for name in names)
