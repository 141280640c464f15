"""The agent file as data: one frozen dataclass a section. Built by `mm.config.load`, already checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mm.messages import JSON
from mm.schemas.schema import Schema


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the agent file. Lines and columns count from 1."""

    file: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Which model to ask, and how. `None` means: the provider's or the server's default.

    `api_key` is never printed; `key_variables` are the environment variables that it and the
    headers were made of.
    """

    provider: str
    name: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_variables: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    context: int | None = None  # tokens
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra: Mapping[str, JSON] = field(default_factory=dict)  # merged into the request body

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A piece of a template that stands as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A piece of a template that is replaced by a parameter's value."""

    parameter: str


@dataclass(frozen=True, slots=True)
class Template:
    """One text of `command` or `stdin`: literals and slots in order (`{{{{` is already a literal `{{`)."""

    pieces: tuple[Literal | Slot, ...]
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(piece.parameter for piece in self.pieces if isinstance(piece, Slot))


@dataclass(frozen=True, slots=True)
class Group:
    """A nested list of `command`: dropped as a whole, or repeated per item of a list."""

    entries: tuple[Template, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """`{flag: --verbose, when: verbose}`: one literal entry, there if the boolean parameter is true."""

    text: str
    when: str


@dataclass(frozen=True, slots=True)
class CommandTool:
    """A `command:` entry. `program` is an absolute path if it was written with a slash, else a name for PATH."""

    program: str
    arguments: tuple[Template | Group | Flag, ...]
    stdin: Template | None = None
    stdin_json: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None  # None: the folder mm was started in
    timeout: float = 60.0  # seconds
    allow_dash: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Grant:
    """A folder that a wasm module may see, under `/name`. `resolved` is where it led when the file was read."""

    folder: Path
    name: str
    writable: bool
    resolved: Path | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class WasmTool:
    """A `wasm:` entry."""

    module: Path
    grants: tuple[Grant, ...] = ()
    memory: int = 256 * 1024 * 1024  # bytes
    timeout: float = 30.0  # seconds


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One entry of `tools:`. `places` say where its keys stand, and its parameters as `parameters.NAME`."""

    name: str
    description: str
    schema: Schema
    run: CommandTool | WasmTool
    place: Place
    no_parameters: bool = False  # `parameters` is absent: extras from the model are dropped
    final: bool = False
    repeat: bool = False
    readonly: bool = False
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)


class HookEvent(StrEnum):
    BEFORE = "preToolCall"
    AFTER = "postToolCall"


class OnError(StrEnum):
    BLOCK = "block"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that looks at calls. `matcher` is a regular expression that must match the whole tool name."""

    event: HookEvent
    matcher: str
    command: tuple[str, ...]  # the program is an absolute path if it was written with a slash
    place: Place
    timeout: float = 10.0  # seconds
    on_error: OnError = OnError.BLOCK


@dataclass(frozen=True, slots=True)
class Permissions:
    """Tool names by rule. deny > ask > allow > yolo."""

    allow: frozenset[str] = frozenset()
    ask: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class McpServer:
    """One entry of `mcpServers`: a command (stdio) or a url (streamable HTTP)."""

    name: str
    place: Place
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    cwd_place: Place | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    disabled: bool = False
    enabled_tools: frozenset[str] | None = None  # None: all
    disabled_tools: frozenset[str] = frozenset()
    start_timeout: float = 20.0  # seconds
    timeout: float = 120.0  # seconds, per call


BUILTIN_NAMES = (
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "read_skill",
    "clarify",
    "todo_list",
    "memory",
    "session_search",
    "delegate_task",
    "read_terminal",
)
PLANNED_NAMES = ("web_fetch", "web_search")
DEFAULT_BUILTINS = ("bash", "read_file", "write_file", "edit_file", "list_files", "search_files")


@dataclass(frozen=True, slots=True)
class Config:
    """A whole agent. `file` is its identity (see mm.config.identity), None for the built-in defaults.

    `folder` is where relative paths start.
    """

    file: Path | None
    folder: Path
    name: str = "mm"
    model: ModelConfig | None = None  # None: the default, see mm.models.providers
    instructions: str = ""  # with the text of `instructions_files`
    instructions_files: tuple[Path, ...] = ()  # as named, also those that are not there
    builtins: tuple[str, ...] = DEFAULT_BUILTINS
    yolo: bool = False
    permissions: Permissions = Permissions()
    env_pass: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    skills: tuple[Path, ...] = ()
    mcp_servers: tuple[McpServer, ...] = ()
    tools: tuple[ToolEntry, ...] = ()
    output_limit: int = 30_000  # characters
    max_rounds: int = 50
    secret_variables: frozenset[str] = frozenset()  # used as `api_key`: never passed to a tool
    warnings: tuple[str, ...] = ()
    digest: str = ""  # sha256 of the bytes of `file` that this was read from
