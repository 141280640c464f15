"""Opens, reads and replaces files at resolved paths: no link is followed, nothing but regular files is touched.

A path is resolved when a call is planned and shown to the person. Here it is walked again from the root, one folder
after the other, and a link anywhere on the way means that it changed since: the call is answered, nothing is opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mm.errors import ToolError
from mm.visible import make_visible_line

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASS = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)  # O_PATH: also through folders that may be entered, not listed


@contextmanager
def opened_folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder at a resolved path. `create` makes what is missing of it."""
    descriptor = _open_folder(path, create=create)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_listing(path: Path) -> int:
    """A descriptor of the folder at a resolved path, fit for listing. The caller closes it."""
    with opened_folder(path) as folder:
        try:
            return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=folder)
        except OSError as error:
            raise failed("read", path, error) from error


@contextmanager
def opened_file(path: Path) -> Iterator[IO[bytes]]:
    """The regular file at a resolved path, open for reading. Never waits, as opening a FIFO would.

    An error of the system, also while it is read, is a ToolError.
    """
    try:
        with opened_folder(path.parent) as folder:
            file = open_entry(folder, path.name)
        with file:
            yield file
    except OSError as error:
        raise failed("read", path, error) from error


def open_entry(folder: int, name: str) -> IO[bytes]:
    """The regular file `name` of an open folder. Raises OSError, also for a link and for anything else."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


def replace_file(path: Path, data: bytes, *, create_folders: bool = False, private: bool = False) -> None:
    """Put `data` at a resolved path in one step: others see the old content or the new, never a part of it.

    The permissions of a file that is there already are kept; other names of it (hard links) keep the old content.
    A new file is for its owner alone if it is `private`, else as the user's umask says.
    """
    with opened_folder(path.parent, create=create_folders) as folder:
        temporary = f".mm-{os.urandom(8).hex()}.tmp"
        try:
            old = _status(folder, path)
            _write_new(folder, temporary, data, old, 0o600 if private else 0o666)
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            raise failed("write", path, error) from error
        finally:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)


def kind_of(status: os.stat_result) -> str:
    """What a file is, in words with an article: "a folder", "a pipe"."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a link",
        stat.S_IFIFO: "a pipe (FIFO)",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(status.st_mode), "no regular file")


def failed(action: str, path: Path, error: OSError) -> ToolError:
    """The error of the operating system as a sentence for the model."""
    name = f"`{make_visible_line(str(path))}`"
    if error.errno == errno.ELOOP:  # a resolved path has no links, so this one is new
        return ToolError(f"{name} has become a link since the call was approved, so it was left alone. Call again.")
    return ToolError(f"{name} could not be {_PAST[action]}: {(error.strerror or str(error)).lower()}.")


_PAST = {"read": "read", "write": "written", "open": "opened"}


def _open_folder(path: Path, *, create: bool) -> int:
    descriptor = os.open(path.anchor, _PASS)
    for number, name in enumerate(path.parts[1:], 2):
        try:
            following = _enter(descriptor, name, create=create)
        except OSError as error:
            raise _no_folder(Path(*path.parts[:number]), error) from error
        finally:
            os.close(descriptor)
        descriptor = following
    return descriptor


def _enter(folder: int, name: str, *, create: bool) -> int:
    try:
        return os.open(name, _PASS, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _PASS, dir_fd=folder)


def _no_folder(path: Path, error: OSError) -> ToolError:
    """O_DIRECTORY reports a link in the place of a folder as no folder."""
    return failed("open", path, OSError(errno.ELOOP, "") if path.is_symlink() else error)


def _status(folder: int, path: Path) -> os.stat_result | None:
    try:
        status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, f"it has become {kind_of(status)} since the call was approved")
    return status


def _write_new(folder: int, name: str, data: bytes, old: os.stat_result | None, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, mode if old is None else 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        if old is not None:
            _keep_permissions(descriptor, old)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _keep_permissions(descriptor: int, old: os.stat_result) -> None:
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):  # only the superuser may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
