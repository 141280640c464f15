"""The embedded model: llama.cpp in a process of its own, asked over loopback in the same wire format as any server.

A process, not a thread: it ends whatever it computes, it cannot take mm down with it, and nothing that it prints
reaches the terminal.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from mm.config.schema import ModelConfig
from mm.errors import MMError, ModelError
from mm.interrupt import Interrupted
from mm.messages import Message, Reply, ToolOffer
from mm.models import weights
from mm.models.model import OnDelta, OnNotice
from mm.models.openai import OpenAIModel

CONTEXT = 8192  # tokens, unless `context` says otherwise
LONGEST = 1024  # tokens of one answer, unless `max_tokens` says otherwise: small models ramble without an end
_SCRIPT = Path(__file__).with_name("local_server.py")
_LOOK = 0.05  # seconds between two looks at the stop event


class LocalModel:
    """A model in llama.cpp. The process is started at once, so that it loads while the rest of mm gets ready.

    `config.name` is a name of the catalogue or the path of a .gguf file. Raises MMError if the extra or the weights
    are missing.
    """

    def __init__(self, config: ModelConfig) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            hint = 'Run: pip install "mm-agent[local]", or use another model with -m (such as `ollama:NAME`).'
            raise MMError(f"`{config}` needs llama.cpp, which is not installed.", hint)
        self.label = str(config)
        self._config = replace(
            config,
            temperature=0.0 if config.temperature is None else config.temperature,
            max_tokens=config.max_tokens or LONGEST,
            context=config.context or CONTEXT,
        )
        self._path = weights.find(config.name)
        self._lock = threading.Lock()
        self._server: _Server | None = _Server(self._path, self._config)
        self._model: OpenAIModel | None = None

    def ask(
        self,
        messages: Sequence[Message],
        offers: Sequence[ToolOffer],
        *,
        on_delta: OnDelta,
        on_notice: OnNotice,
        on_sent: Callable[[], None],
        stop: threading.Event,
    ) -> Reply:
        """See `Model.ask`. Waits for the weights to be loaded; a process that died is started again."""
        server, model = self._ready(stop)
        try:
            return model.ask(messages, offers, on_delta=on_delta, on_notice=on_notice, on_sent=on_sent, stop=stop)
        except ModelError as error:
            died = server.obituary()
            if died:
                raise ModelError(died, _MEMORY, partial=error.partial) from error
            raise

    def context_size(self) -> int | None:
        return self._config.context

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
            model, self._model = self._model, None
        if model is not None:
            model.close()
        if server is not None:
            server.close()

    def _ready(self, stop: threading.Event) -> tuple[_Server, OpenAIModel]:
        with self._lock:
            if self._server is None or (self._model is not None and self._server.obituary()):
                self._server, self._model = _Server(self._path, self._config), None
            if self._model is None:
                address = self._address(self._server, stop)
                self._model = OpenAIModel(replace(self._config, base_url=f"{address}/v1", api_key=self._server.key))
            return self._server, self._model

    def _address(self, server: _Server, stop: threading.Event) -> str:
        try:
            return server.address(stop)
        except ModelError:
            self._server = None  # it has closed itself: who asks again starts another
            raise


_MEMORY = "Not enough memory? A smaller model or a smaller `context` needs less."


class _Server:
    """The process, from its start to its end."""

    def __init__(self, path: Path, config: ModelConfig) -> None:
        self.key = secrets.token_hex(16)
        self._path = path
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        wanted = {
            "path": str(path),
            "name": config.name,
            "key": self.key,
            "context": config.context,
            "threads": count_threads(),
        }
        with contextlib.suppress(BrokenPipeError):  # it is dead: told when its address is asked for
            self._input.write(json.dumps(wanted).encode() + b"\n")
            self._input.flush()

    def address(self, stop: threading.Event) -> str:
        """The base URL, once the weights are loaded. Raises ModelError, or Interrupted when `stop` is set."""
        line = self._answer(stop)
        answer = json.loads(line) if line.endswith(b"\n") else {"error": self.obituary()}
        if "address" in answer:
            return str(answer["address"])
        words = self._last_words() or answer["error"]
        self.close()
        raise ModelError(f"`{self._path}` cannot be loaded: {words}", _MEMORY)

    def obituary(self) -> str:
        """How the process ended; "" while it lives."""
        code = self._process.poll()
        if code is None:
            return ""
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"The process of the local model ended ({how})."

    def close(self) -> None:
        """End the process. There is nothing in it to save, so it is not asked."""
        self._process.kill()
        self._process.wait()
        self._output.close()
        self._log.close()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def _answer(self, stop: threading.Event) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            if stop.is_set():
                raise Interrupted
            if select.select([self._output], [], [], _LOOK)[0]:
                piece = os.read(self._output.fileno(), 4096)
                if not piece:
                    self._process.wait()
                    break
                line += piece
        return line

    def _last_words(self) -> str:
        """The last error that llama.cpp logged."""
        self._log.seek(0)
        lines = self._log.read(256 * 1024).decode("utf-8", "replace").splitlines()
        errors = [line.partition(" E ")[2].strip() for line in lines if " E " in line]
        return (errors or lines or [""])[-1][:300]

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def count_threads() -> int:
    """Physical cores that this process may use: a second thread on a core only makes a model slower."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = set()
    for cpu in allowed:
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(siblings.read_text())
        except OSError:
            cores.add(str(cpu))
    return max(1, len(cores))
