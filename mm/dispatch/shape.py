"""Step 8 of the journey: what the model is given of an output, and what is printed of it as an answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mm.errors import MMError
from mm.messages import Outcome
from mm.tools.capture import spill_text
from mm.tools.spec import Captured, Output
from mm.visible import remove_escapes

ANSWER_LIMIT = 1_000_000  # characters printed of an output that is the answer
_BYTES_PER_CHARACTER = 4  # at most, in UTF-8
_NEAR = 200  # characters: a cut moves to the end of a line if one is this near
_STDERR_SHARE = 4  # stderr gets at least a quarter of the limit


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a call: `content` to the model, `answer` where the call ends the turn.

    `own`: the answer is the tool's own output, so that it may be the turn's. It is not if the output was withheld.
    """

    outcome: Outcome
    content: str
    answer: str
    own: bool = True


def shape(output: Output, *, limit: int, spill: Callable[[], Path]) -> str:
    """The text for the model, at most about `limit` characters of output.

    First `exit code: n` if not 0, then a note, stdout, and stderr labelled. What is over the limit is cut in the
    middle: said exactly, with the path of a private file that has the whole, in the folder that `spill` gives.
    """
    stdout, stderr = _Text.of(output.stdout, limit), _Text.of(output.stderr, limit)
    spare = max(0, limit - stdout.length) if stderr.length else 0
    for_stderr = min(stderr.length, max(limit // _STDERR_SHARE, spare))
    shown = stdout.cut(limit - for_stderr, spill)
    if output.answers:
        return shown
    complaint = stderr.cut(for_stderr, spill)
    parts = [f"exit code: {output.exit_code}"] if output.exit_code else []
    parts += [f"({output.note})"] if output.note else []
    parts += [shown] if shown.strip() else []
    parts += [f"stderr:\n{complaint}"] if complaint.strip() else []
    if not shown.strip() and not complaint.strip():
        parts.append("(no output)")
    return "\n".join(part.rstrip("\n") for part in parts)


def answer_text(output: Output, *, limit: int = ANSWER_LIMIT) -> str:
    """Standard output alone, clean, as printed when it is the answer. Cut only if it is very long."""
    return _Text.of(output.stdout, limit).cut(limit, None).rstrip("\n")


@dataclass(frozen=True, slots=True)
class _Text:
    """A captured stream as clean text: whole in `text`, or None where it is too long to be looked at as a whole.

    `length` is in characters; of a stream that is too long it is its bytes, which is over every limit.
    """

    captured: Captured
    text: str | None
    length: int

    @classmethod
    def of(cls, captured: Captured, limit: int) -> _Text:
        data = _whole(captured, limit * _BYTES_PER_CHARACTER)
        if data is None:
            return cls(captured, None, captured.size)
        text = remove_escapes(data.decode("utf-8", "replace"))
        return cls(captured, text, len(text))

    def cut(self, limit: int, spill: Callable[[], Path] | None) -> str:
        if self.text is None:
            return self._cut_bytes(limit)
        if len(self.text) <= limit:
            return self.text
        head, tail = _head(self.text, limit - limit // 2), _tail(self.text, limit // 2)
        missing = len(self.text) - len(head) - len(tail)
        file = self.captured.file
        if file is None and spill is not None:
            file = _keep(spill, self.captured.head)
        return _join(head, f"{missing:,} characters left out here{_where(file, self.captured)}", tail)

    def _cut_bytes(self, limit: int) -> str:
        """Cut before cleaning, so that the number of missing bytes is exact; cleaning only makes it shorter."""
        head_bytes, tail_bytes = _ends(self.captured, limit * _BYTES_PER_CHARACTER)
        head = _head(head_bytes.decode("utf-8", "surrogateescape"), limit - limit // 2)
        tail = _tail(tail_bytes.decode("utf-8", "surrogateescape"), limit // 2)
        shown = [part.encode("utf-8", "surrogateescape") for part in (head, tail)]
        missing = self.captured.size - sum(map(len, shown))
        clean = [remove_escapes(part.decode("utf-8", "replace")) for part in shown]
        return _join(clean[0], f"{missing:,} bytes left out here{_where(self.captured.file, self.captured)}", clean[1])


def _keep(spill: Callable[[], Path], data: bytes) -> Path | None:
    """A file with the whole. A folder that cannot be used costs only that."""
    try:
        return spill_text(spill(), data)
    except MMError:
        return None


def _whole(captured: Captured, most: int) -> bytes | None:
    """All the bytes, from memory or from the file if they are at most `most`; None if that is not to be had."""
    if captured.size <= len(captured.head):
        return captured.head
    if captured.size > most or not _has_all(captured.file, captured):
        return None
    assert captured.file is not None
    return captured.file.read_bytes()


def _ends(captured: Captured, count: int) -> tuple[bytes, bytes]:
    """Up to `count` first and last bytes, from memory or, if that has fewer, from the file. They do not overlap."""
    file = captured.file
    if count <= len(captured.head) or file is None or not _has_all(file, captured):
        return captured.head[:count], captured.tail[-count:] if count else b""
    half = min(count, captured.size // 2)
    with file.open("rb") as stream:
        head = stream.read(half)
        stream.seek(-half, 2)
        return head, stream.read()


def _has_all(file: Path | None, captured: Captured) -> bool:
    try:
        return file is not None and file.stat().st_size == captured.size
    except OSError:
        return False


def _where(file: Path | None, captured: Captured) -> str:
    if file is None:
        return ""
    if _has_all(file, captured):
        return f"; all of it is in {file}, which you may read"
    return f"; the last part of it is in {file}, which you may read"


def _head(text: str, limit: int) -> str:
    """The first characters, up to the end of a line if one is near."""
    line_end = text.rfind("\n", max(0, limit - _NEAR), limit)
    return text[:limit] if line_end < 0 else text[: line_end + 1]


def _tail(text: str, limit: int) -> str:
    """The last characters, from the start of a line if one is near."""
    start = max(0, len(text) - limit)
    line_end = text.find("\n", start, start + min(_NEAR, limit))
    return text[start:] if line_end < 0 else text[line_end + 1 :]


def _join(head: str, gap: str, tail: str) -> str:
    return f"{head.rstrip(chr(10))}\n[... {gap} ...]\n{tail}"
