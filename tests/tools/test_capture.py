"""Long output: head and tail in memory, the rest in a private file."""

from __future__ import annotations

import os
import stat
import time
import tracemalloc
from pathlib import Path

import pytest

from mm.tools import capture
from mm.tools.capture import HEAD, TAIL, Capture, spill_text
from mm.tools.spec import Captured


def _take(folder: Path | None, *pieces: bytes) -> Captured:
    taken = Capture(folder)
    for piece in pieces:
        taken.write(piece)
    return taken.finish()


def test_short_output_is_whole_and_makes_no_file(tmp_path: Path) -> None:
    taken = _take(tmp_path / "spill", b"one ", b"two")
    assert (taken.head, taken.tail, taken.size, taken.file) == (b"one two", b"", 7, None)
    assert not (tmp_path / "spill").exists()


def test_long_output_is_whole_in_a_private_file(tmp_path: Path) -> None:
    pieces = [bytes([65 + n % 26]) * 10_000 for n in range(100)]
    taken = _take(tmp_path / "spill", *pieces)
    whole = b"".join(pieces)
    assert taken.file is not None
    assert taken.file.read_bytes() == whole
    assert stat.S_IMODE(taken.file.stat().st_mode) == 0o600
    assert (taken.head, taken.tail, taken.size) == (whole[:HEAD], whole[-TAIL:], len(whole))


def test_past_its_limit_the_file_keeps_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SPILL_LIMIT", 300_000)
    pieces = [f"{n:07},".encode() * 1000 for n in range(100)]
    taken = _take(tmp_path, *pieces)
    assert taken.file is not None
    assert taken.file.read_bytes() == b"".join(pieces)[-300_000:]
    assert taken.size == 800_000
    assert list(tmp_path.iterdir()) == [taken.file]


def test_one_piece_larger_than_the_file_keeps_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "SPILL_LIMIT", 1000)
    whole = bytes(range(256)) * 2000
    taken = _take(tmp_path, whole)
    assert taken.file is not None
    assert taken.file.read_bytes() == whole[-1000:]


def test_memory_stays_small_however_long_the_output() -> None:
    piece = b"x" * 100_000
    taken = Capture(None)
    tracemalloc.start()
    for _ in range(200):
        taken.write(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken.finish().size == 20_000_000
    assert peak < 2_000_000


def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    taken = _take(blocked / "spill", b"x" * 500_000)
    assert (taken.file, taken.size, len(taken.tail)) == (None, 500_000, TAIL)
    assert spill_text(blocked / "spill", b"x") is None


def test_the_digest_tells_outputs_apart_in_the_part_that_is_not_kept(tmp_path: Path) -> None:
    middle = [b"a" * HEAD, b"b", b"c" * (2 * TAIL)]
    other = [b"a" * HEAD, b"B", b"c" * (2 * TAIL)]
    assert _take(None, *middle).digest != _take(None, *other).digest
    assert _take(None, *middle).digest == _take(None, b"".join(middle)).digest


def test_files_of_earlier_runs_go_after_a_week_or_when_they_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, large, new, other = (tmp_path / name for name in ("output-1.txt", "output-2.txt", "output-3.txt", "mine.txt"))
    now = time.time()
    for age, path in ((8, old), (3, large), (1, new), (9, other)):
        path.write_bytes(b"x" * (900 if path is large else 200))
        os.utime(path, (now - age * 24 * 3600, now - age * 24 * 3600))
    monkeypatch.setattr(capture, "_KEPT_IN_ALL", 1000)
    made = spill_text(tmp_path, b"y")
    assert made is not None
    assert set(tmp_path.iterdir()) == {new, other, made}
