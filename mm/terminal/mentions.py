"""`@file` in a message: the file's content goes under the message, as a labelled block."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from pathlib import Path

from mm.folders import with_home
from mm.visible import cut_long_values

LARGEST = 256 * 1024  # bytes
_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([\w./~+-]+))(?=[\s,;:!?)]|$)')
_BLOCK = re.compile(
    r"\n\n(?P<block>(?:Content of `[^\n]*`|(?P<own>I ran `[^\n]*` \([^\n]*\)\. Its output)):\n"
    r"(?P<fence>`{3,})[^\n`]*\n(?:.*?\n)??(?P=fence))(?=\n\n|\Z)",
    re.DOTALL,
)
_BACKTICKS = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Mentions:
    """A message with its files. `problems` has a sentence for each that could not be read."""

    text: str
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def insert_files(message: str) -> Mentions:
    """Append the content of each mentioned file once.

    A word such as `@property` that looks like no path and names no file is left alone without a word.
    """
    files: list[str] = []
    blocks: list[str] = []
    problems: list[str] = []
    for name in dict.fromkeys(found[0] or _without_stop(found[1]) for found in _MENTION.findall(message)):
        try:
            blocks.append(labelled_block(f"Content of `{name}`", _read(name), Path(name).suffix[1:]))
            files.append(name)
        except _UnreadableError as error:
            problems += [str(error)] if _looks_like_path(name) or not error.missing else []
    return Mentions("\n\n".join([message, *blocks]), tuple(files), tuple(problems))


def labelled_block(label: str, content: str, language: str = "") -> str:
    """A text that the model can tell from the message: a label and a fence that the content cannot close."""
    longest = max((len(run) for run in _BACKTICKS.findall(content)), default=2)
    fence = "`" * (longest + 1)
    return f"{label}:\n{fence}{language}\n{content.rstrip()}\n{fence}"


def split_prompt(prompt: str) -> tuple[str, list[str]]:
    """A prompt as it was sent, as the message that was typed and the outputs of own commands that went with it.

    Files are left out: the message still names them.
    """
    for begin in _BLOCK.finditer(prompt):
        blocks: list[re.Match[str]] = []
        end = begin.start()
        while block := _BLOCK.match(prompt, end):
            blocks.append(block)
            end = block.end()
        if end == len(prompt):
            return prompt[: begin.start()], [block["block"] for block in blocks if block["own"]]
    return prompt, []


def own_output(command: str, ending: str, output: str) -> str:
    """The block that tells the model what a command of the person's own gave."""
    return labelled_block(f"I ran `{command}` ({ending}). Its output", output or "(no output)")


class _UnreadableError(Exception):
    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


_NO_SUCH_NAME = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)


def _read(name: str) -> str:
    path = with_home(name)
    try:
        if path.is_dir():
            raise _UnreadableError(f"`{name}` is a folder; name a file in it.")
        path.stat()
        if not path.is_file():
            raise _UnreadableError(f"`{name}` is not a regular file.")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: no name at all, such as one with a NUL in it
        if isinstance(error, OSError) and error.errno not in _NO_SUCH_NAME:
            raise _UnreadableError(f"`{name}` cannot be read: {error.strerror}.") from error
        raise _UnreadableError(cut_long_values(f"There is no file `{name}`."), missing=True) from error
    if len(data) > LARGEST:
        raise _UnreadableError(f"`{name}` is longer than {LARGEST // 1024} KiB; let the model read it in parts.")
    if b"\0" in data:
        raise _UnreadableError(f"`{name}` is not a text file.")
    return data.decode("utf-8", "replace")


def _without_stop(name: str) -> str:
    """`@notes.txt.` at the end of a sentence means `notes.txt`."""
    try:
        return name if with_home(name).exists() else name.rstrip(".")
    except OSError:  # nobody may look there, or the name is too long
        return name.rstrip(".")


def _looks_like_path(name: str) -> bool:
    return "/" in name or "." in name or " " in name
