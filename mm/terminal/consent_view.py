"""What a person sees before saying yes: exactly what will run, with nothing hidden, cut or left to guess."""

from __future__ import annotations

from rich.cells import cell_len

from mm.counts import count
from mm.dispatch.person import ConsentRequest
from mm.terminal.cells import wrap, wrap_words
from mm.terminal.palette import PLAIN, Palette
from mm.terminal.quoting import one_line, quote, script_lines
from mm.tools.spec import Kind, Look, Need, Shown

_MARGIN = "  "
_SHORT_LINES = 6
_SHORT_LINE_CELLS = 400
_WIDEST_LABEL = 12
_NARROW = 50
_MAY_BE_SHORTENED = (Look.STDIN, Look.CONTENT)


def consent_lines(request: ConsentRequest, width: int, *, whole: bool = False, palette: Palette = PLAIN) -> list[str]:
    """The lines of the question, at most `width` cells each. `whole` shows input and file content in full."""
    name = palette.bold(one_line(request.tool.name))
    lines = [f"{palette.accent('?')} Run {name}?"]
    if request.reason:
        lines += [_MARGIN + palette.warn(piece) for piece in wrap_words(one_line(request.reason), width - 2)]
    indent = _indent(request, width)
    for shown in request.plan.shown:
        lines += _part_lines(shown, width, indent, whole, palette)
    return lines


def is_shortened(request: ConsentRequest) -> bool:
    """Whether `consent_lines` leaves out some of an input or a file's content."""
    return any(shown.look in _MAY_BE_SHORTENED and _shorten(_script(shown))[1] > 0 for shown in request.plan.shown)


def key_lines(request: ConsentRequest, width: int, palette: Palette = PLAIN) -> list[str]:
    """Every key that can be pressed, with its meaning in full."""
    keys = [
        ("y", "yes, this once"),
        ("n", "no (also Enter, Esc); `n REASON` tells the model why"),
    ]
    if offers_always(request):
        subject = _always_subject(request)
        keys.append(("a", f"always in this session: {subject}"))
        keys.append(("w", "always, in later sessions too (`mm permissions` lists and revokes)"))
    keys.append(("e", "edit the arguments first"))
    if is_shortened(request):
        keys.append(("s", "show all of it"))
    lines: list[str] = []
    for key, meaning in keys:
        first, *rest = wrap_words(meaning, width - 5)
        lines += [f"{_MARGIN}{palette.bold(key)}  {first}", *(f"{_MARGIN}   {line}" for line in rest)]
    return lines


def offers_always(request: ConsentRequest) -> bool:
    """Whether "always" would mean anything: what mm itself trusts is asked for every time."""
    return request.plan.need is not Need.ALWAYS


def _indent(request: ConsentRequest, width: int) -> int:
    """Where the texts start: beside the labels, or below them in a narrow window."""
    labels = [cell_len(shown.label) for shown in request.plan.shown if cell_len(shown.label) <= _WIDEST_LABEL]
    return 4 if width < _NARROW else max(labels, default=0) + 4


def _part_lines(shown: Shown, width: int, indent: int, whole: bool, palette: Palette) -> list[str]:
    content = _content_lines(shown, width - indent, whole)
    label = one_line(shown.label)
    if cell_len(label) > indent - 4:
        return [_MARGIN + palette.dim(piece) for piece in wrap(label, width - 2)] + _indented(content, indent)
    first = f"{_MARGIN}{palette.dim(label)}{' ' * (indent - 2 - cell_len(label))}"
    return [first + content[0], *_indented(content[1:], indent)]


def _indented(lines: list[str], indent: int) -> list[str]:
    return [" " * indent + line for line in lines]


def _content_lines(shown: Shown, width: int, whole: bool) -> list[str]:
    match shown.look:
        case Look.ARGV:
            return _argv_lines(shown.entries, width)
        case Look.PATH | Look.GRANT:
            return [piece for entry in shown.entries for piece in wrap(one_line(entry), width)] or [""]
        case Look.TEXT:
            return _gutter(_script(shown), width)
    lines, missing = (_script(shown), 0) if whole else _shorten(_script(shown))
    if not missing:
        return _gutter(lines, width)
    size = sum(len(entry) for entry in shown.entries)
    more = f"… {count(missing, 'more line')}, {count(size, 'character')} in all"
    return [*_gutter(lines, width), *wrap_words(more, width)]


def _argv_lines(entries: tuple[str, ...], width: int) -> list[str]:
    """All entries on one line if they fit, else one below the other."""
    quoted = [quote(entry) for entry in entries]
    line = " ".join(quoted)
    if cell_len(line) <= width:
        return [line]
    return [piece for entry in quoted for piece in _continued(wrap(entry, width - 2))]


def _continued(pieces: list[str]) -> list[str]:
    """Pieces of one long line, marked so that they cannot be taken for lines of their own."""
    return [f"{piece} ↩" for piece in pieces[:-1]] + pieces[-1:]


def _script(shown: Shown) -> list[str]:
    return [line for entry in shown.entries for line in script_lines(entry)]


def _gutter(lines: list[str], width: int) -> list[str]:
    """Lines of a script behind a bar, so that nothing in them can look like a part of the question."""
    return [f"│ {piece}" for line in lines for piece in _continued(wrap(line, width - 4))]


def _shorten(lines: list[str]) -> tuple[list[str], int]:
    """The first lines of an input or a content, and how many lines (or parts of lines) are missing."""
    shown: list[str] = []
    for line in lines[:_SHORT_LINES]:
        shown.append(line[:_SHORT_LINE_CELLS])
        if len(line) > _SHORT_LINE_CELLS:
            break
    cut = bool(shown) and len(shown[-1]) < len(lines[len(shown) - 1])
    return shown, len(lines) - len(shown) + (1 if cut else 0)


def _always_subject(request: ConsentRequest) -> str:
    """What an "always" would cover: a declared tool as it is defined now, one exact command, a folder or a path."""
    name = one_line(request.tool.name)
    if request.tool.name == "bash":
        return "this exact command"
    if request.tool.kind is not Kind.BUILTIN:
        return f"`{name}` as defined now, any arguments"
    scope = request.plan.definition.removeprefix(f"builtin {request.tool.name}")
    if scope.startswith(" in "):
        return f"`{name}`, anything in this folder"
    return f"`{name}`, this path alone" if scope.startswith(" on ") else f"`{name}`, any arguments"
