"""What exactly one wasm call would run: the module's bytes, its folders, its arguments, its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mm.config.schema import Grant, WasmTool
from mm.errors import CannotRunError, ToolError
from mm.tools.argv import to_json
from mm.tools.sandbox.module import ModuleError, ModuleFiles
from mm.tools.spec import Arguments, Look, Plan, Shown, Tool, digest_of


@dataclass(frozen=True, slots=True)
class WasmRun:
    """`digest` is the sha256 of `binary`, which is what runs. The folders of `grants` are resolved."""

    name: str
    module: Path
    digest: str
    binary: bytes = field(repr=False)
    grants: tuple[Grant, ...]
    stdin: bytes
    memory: int  # bytes
    timeout: float  # seconds


def plan_call(tool: Tool, arguments: Arguments, files: ModuleFiles) -> Plan:
    """Raises CannotRunError if the module or a folder is not there, ToolError for arguments that JSON cannot hold."""
    spec = tool.spec
    assert isinstance(spec, WasmTool)
    try:
        module = files.read(spec.module)
    except ModuleError as error:
        raise CannotRunError(unfit(tool.name, spec.module, str(error))) from error
    what = WasmRun(
        name=tool.name,
        module=spec.module,
        digest=module.digest,
        binary=module.binary,
        grants=tuple(_resolve(tool.name, grant) for grant in spec.grants),
        stdin=_stdin(tool.name, arguments),
        memory=spec.memory,
        timeout=spec.timeout,
    )
    parts = _parts(what)
    shown = _shown(what)
    covers = "; ".join(" ".join(part.entries) for part in shown if part.look is not Look.STDIN)
    return Plan(what, shown, digest_of(["wasm", parts]), parts=parts, covers=covers)


def unfit(name: str, module: Path, why: str) -> str:
    """The reply for a module that cannot run, which no other arguments would change."""
    return (
        f"The tool `{name}` cannot run: its module `{module}` {why}. "
        "Nothing ran, and other arguments will not help: tell the user what is wrong with the module."
    )


def _resolve(name: str, grant: Grant) -> Grant:
    """The grant with its real folder: a link is followed here, where it is shown, and not later.

    It has to lead where it led when the agent file was read: a tool may have put a link there since.
    """
    try:
        folder = grant.folder.resolve(strict=True)
        folder.as_posix().encode("utf-8")
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else "cannot be opened"
        raise CannotRunError(_no_folder(name, grant, why)) from error
    if not folder.is_dir():
        raise CannotRunError(_no_folder(name, grant, "is not a folder"))
    if grant.resolved is not None and folder != grant.resolved:
        why = f"led to `{grant.resolved}` when mm started, and now to `{folder}`"
        raise CannotRunError(_no_folder(name, grant, why))
    return Grant(folder, grant.name, grant.writable)


def _no_folder(name: str, grant: Grant, why: str) -> str:
    return (
        f"The tool `{name}` cannot run: the folder `{grant.folder}`, which it sees as `/{grant.name}`, {why}. "
        "Nothing ran, and other arguments will not help: tell the user what is wrong with the folder."
    )


def _stdin(name: str, arguments: Arguments) -> bytes:
    try:
        return to_json(arguments).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"The arguments of `{name}` cannot be written as JSON in UTF-8 ({error}). "
            "Nothing ran. Send plain text and ordinary numbers."
        ) from error


def _shown(what: WasmRun) -> tuple[Shown, ...]:
    grants = tuple(_grant_in_words(grant) for grant in what.grants) or ("no folder at all",)
    limits = f"{what.timeout:g} s, {what.memory / 2**20:g} MiB of memory, no network, no environment"
    return (
        Shown("module", Look.PATH, (str(what.module.resolve()),)),
        Shown("may use", Look.GRANT, grants),
        Shown("limits", Look.TEXT, (limits,)),
        Shown("stdin", Look.STDIN, (what.stdin.decode("utf-8"),)),
    )


def _grant_in_words(grant: Grant) -> str:
    return f"{'read and write' if grant.writable else 'read'} {grant.folder} (as /{grant.name})"


def _parts(what: WasmRun) -> dict[str, str]:
    """What an "always" is bound to, each part under its name."""
    grants = [[str(grant.folder), grant.name, grant.writable] for grant in what.grants]
    return {
        "its module": what.digest,
        "the folders it may use": digest_of(grants),
        "its limits": digest_of([what.memory, what.timeout]),
    }
