"""A journey to test with: real executors, tools of every kind that give back the arguments they received."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import wasmtime

from mm.config.schema import CommandTool, Hook, Literal, McpServer, Permissions, Place, Template, WasmTool
from mm.dispatch.consent import Consent
from mm.dispatch.dispatcher import Answered, Dispatcher
from mm.dispatch.hooks import Hooks
from mm.dispatch.person import Answer, ConsentRequest, Decision
from mm.events import Event
from mm.interrupt import Interrupt
from mm.messages import Outcome, ToolCall, ToolResult
from mm.schemas.schema import Schema
from mm.tools.builtin import Builtin, BuiltinExecutor
from mm.tools.command import CommandExecutor
from mm.tools.mcp import McpExecutor
from mm.tools.mcp_servers import Servers
from mm.tools.spec import ApprovedCall, Arguments, Kind, Look, Need, Output, Plan, Run, Shown, Tool
from mm.tools.table import Table
from mm.tools.wasm import WasmExecutor

# Writes what it reads: the smallest WASI command that gives back its arguments.
ECHO_WAT = """
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "_start")
    (loop $again
      (i32.store (i32.const 0) (i32.const 64))
      (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.load (i32.const 8))
        (then
          (i32.store (i32.const 4) (i32.load (i32.const 8)))
          (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
          (br $again))))))
"""

# Writes `no luck` to stderr and exits with 1.
FAIL_WAT = """
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\\10\\00\\00\\00\\08\\00\\00\\00")
  (data (i32.const 16) "no luck\\n")
  (func (export "_start")
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $exit (i32.const 1))))
"""
_FAIL = "echo no luck >&2; exit 1"


class Schedule(StrEnum):
    ALONE = "one at a time"
    BESIDE = "side by side"


class Over(StrEnum):
    """How a server is talked to."""

    STDIO = "mcp over stdio"
    HTTP = "mcp over http"


KINDS = (Kind.COMMAND, Kind.WASM, Kind.BUILTIN, Over.STDIO, Over.HTTP)


@dataclass(slots=True)
class Asked:
    """A person who gives the answers that the test prepared, and remembers what was asked."""

    answers: list[Answer] = field(default_factory=list)
    requests: list[ConsentRequest] = field(default_factory=list)

    def decide(self, request: ConsentRequest) -> Answer:
        self.requests.append(request)
        return self.answers.pop(0) if self.answers else Answer(Decision.YES)

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        return ["" for _ in questions]


@dataclass(slots=True)
class Book:
    """A journal that keeps what it was told, in order."""

    started: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    def call_started(self, call: ToolCall) -> None:
        self.started.append(call)

    def add_result(self, result: ToolResult) -> None:
        self.results.append(result)


@dataclass(slots=True)
class Journey:
    """A dispatcher and everything around it that a test looks at."""

    folder: Path
    tools: list[Tool]
    hooks: list[Hook] = field(default_factory=list)
    yolo: bool = True
    permissions: Permissions = field(default_factory=Permissions)
    person: Asked | None = None
    output_limit: int = 30_000
    servers: Servers | None = None  # other MCP servers than the ones that echo
    spill: Callable[[], Path] | None = None  # another folder for long outputs
    book: Book = field(default_factory=Book)
    events: list[Event] = field(default_factory=list)
    interrupt: Interrupt = field(default_factory=Interrupt)
    dispatcher: Dispatcher = field(init=False)

    def __post_init__(self) -> None:
        environment = {"PATH": "/usr/bin:/bin"}
        spill = self.folder / "spill"
        spill.mkdir(exist_ok=True)
        self.dispatcher = Dispatcher(
            tools=lambda: self.tools,
            executors=executors(self.folder, self.servers),
            hooks=Hooks(
                self.hooks,
                session_id="test",
                cwd=self.folder,
                environment=environment,
                stop=self.interrupt.stop,
            ),
            consent=Consent(permissions=self.permissions, yolo=self.yolo, person=self.person, interrupt=self.interrupt),
            journal=self.book,
            interrupt=self.interrupt,
            listen=self.events.append,
            spill=self.spill or (lambda: spill),
            output_limit=lambda: self.output_limit,
        )

    def send(self, *calls: tuple[str, Any]) -> Answered:
        """Answer one reply with these calls; arguments that are not text are written as JSON."""
        return self.dispatcher.answer(
            [
                ToolCall(f"call{n}", name, given if isinstance(given, str) else json.dumps(given))
                for n, (name, given) in enumerate(calls)
            ]
        )

    def one(self, name: str, given: Any) -> ToolResult:
        """The result of a reply with one call."""
        return self.send((name, given)).results[0]


def executors(folder: Path, servers: Servers | None = None) -> Table:
    def command() -> CommandExecutor:
        return CommandExecutor({"PATH": "/usr/bin:/bin"}, folder)

    def mcp() -> McpExecutor:
        return McpExecutor(servers or echo_servers())

    return Table({Kind.COMMAND: command, Kind.WASM: WasmExecutor, Kind.BUILTIN: BuiltinExecutor, Kind.MCP: mcp})


@functools.cache
def echo_servers() -> Servers:
    """One server for each way to talk to it, started when a test first needs them and ended with the test run."""
    home = Path(tempfile.mkdtemp())
    program = (sys.executable, str(Path(__file__).parent / "mcp_servers" / "echo.py"))
    listening = subprocess.Popen([*program, "http"], stdout=subprocess.PIPE, text=True)
    assert listening.stdout is not None
    port = int(listening.stdout.readline())
    place = Place(home / "agent.yaml", 1, 1)
    servers = Servers(
        [
            McpServer(Over.STDIO, place, command=program, start_timeout=60),
            McpServer(Over.HTTP, place, url=f"http://127.0.0.1:{port}/mcp", start_timeout=60),
        ],
        {"PATH": "/usr/bin:/bin"},
        home,
    )
    servers.start()
    servers.wait()

    def end() -> None:
        servers.close()
        listening.kill()
        listening.communicate()
        shutil.rmtree(home)

    atexit.register(end)
    return servers


def echo_tool(kind: Kind | Over, folder: Path, schema: Any, *, name: str = "echo", **rest: Any) -> Tool:
    """A tool of this kind whose output is the JSON of the arguments that it received."""
    spec: object
    if kind is Kind.COMMAND:
        spec = CommandTool(program="cat", arguments=(), stdin_json=True)
    elif kind is Kind.WASM:
        module = folder / "echo.wasm"
        if not module.exists():
            module.write_bytes(wasmtime.wat2wasm(ECHO_WAT))
        spec = WasmTool(module=module)
    elif isinstance(kind, Over):
        spec = next(tool.spec for tool in echo_servers().tools()[kind] if tool.name.endswith("__echo"))
        kind = Kind.MCP
    else:
        spec = builtin(name, schema, lambda arguments, run: Output.text(Outcome.OK, json.dumps(dict(arguments))))
    return Tool(name=name, kind=kind, description="Gives back its arguments.", schema=Schema(schema), spec=spec, **rest)


def failing_tool(kind: Kind | Over, folder: Path) -> Tool:
    """A tool of this kind, `fail`, that always says `no luck` and fails."""
    spec: object
    if kind is Kind.COMMAND:
        spec = CommandTool(program="sh", arguments=tuple(Template((Literal(text),)) for text in ("-c", _FAIL)))
    elif kind is Kind.WASM:
        module = folder / "fail.wasm"
        module.write_bytes(wasmtime.wat2wasm(FAIL_WAT))
        spec = WasmTool(module=module)
    elif isinstance(kind, Over):
        spec = next(tool.spec for tool in echo_servers().tools()[kind] if tool.name.endswith("__fail"))
        kind = Kind.MCP
    else:
        spec = builtin("fail", {}, lambda arguments, run: Output.text(Outcome.FAILED, "no luck"))
    return Tool(name="fail", kind=kind, description="Fails.", schema=Schema({"type": "object"}), spec=spec)


def builtin(name: str, schema: Any, act: Callable[[Arguments, Run], Output], need: Need = Need.ASK) -> Builtin:
    """A built-in tool that does `act`."""

    def plan(arguments: Arguments) -> Plan:
        return Plan(
            arguments, (Shown("arguments", Look.TEXT, (json.dumps(dict(arguments)),)),), f"definition of {name}", need
        )

    def run(call: ApprovedCall, run: Run) -> Output:
        return act(call.arguments, run)

    return Builtin(name, "A tool for a test.", schema, plan, run)


def acting(name: str, act: Callable[[Arguments, Run], Output], *, need: Need = Need.ASK, **rest: Any) -> Tool:
    """A built-in tool without effect on the world but `act`, with open parameters."""
    schema = {"type": "object"}
    made = builtin(name, schema, act, need)
    return Tool(
        name=name, kind=Kind.BUILTIN, description="A tool for a test.", schema=Schema(schema), spec=made, **rest
    )


class Gathering:
    """A meeting point: calls that run side by side all get here."""

    def __init__(self, parties: int) -> None:
        self._barrier = threading.Barrier(parties)

    def met(self) -> bool:
        try:
            self._barrier.wait(20)
        except threading.BrokenBarrierError:
            return False
        return True
