"""An MCP server as a program: started in a session of its own, talked to over its pipes, ended with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mm.config.schema import McpServer
from mm.errors import ToolError
from mm.tools.command import find_program
from mm.tools.mcp_link import ServerError, leaf, said
from mm.tools.process import Program, end_program, start_program

PATIENCE = 1.0  # seconds that a server has to end by itself once its stdin is closed
GRACE = 1.0  # seconds between TERM and KILL
HOLD = 0.5  # seconds that is still read after the program exited
LONGEST_LINE = 64 * 1024 * 1024  # bytes of one message
KEPT_STDERR = 4096  # bytes


class ProcessLink:
    """One run of a server's program. `skipped` is told the first line on its stdout that is no message."""

    def __init__(
        self, server: McpServer, environment: Mapping[str, str], cwd: Path, skipped: Callable[[str], None]
    ) -> None:
        self.broken = False
        self.on_end: Callable[[], None] = lambda: None
        self._server = server
        self._env = {**environment, **server.env}
        self._cwd = server.cwd or cwd
        self._skipped = skipped
        self._skips = 0
        self._stderr = _Tail()
        self._exit_code: int | None = None

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        process = self._start()
        to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        to_server, from_session = anyio.create_memory_object_stream[SessionMessage](math.inf)
        pipes = _Pipes(process, _Lines(lambda line: self._take(line, to_session), to_session.close), self._stderr)
        try:
            await pipes.connect(lambda: self._break(to_session))
            writer = asyncio.create_task(_write(from_session, pipes))
            try:
                yield from_server, to_server
            finally:
                writer.cancel()
        finally:
            self._exit_code = await pipes.end(broken=self.broken)
            self.broken = True
            for stream in (to_session, from_server, to_server, from_session):
                stream.close()

    def refusal(self, request: int) -> None:
        """A pipe refuses nothing: what the program says is its own answer."""

    def explain(self, error: BaseException | None) -> str:
        error = leaf(error) if error else None
        if isinstance(error, ServerError):
            reason = error.reason
        elif self._exit_code is not None:
            ended = f"signal {-self._exit_code}" if self._exit_code < 0 else f"exit code {self._exit_code}"
            reason = f"it ended with {ended}"
        else:
            reason = f"it failed: {said(error)}" if error else "it closed its output"
        complaint = self._stderr.text()
        return f"{reason}; its stderr:\n{complaint}" if complaint else reason

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            file = find_program(self._server.command[0], self._env.get("PATH", os.defpath))
            return start_program(Program(self._server.command, self._env, self._cwd, None, file=file), stdin=True)
        except ToolError as error:
            raise ServerError(_uncapitalized(error.message.partition(" Nothing ran.")[0].rstrip("."))) from error

    def _take(self, line: bytes, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass a message on; anything else that a program prints is not part of the talk."""
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if not self._skips:
                self._skipped(line[:200].decode("utf-8", "replace").strip())
            self._skips += 1
            return
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            to_session.send_nowait(SessionMessage(message))

    def _break(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        if not self.broken:
            self.broken = True
            self.on_end()
        to_session.close()


class _Pipes:
    """The three pipes of a program, and its end."""

    def __init__(self, process: subprocess.Popen[bytes], stdout: _Lines, stderr: _Tail) -> None:
        self._process = process
        self._stdout = stdout
        self._stderr = stderr
        self._stdin: asyncio.WriteTransport | None = None
        self._reading: list[asyncio.ReadTransport] = []
        self._watched: int | None = None

    async def connect(self, broken: Callable[[], None]) -> None:
        """Begin to read. `broken` is called when nothing more will come."""
        loop = asyncio.get_running_loop()
        self._stdout.on_end = broken
        self._stdin, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, self._process.stdin)
        for protocol, pipe in ((self._stdout, self._process.stdout), (self._stderr, self._process.stderr)):
            transport, _ = await loop.connect_read_pipe(_giving(protocol), pipe)
            self._reading.append(transport)
        with contextlib.suppress(AttributeError, OSError):
            self._watched = os.pidfd_open(self._process.pid)
            loop.add_reader(self._watched, self._exited, loop, broken)

    def write(self, data: bytes) -> None:
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    async def end(self, *, broken: bool) -> int | None:
        """Close stdin, wait, TERM, KILL, all of its session; the exit code if it had ended by itself.

        `broken` says that it seems to have ended already.
        """
        by_itself = broken and await _has_exited(self._process)
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.abort()
        elif self._stdin is None and self._process.stdin is not None:
            self._process.stdin.close()
        self._unwatch()
        await asyncio.to_thread(end_program, self._process, GRACE, patience=PATIENCE)
        if self._reading:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stderr.ended.wait(), HOLD)
        for transport in self._reading:
            transport.close()
        return self._process.returncode if by_itself else None

    def _exited(self, loop: asyncio.AbstractEventLoop, broken: Callable[[], None]) -> None:
        self._unwatch()
        # Something that it started may hold its output open; what it wrote itself is read by then.
        loop.call_later(HOLD, broken)

    def _unwatch(self) -> None:
        if self._watched is not None:
            asyncio.get_running_loop().remove_reader(self._watched)
            os.close(self._watched)
            self._watched = None


class _Lines(asyncio.Protocol):
    """Cuts what arrives into lines. A line that is far too long is dropped."""

    def __init__(self, take: Callable[[bytes], None], close: Callable[[], None]) -> None:
        self.on_end = close
        self._take = take
        self._parts: list[bytes] = []
        self._size = 0

    def data_received(self, data: bytes) -> None:
        first, *lines = data.split(b"\n")
        self._add(first)
        for line in lines:
            self._flush()
            self._add(line)

    def connection_lost(self, error: Exception | None) -> None:
        self._flush()
        self.on_end()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= LONGEST_LINE:
            self._parts.append(part)

    def _flush(self) -> None:
        line = b"".join(self._parts) if self._size <= LONGEST_LINE else b"(a line that is too long)"
        self._parts, self._size = [], 0
        self._take(line)


class _Tail(asyncio.Protocol):
    """The end of what a server writes to stderr."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._kept = b""

    def data_received(self, data: bytes) -> None:
        self._kept = (self._kept + data)[-KEPT_STDERR:]

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()


def _giving(protocol: asyncio.BaseProtocol) -> Callable[[], asyncio.BaseProtocol]:
    return lambda: protocol


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], pipes: _Pipes) -> None:
    async for item in messages:
        pipes.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


async def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Look, without reaping, whether it exits within a moment. True where the system cannot tell."""
    if not hasattr(os, "waitid"):
        return True
    for _ in range(20):
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return True
        await asyncio.sleep(0.01)
    return False


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]
