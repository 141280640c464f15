"""How a person is asked: the question, its answers, and what each leads to. Whoever reads the keys is a Desk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len

from mm.counts import count
from mm.dispatch.person import Answer, ConsentRequest, Decision
from mm.terminal.cells import hang, wrap_words
from mm.terminal.consent_view import consent_lines, is_shortened, key_lines, offers_always
from mm.terminal.palette import Palette
from mm.visible import make_visible_line

_NO = ("n", "no", "\x1b")
_KEY = "y, n, … > "
_WIDE = 50  # cells
_LEAST_ANSWER = 24  # cells that an answer has beside its hint


class Desk(Protocol):
    """A place where lines can be shown and read. Reading may raise KeyboardInterrupt."""

    palette: Palette

    def size(self) -> tuple[int, int]:
        """Columns and lines."""

    def show(self, lines: Sequence[str]) -> None:
        """Print lines that are already safe."""

    def ask(self, label: str) -> str | None:
        """Read one line; None at end of input or Esc."""

    def edit(self, text: str) -> str | None:
        """Let the person change a text; None if they gave up."""


def decide(desk: Desk, request: ConsentRequest) -> Answer:
    """Ask for consent until there is an answer. End of input is a no."""
    answer = _show_question(desk, request, whole=False)
    while answer is None:
        reply = desk.ask(f"letter and Enter: {_KEY}" if desk.size()[0] >= _WIDE else _KEY)
        answer = _refusal(desk, reply if reply is None or reply.strip() else "n")
        if answer is None and reply is not None:
            answer = _answer(desk, request, reply.strip().lower())
    return answer


def clarify(desk: Desk, questions: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Ask each question. A choice is picked by its number, anything else is an answer in the person's own words."""
    answers: list[str] = []
    for number, (question, choices) in enumerate(questions, 1):
        place = f" ({number} of {len(questions)})" if len(questions) > 1 else ""
        desk.show([*([""] if answers else []), *_question_lines(desk, question + place, choices)])
        reply = _ask(desk, "number, or your own words; Enter skips" if choices else "Enter skips")
        if reply is None:
            return answers + [""] * (len(questions) - len(answers))
        answers.append(_picked(reply.strip(), choices))
    return answers


def _question_lines(desk: Desk, question: str, choices: Sequence[str]) -> list[str]:
    width, palette = desk.size()[0], desk.palette
    lines = hang(palette.accent("? "), [palette.bold(line) for line in _wrapped(question, width - 2)], 2)
    digits = len(str(len(choices)))
    for number, choice in enumerate(choices, 1):
        label = f"  {palette.bold(str(number).rjust(digits))}  "
        lines += hang(label, _wrapped(choice, width - digits - 4), digits + 4)
    return lines


def _ask(desk: Desk, hint: str) -> str | None:
    """Ask with a hint before the answer; in a narrow window above it, so that it takes no room from the answer."""
    if cell_len(hint) + _LEAST_ANSWER <= desk.size()[0]:
        return desk.ask(f"{hint} > ")
    desk.show([desk.palette.dim(line) for line in wrap_words(hint, desk.size()[0])])
    return desk.ask("> ")


def _picked(reply: str, choices: Sequence[str]) -> str:
    if reply.isdecimal() and 1 <= int(reply) <= len(choices):
        return choices[int(reply) - 1]
    return reply


def _wrapped(text: str, width: int) -> list[str]:
    return [piece for line in text.split("\n") for piece in wrap_words(make_visible_line(line), width)]


def _answer(desk: Desk, request: ConsentRequest, word: str) -> Answer | None:
    """What one word means; None if the question stays open."""
    if word in ("y", "yes"):
        return Answer(Decision.YES)
    if word in ("a", "always") and offers_always(request):
        return Answer(Decision.ALWAYS_SESSION)
    if word in ("w", "write") and offers_always(request):
        return Answer(Decision.ALWAYS_SAVED)
    if word in ("e", "edit"):
        return _edited(desk, request)
    if word in ("s", "show") and is_shortened(request):
        return _show_question(desk, request, whole=True)
    desk.show([desk.palette.warn("Please answer with one of these letters and Enter.")])
    desk.show(key_lines(request, desk.size()[0], desk.palette))
    return None


def _refusal(desk: Desk, reply: str | None) -> Answer | None:
    """The "no" that a reply says, or None: `n`, with the reason behind it or asked for; the end of input."""
    if reply is None:
        return Answer(Decision.NO)
    word, _, reason = reply.strip().partition(" ")
    if word.lower().rstrip(",:;.") not in _NO:
        return None
    if not reason.strip():
        reason = _ask(desk, "why not? (for the model; Enter: no reason)") or ""
    return Answer(Decision.NO, reason=reason.strip())


def _edited(desk: Desk, request: ConsentRequest) -> Answer | None:
    """Edit until the arguments are right or the person leaves the text as it stands. None: nothing was changed."""
    before = json.dumps(dict(request.arguments), ensure_ascii=False, indent=2)
    text = before
    while True:
        after = (desk.edit(text) or "").strip()
        if after in ("", text.strip(), before):
            desk.show([desk.palette.dim("The arguments are unchanged.")])
            return None
        problem = _problem(after) or request.complaint(after)
        if not problem:
            return Answer(Decision.EDIT, arguments=after)
        desk.show([desk.palette.warn(line) for line in _wrapped(problem, desk.size()[0])])
        text = after


def _problem(text: str) -> str:
    """Why the edited text cannot be arguments at all; "" if it can."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"That is not JSON: {error}."
    return "" if isinstance(value, dict) else "The arguments must be one JSON object."


def _show_question(desk: Desk, request: ConsentRequest, *, whole: bool) -> Answer | None:
    """Show everything, page by page if it is longer than the screen. A person who has seen enough may say no."""
    width, height = desk.size()
    lines = ["", *consent_lines(request, width, whole=whole, palette=desk.palette)]
    keys = ["", *key_lines(request, width, desk.palette)]
    last_page = max(height - len(keys) - 1, 3)
    while len(lines) > last_page:
        page = min(height - 2, len(lines) - 1)
        desk.show(lines[:page])
        lines = lines[page:]
        refusal = _refusal(desk, _ask(desk, f"{count(len(lines), 'more line')}. Enter: go on, n: no"))
        if refusal is not None:
            return refusal
    desk.show([*lines, *keys])
    return None
