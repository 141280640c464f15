"""Reads the texts of `command` and `stdin`: literals, and `{{x}}` for the value of a parameter."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from mm.config.near import did_you_mean
from mm.config.schema import Literal, Slot, Template

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong in a template, and the edit that mends it."""

    message: str
    hint: str


def parse_template(
    text: str, declared: Collection[str], undeclared: Collection[str] = ()
) -> tuple[Template, list[Mistake]]:
    """Literals and slots of a text, and what is wrong with it. A slot is only ever one of `declared`.

    `undeclared` are the names that the edit declares where there is no parameter at all.

    `{{{{` is a literal `{{`; `{{ x }}` is `{{x}}`; a single brace and a `}}` without its `{{` are literal, so that
    JSON may stand in a text.
    """
    pieces: list[Literal | Slot] = []
    mistakes: list[Mistake] = []
    literal = ""
    rest = text
    while rest:
        before, opening, rest = rest.partition("{{")
        literal += before
        if not opening:
            break
        if rest.startswith("{{"):
            literal, rest = literal + "{{", rest[2:]
            continue
        if rest.startswith("{"):  # `{{{x}}}` is `{`, the value, `}`
            literal, rest = literal + "{", rest[1:]
        inside, closing, after = rest.partition("}}")
        name = inside.strip()
        if not closing or "{{" in inside:
            mistakes.append(_unclosed(inside))
            break
        if name in declared:
            pieces += [*_literals(literal), Slot(name)]
            literal = ""
        else:
            mistakes.append(_undeclared(name, declared, undeclared))
        rest = after
    mistakes += _halves(text, declared)
    return Template((*pieces, *_literals(literal))), mistakes


def placeholders(text: str) -> list[str]:
    """The names inside `{{…}}` that look like parameters, for places where no placeholder may stand."""
    found = re.findall(r"(?<!\{)\{\{\s*([^{}]*?)\s*\}\}", text)
    return [name for name in found if _IDENTIFIER.fullmatch(name)]


def _literals(text: str) -> list[Literal | Slot]:
    return [Literal(text)] if text else []


def _unclosed(inside: str) -> Mistake:
    name = inside.strip().split("{")[0].split("}")[0].split(" ")[0]
    hint = f"Write `{{{{{name or 'x'}}}}}` for a parameter, or `{{{{{{{{` for two braces."
    return Mistake("`{{` is not closed by `}}`", hint)


def _undeclared(name: str, declared: Collection[str], undeclared: Collection[str]) -> Mistake:
    written = f"{{{{{name}}}}}"
    head = re.match(r"\s*([\w-]+)\s*[.|[(:]", name)
    if head and head.group(1) in declared and not name.startswith("."):
        message = f"`{written}` is no placeholder of mm: there are no fields, filters or defaults"
        return Mistake(message, _write(head.group(1)))
    if not _IDENTIFIER.fullmatch(name):
        message = f"`{written}` is no placeholder of mm: it looks like another program's template"
        return Mistake(message, f"To pass it on as it stands, double its opening braces: `{{{{{written}`.")
    known = ", ".join(f"`{one}`" for one in declared)
    if not known:
        keys = ", ".join(f"{one}: {{type: string, description: …}}" for one in undeclared or (name,))
        return Mistake(f"`{written}` is not a parameter; none is declared", f"Write `parameters: {{{keys}}}`.")
    message = f"`{written}` is not a parameter; declared: {known}"
    return Mistake(message, did_you_mean(name, declared) or f"Add `{name}:` to `parameters`.")


def _halves(text: str, declared: Collection[str]) -> list[Mistake]:
    """`{x}}`, `{{x}` and a doubled `}}}}` that belongs to a literal `{{{{`: surely not meant."""
    mistakes = []
    for name in declared:
        if re.search(r"(?<!\{)\{\s*" + re.escape(name) + r"\s*\}\}(?!\})", text):
            mistakes.append(Mistake(f"`{{{name}}}}}` has one opening brace and two closing ones", _write(name)))
        if re.fullmatch(r"[^{}]*\{\{\s*" + re.escape(name) + r"\s*\}\}\}[^{}]*", text):
            mistakes.append(Mistake(f"`{{{{{name}}}}}}}` has one closing brace too many", _write(name)))
    if re.search(r"\{\{\{\{[^{}]*\}\}\}\}", text):
        hint = "Write `{{{{…}}`: only the opening braces are doubled."
        mistakes.append(Mistake("`{{{{` writes `{{`, but `}}}}` stays four braces", hint))
    return mistakes


def _write(name: str) -> str:
    return f"Write `{{{{{name}}}}}`."
