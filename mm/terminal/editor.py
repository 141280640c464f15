"""The person's own editor, for a text that is easier to change there."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from mm.visible import make_visible_line


def editor_command() -> list[str]:
    """VISUAL, else EDITOR, as argv; empty if neither is set."""
    for name in ("VISUAL", "EDITOR"):
        with contextlib.suppress(ValueError):  # an open quote: as good as not set
            command = shlex.split(os.environ.get(name, ""))
            if command:
                return command
    return []


def editor_problem() -> str:
    """Why the editor that the person chose cannot be started; "" if it can, or if none was chosen."""
    command = editor_command()
    if not command or shutil.which(command[0]):
        return ""
    name = "VISUAL" if command[0] in os.environ.get("VISUAL", "") else "EDITOR"
    return f"There is no program `{make_visible_line(command[0])}`, which {name} names."


def edit_in_editor(text: str, suffix: str) -> str | None:
    """Edit a text in a private file. None if the editor could not be started or reported a failure."""
    descriptor, name = tempfile.mkstemp(prefix="mm-", suffix=suffix)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
        if subprocess.run([*editor_command(), name], check=False).returncode != 0:
            return None
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    except OSError:
        return None
    finally:
        path.unlink(missing_ok=True)
