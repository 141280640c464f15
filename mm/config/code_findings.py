"""Where a value reaches what a program reads as code, or as another program's argv: for `mm tools check`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mm.config.argv_words import templates_of, words_of
from mm.config.program_findings import Words
from mm.config.schema import CommandTool, ToolEntry
from mm.config.started import names

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish"})

INTERPRETERS: Mapping[str, str] = {
    **dict.fromkeys(SHELLS, r"-[A-Za-z]*c[A-Za-z]*|--command"),
    **dict.fromkeys(("python", "pypy"), r"-[A-Za-z]*c"),
    "perl": r"-[acflnpswWTtuUX0-9]*[eE]",
    "ruby": r"-[acdlnpsSvwWxU]*e",
    **dict.fromkeys(("node", "bun"), r"-[a-z]?[ep]|--eval|--print"),
    "deno": r"eval",
    "php": r"-[BERr]|--run|--process-(?:begin|code|end)",
    **dict.fromkeys(("lua", "luajit", "Rscript", "osascript"), r"-e"),
}
"""Programs that run code, and the options behind which it stands."""

_VALUED = names("-o +o -O --rcfile --init-file -W -X -I -r -C -d -l --require --import")
"""Their options whose value is an argument of its own, and no script."""

_STARTERS: Mapping[str, frozenset[str]] = {
    "env": names("-u -C --unset --chdir"),
    "xargs": names("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace"),
    "ssh": names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"),
    "sudo": names("-C -D -g -h -p -R -r -T -t -U -u --user --group --chdir --prompt --host"),
    "doas": names("-C -u"),
    "timeout": names("-k -s --kill-after --signal"),
    "nice": names("-n --adjustment"),
    "ionice": names("-c -n -p --class --classdata"),
    "stdbuf": names("-e -i -o --error --input --output"),
    "strace": names("-a -b -e -E -I -o -O -p -P -s -S -u -X"),
    "time": names("-f -o --format --output"),
    "flock": names("-E -w --timeout --wait --conflict-exit-code"),
    "chrt": names("-D -P -T"),
    "taskset": frozenset(),
    "chroot": frozenset(),
    "nohup": frozenset(),
    "setsid": frozenset(),
    "busybox": frozenset(),
}
"""Programs that start the one that their arguments name, and their options whose value is an argument of its own."""

_WATCH = names("-n --interval -q --equexit -s --shotsdir")
_LINES = {
    "su": r"-[A-Za-z]*c|--command|--session-command",
    "script": r"-[A-Za-z]*c|--command",
}
"""Programs that hand a line to a shell, and the options behind which it stands."""

_OWN_ARGUMENTS = {"ssh": 1, "timeout": 1, "flock": 1, "chrt": 1, "taskset": 1, "chroot": 1}
_ALL_ARGUMENTS = ("env", "xargs", "ssh")  # which may make a program, or a shell's line, of any of their arguments
EXECUTING = {"find": ("-exec", "-execdir", "-ok", "-okdir"), "fd": ("-x", "-X", "--exec", "--exec-batch")}
"""Programs that start others behind one of their options, up to a `;`."""

_CODE = "a value is put into the code of `{}`, and so can be code"
_HINT = "Move the code into a script, and hand it the value as an argument of its own."


def look_at_code(entry: ToolEntry) -> Iterator[Words]:
    """Placeholders in places where a program reads its argument or its input as code, or as another program's argv."""
    assert isinstance(entry.run, CommandTool)
    words = words_of(entry.run)
    places = (None, *(template.place for template in templates_of(entry.run)))
    for position, word in enumerate(words):
        name = _name(word)
        for at, option in _code(words, position, name) if name in INTERPRETERS else ():
            yield Words(_CODE.format(f"{name} {option}"), _HINT, places[at])
    for position in _programs(words):
        name = _name(words[position])
        for at, option in _line(words, position, name):
            yield Words(_CODE.format(f"{name} {option}".rstrip()), _HINT, places[at])
        for at in _executing(words, position, EXECUTING.get(name, ())):
            yield Words(f"a value stands behind `{name} … {words[at]}`, and so can be a program", _HINT, places[at])
    starter = next(_choosing(words), "")
    if starter:
        more = "Put literal words before the value, or use a script."
        yield Words(f"`{starter}` starts what its arguments say, so a value can choose the program", more)
    reader = _reader(words) if _has_value_on_stdin(entry, entry.run) else ""
    if reader:
        message = f"`{reader}` runs what it reads, so a value in `stdin` can be code"
        yield Words(message, _HINT, entry.places.get("stdin"))


def _name(word: str) -> str:
    """The program's name without its folder and version."""
    return word.rsplit("/", 1)[-1].rstrip("0123456789.") or word


def _code(words: Sequence[str], position: int, name: str) -> Iterator[tuple[int, str]]:
    """Where a value stands in the code that an interpreter is given, and behind which option. Behind its script is
    data."""
    flag, marks = INTERPRETERS[name], ("-", "+") if name in SHELLS else ("-",)
    for at in range(position + 1, len(words)):
        word, before = words[at], words[at - 1]
        if re.fullmatch(flag, word):
            code = _behind_options(words, at) if name in SHELLS - {"fish"} else at + 1
            if code < len(words) and "{{" in words[code]:
                yield code, word
            return
        option = word.partition("{{")[0]
        if word.startswith("-") and option != word and re.match(flag, option):
            yield at, option
        if not word.startswith(marks) and (at == position + 1 or not before.startswith(marks)):
            return


def _behind_options(words: Sequence[str], at: int) -> int:
    """Where a shell's code stands: `-c` has no value of its own, the code is the first word behind all options."""
    values = _values(words[at])
    for position in range(at + 1, len(words)):
        word = words[position]
        if values:
            values -= 1
        elif word in ("-", "--"):
            return position + 1
        elif word.startswith(("-", "+")):
            values = _values(word)
        else:
            return position
    return len(words)


def _values(options: str) -> int:
    """How many of the next words are values of a shell's options, such as the `pipefail` of `-euo`."""
    return sum(map(options.count, "oO")) if re.fullmatch(r"[-+][A-Za-z]+", options) else 0


def _line(words: Sequence[str], position: int, name: str) -> Iterator[tuple[int, str]]:
    """Where a value stands in what a program hands to a shell, and behind which option."""
    if name == "watch":
        start = _started(words, position, name)
        if not {"-x", "--exec"} & set(words[position + 1 : start]):
            yield from ((at, "") for at in range(start, len(words)) if "{{" in words[at])
        return
    for at in range(position + 1, len(words)) if name in _LINES else ():
        option = words[at].partition("{{")[0]
        if option != words[at] and re.fullmatch(rf"(?:{_LINES[name]})=?", option):
            yield at, option
        elif "{{" in words[at] and re.fullmatch(_LINES[name], words[at - 1]):
            yield at, words[at - 1]


def _programs(words: Sequence[str]) -> Iterator[int]:
    """Where a program stands: the first, and each that one of them starts."""
    at = 0
    while at < len(words):
        yield at
        name = _name(words[at])
        if name not in _STARTERS:
            return
        at = _started(words, at, name)


def _started(words: Sequence[str], position: int, name: str) -> int:
    """Where the program stands that a starter starts: behind its options, its assignments and its own arguments."""
    own, at = _OWN_ARGUMENTS.get(name, 0), position + 1
    valued = _WATCH if name == "watch" else _STARTERS[name]
    while at < len(words):
        word = words[at]
        if word in valued:
            at += 1
        elif not word.startswith("-") and not re.match(r"[A-Za-z_]\w*=", word):
            if not own:
                break
            own -= 1
        at += 1
    return min(at, len(words))


def _choosing(words: Sequence[str]) -> Iterator[str]:
    """The starters that a value may tell what to start."""
    for position in _programs(words):
        name = _name(words[position])
        if name in _STARTERS:
            end = len(words) if name in _ALL_ARGUMENTS else _started(words, position, name) + 1
            if any("{{" in word for word in words[position + 1 : end]):
                yield name


def _executing(words: Sequence[str], position: int, options: Sequence[str]) -> Iterator[int]:
    """The options of a program that starts others, with a value in what they start."""
    for at in range(position + 1, len(words)):
        if words[at] in options:
            ends = (end for end in range(at + 1, len(words)) if words[end] in (";", "\\;", "+"))
            if any("{{" in word for word in words[at + 1 : next(ends, len(words))]):
                yield at


def _has_value_on_stdin(entry: ToolEntry, run: CommandTool) -> bool:
    if run.stdin is not None:
        return bool(run.stdin.slots)
    document = entry.schema.document
    return run.stdin_json and isinstance(document, dict) and bool(document.get("properties"))


def _reader(words: Sequence[str]) -> str:
    """The program that runs what it reads from stdin; "" if there is none."""
    for position in _programs(words):
        name = _name(words[position])
        if name == "xargs":
            return ""
        if name == "ssh" and _started(words, position, name) >= len(words):
            return name
        if name in INTERPRETERS and _reads_its_code(words, position, name):
            return name
    return ""


def _reads_its_code(words: Sequence[str], position: int, name: str) -> bool:
    """Whether an interpreter has neither a script nor code among its arguments."""
    for at in range(position + 1, len(words)):
        word = words[at]
        if word == "-" or (name in SHELLS and re.fullmatch(r"-[A-Za-z]*s[A-Za-z]*", word)):
            return True
        if re.fullmatch(INTERPRETERS[name], word) or (word == "-m" and name in ("python", "pypy")):
            return False
        if not word.startswith(("-", "+")) and words[at - 1] not in _VALUED:
            return False
    return True
