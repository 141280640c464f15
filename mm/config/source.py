"""Reads the text of an agent file: a regular file, UTF-8, of a sane size."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from mm.config.problems import ConfigProblems, unreadable
from mm.errors import UsageError

LARGEST_FILE = 1024 * 1024  # bytes
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")  # what YAML calls not printable
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_bytes(path: Path) -> bytes:
    """The bytes of an agent file. Raises UsageError if there is no such file or it cannot be one."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"`{path}` is not a regular file.", "Name an agent file: mm -a agent.yaml")
        if status.st_size > LARGEST_FILE:
            raise unreadable(path, f"the file has {status.st_size:,} bytes; an agent file has at most {LARGEST_FILE:,}")
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"There is no file `{path}`.", "Write one with: mm init") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"`{path}` cannot be read: {reason}.") from error


def decode(path: Path, data: bytes) -> str:
    """The text of an agent file, less a byte order mark. Raises ConfigProblems with the place of the first bad byte."""
    if data.startswith(_UTF16):
        raise unreadable(path, "the file is UTF-16", "Save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        raise _at(path, before, f"byte 0x{data[error.start]:02x} is not UTF-8", "Save the file as UTF-8.") from None
    found = _CONTROL.search(text)
    if found:
        message = f"the character U+{ord(found.group()):04X} does not belong in a text file"
        raise _at(path, text[: found.start()], message, 'Remove it, or write it as an escape in double quotes: "\\e"')
    return text


def _at(path: Path, before: str, message: str, hint: str) -> ConfigProblems:
    lines = before.split("\n")
    return unreadable(path, message, hint, line=len(lines), column=len(lines[-1]) + 1)
