"""Which agent file a run uses, and whether it may: named with -a, found and trusted, or the built-in defaults."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from mm.config.find import find, passed_over
from mm.config.load import load
from mm.config.schema import Config
from mm.errors import MMError, UsageError
from mm.interrupt import Interrupt
from mm.options import Options
from mm.visible import make_shell_word, make_visible_line


def chosen_config(options: Options, interrupt: Interrupt) -> Config:
    """The configuration of this run, in the folder that `--cwd` names. Raises UsageError, with every problem."""
    named = named_file(options.agent_file).absolute() if options.agent_file else None
    if options.cwd is not None:
        _enter(options.cwd)
    if named is not None:
        return load(named, environ=os.environ)
    return _found_config(interrupt)


def _found_config(interrupt: Interrupt) -> Config:
    """The agent file of this folder if it is trusted, else the user's own, else the built-in defaults."""
    start = Path.cwd()
    for path in passed_over(start, os.environ):
        print(f"mm: `{make_visible_line(str(path))}` belongs to another user and is not used.", file=sys.stderr)
    found = find(start, os.environ)
    if found is None:
        return Config(file=None, folder=start)
    if found.own:
        return load(found.path, environ=os.environ)
    return _trusted(found.path, interrupt)


def _trusted(path: Path, interrupt: Interrupt) -> Config:
    """The file that mm found by itself. Nothing of it is used before it is trusted, variables included."""
    from mm.config.load import preview
    from mm.config.trust import is_trusted, trust

    written = preview(path)
    if not is_trusted(written):
        _ask_for_trust(written, path, interrupt)
        trust(written)
    config = load(path, environ=os.environ)
    if config.digest != written.digest:
        shown = make_visible_line(str(path))
        raise UsageError(f"`{shown}` changed while mm was reading it.", "Start mm again.")
    return config


def changed_since_trusted(config: Config, options: Options) -> tuple[str, ...]:
    """The parts of an agent file that are not as they were trusted; none of one that was named or is the user's own."""
    if config.file is None or options.agent_file is not None:
        return ()
    from mm.config.load import preview
    from mm.config.trust import changed_since

    try:
        return changed_since(preview(config.file))
    except MMError:  # it cannot be read any more
        return ("the agent file",)


def _ask_for_trust(written: Config, path: Path, interrupt: Interrupt) -> None:
    """Show what the file would do and ask once. Raises UsageError on a no, and where nobody can be asked."""
    from mm.config.summary import summary
    from mm.config.trust import changed_since
    from mm.terminal.modes import CutLineError, cooked, read_line, take_typed_ahead
    from mm.terminal.palette import person_is_there

    shown, word = make_visible_line(str(path)), make_shell_word(str(path))
    changed = [make_visible_line(part) for part in changed_since(written)]
    why = f"has changed since you trusted it ({'; '.join(changed)})" if changed else "is not trusted yet"
    hint = f"Look at it, then run: mm trust {word}\n    or name it: mm -a {word}"
    refusal = UsageError(f"`{shown}` {why}, so mm does nothing with it.", hint)
    if not person_is_there():
        raise refusal
    if changed:
        print(f"`{shown}` has changed since you trusted it. Changed:", file=sys.stderr)
        for part in changed:
            print(f"  - {part}", file=sys.stderr)
        print("As it is now, it:", file=sys.stderr)
    else:
        print(f"`{shown}` is not trusted yet. It:", file=sys.stderr)
    for line in summary(written):
        print(f"  - {make_visible_line(line)}", file=sys.stderr)
    terminal = sys.stdin.fileno()
    answer = ""
    with interrupt.waiting():
        take_typed_ahead(terminal)
        print("Trust it? [y/N] ", end="", file=sys.stderr, flush=True)
        with cooked(terminal), suppress(CutLineError):
            answer = read_line(terminal) or ""
    if answer.strip().lower() not in ("y", "yes"):
        raise refusal


def named_file(text: str) -> Path:
    """The path that `-a` names, as written but for `~`. Raises UsageError where that is nobody's home."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # `~nobody`
        raise UsageError(f"`{make_visible_line(text)}`: there is no such user.", "Name an agent file.") from error


def _enter(folder: str) -> None:
    try:
        os.chdir(Path(folder).expanduser())
    except OSError as error:
        raise UsageError(f"`--cwd {make_visible_line(folder)}`: {error.strerror}.", _NAME_ONE) from error
    except RuntimeError as error:  # `~nobody`
        raise UsageError(f"`--cwd {make_visible_line(folder)}`: there is no such user.", _NAME_ONE) from error


_NAME_ONE = "Name a folder that is there."
