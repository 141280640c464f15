"""Reads `instructions` and appends the `instructions_files` that are there."""

from __future__ import annotations

import stat
from pathlib import Path

from mm.config.nodes import Scalar
from mm.config.reader import Fields, Reader

LARGEST = 256 * 1024  # bytes of one file


def read_instructions(reader: Reader, fields: Fields) -> tuple[str, tuple[Path, ...]]:
    """The instructions of the file itself, then each further file, a blank line between them; and those files."""
    parts = [reader.text(fields.get("instructions"), "instructions").strip()]
    files = []
    for item in reader.texts(fields.get("instructions_files"), "instructions_files", are_paths=True):
        path = reader.path(item, "instructions_files")
        if path is None:
            continue
        files.append(path)
        if not reader.is_written(item):
            parts.append(_read(reader, item, path).strip())
    return "\n\n".join(part for part in parts if part), tuple(files)


def _read(reader: Reader, item: Scalar, path: Path) -> str:
    """The text of a file; "" if there is none. Only a regular file is opened: a FIFO would hang mm."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            reader.problem(item, f"`instructions_files`: `{item.text}` is not a regular file", "Name a text file.")
            return ""
        if status.st_size > LARGEST:
            message = f"`instructions_files`: `{item.text}` has {status.st_size:,} bytes, more than {LARGEST:,}"
            reader.problem(item, message, "Shorten it: the model reads all of it in each request.")
            return ""
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        reader.problem(item, f"`instructions_files`: `{item.text}` cannot be read: {reason}")
        return ""
    text = data.decode("utf-8-sig", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    if "\N{REPLACEMENT CHARACTER}" in text:
        reader.warn(item, f"`instructions_files`: `{item.text}` is not UTF-8; odd bytes were replaced")
    return text
