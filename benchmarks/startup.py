"""How long mm takes to start, beside programs that everybody can time, and how much memory it needs.

    python benchmarks/startup.py [--rounds N] [--quick]

Everything is measured in turns, one round after the other, and told as a ratio: a busy machine slows both sides.
`llm` is installed into a throwaway virtual environment; without a package index that row is left out.
"""

from __future__ import annotations

import argparse
import os
import queue
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import measuring
from measuring import ROOT

from mm.config.load import load
from mm.tools.catalog import declared
from mm.tools.command import CommandExecutor
from mm.tools.spec import ApprovedCall, Run

MM = Path(sys.executable).with_name("mm")
OPS = ROOT / "examples" / "ops" / "agent.yaml"
HTTPX = 'python -c "import httpx"'
LIMITS = {
    "mm --version": 0.25,
    "mm -p, first byte sent": 1.5,
    "mm -p -a FILE, first byte sent": 1.5,
    "a command tool": 1.5,
}


class Server:
    """Answers every request with one word, and notes when the first byte of the first one came."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._first: queue.SimpleQueue[float] = queue.SimpleQueue()
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def expect(self) -> None:
        """A new process is about to start."""
        self._first = queue.SimpleQueue()

    def first_byte(self) -> float:
        """When the first byte came, on the clock of `time.perf_counter`."""
        return self._first.get(timeout=60)

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                begin = connection.recv(1)
                self._first.put(time.perf_counter())
                begin += connection.recv(1 << 20)
                connection.sendall(_ANSWER if begin.startswith(b"POST") else _NOT_FOUND)


_PEAK = """
import os, sys
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
print(os.wait4(process, 0)[2].ru_maxrss)
"""
_EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + _EVENT
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Starts:
    """Times processes from their start, in an environment with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = Server()
        self._environment = {
            **os.environ,
            "MM_HOME": str(folder / "home"),
            "OPS_LOG": str(folder / "ops.log"),
            "LLM_USER_PATH": str(folder / "llm"),
            "OPENAI_BASE_URL": self._server.address,
            "OPENAI_API_KEY": "none",
        }
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def until_the_end(self, name: str, argv: Sequence[str | Path]) -> Callable[[], float]:
        """Seconds until the process has ended."""

        def measure() -> float:
            begin = time.perf_counter()
            self._end(self._start(argv), name)
            return time.perf_counter() - begin

        return measure

    def until_the_first_byte(self, name: str, argv: Sequence[str | Path]) -> Callable[[], float]:
        """Seconds until a server has received the first byte of a request. It is answered, so that mm ends well."""

        def measure() -> float:
            self._server.expect()
            begin = time.perf_counter()
            process = self._start([*argv, "-m", "openai:none"])
            seconds = self._server.first_byte() - begin
            self._end(process, name)
            return seconds

        return measure

    def peak_memory(self, argv: Sequence[str | Path], *, asks: bool) -> int:
        """KiB that the process and what it started held at most. Started by a small process of its own.

        The system counts what the starting process held before the program was loaded, hence the small one.
        """
        command = [sys.executable, "-I", "-S", "-c", _PEAK, *map(str, argv), *(["-m", "openai:none"] if asks else [])]
        quiet = subprocess.DEVNULL
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=quiet,
            stderr=quiet,
            stdout=subprocess.PIPE,
            check=True,
        )
        return int(done.stdout.split()[-1])

    def _start(self, argv: Sequence[str | Path]) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(argv, cwd=self._folder, env=self._environment, stdin=quiet, stdout=quiet, stderr=quiet)

    def _end(self, process: subprocess.Popen[bytes], name: str) -> None:
        assert process.wait(60) == 0, f"{name}: exit code {process.returncode}"


def command_calls(folder: Path) -> tuple[Callable[[], float], Callable[[], float]]:
    """One call of a command tool without the journey around it, and the same program through subprocess.run."""
    environment = {**os.environ, "OPS_LOG": str(folder / "ops.log")}
    tool = next(declared(entry) for entry in load(OPS, environ=os.environ).tools if entry.name == "status")
    executor = CommandExecutor(environment, folder)
    run = Run(threading.Event(), folder)
    argv = [str(OPS.with_name("status.sh")), "--", "billing"]

    def as_tool() -> float:
        begin = time.perf_counter()
        plan = executor.plan(tool, {"service": "billing"})
        output = executor.run(ApprovedCall("1", tool, {"service": "billing"}, plan), run)
        seconds = time.perf_counter() - begin
        assert output.stdout.head.startswith(b"billing is up"), output
        return seconds

    def bare() -> float:
        begin = time.perf_counter()
        done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        assert done.stdout.startswith(b"billing is up"), done
        return seconds

    return as_tool, bare


def install_llm(folder: Path) -> Path | None:
    """The program `llm` in a virtual environment of its own; None, with a word on why, if it cannot be had."""
    environment = folder / "llm-environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    installed = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "llm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if installed.returncode == 0:
        return environment / "bin" / "llm"
    print(f"llm is left out: {(installed.stderr.strip().splitlines() or ['pip failed'])[-1]}", file=sys.stderr)
    return None


def main(rounds: int, *, with_llm: bool) -> None:
    facts = measuring.machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        starts = Starts(folder)
        llm = install_llm(folder) if with_llm else None
        programs: dict[str, list[str | Path]] = {
            'python -c "pass"': [sys.executable, "-c", "pass"],
            HTTPX: [sys.executable, "-c", "import httpx"],
            "mm --version": [MM, "--version"],
            "mm -p, first byte sent": [MM, "-p", "hello"],
            "mm -p -a FILE, first byte sent": [MM, "-a", OPS, "-p", "hello"],
            "mm tools run": [MM, "-a", OPS, "-y", "tools", "run", "status", "service=billing"],
        }
        if llm is not None:
            programs["llm --version"] = [llm, "--version"]
        asking = {name for name in programs if name.endswith("first byte sent")}
        times = measuring.interleaved(
            {
                name: (starts.until_the_first_byte if name in asking else starts.until_the_end)(name, argv)
                for name, argv in programs.items()
            },
            rounds,
        )
        memory = {name: starts.peak_memory(argv, asks=name in asking) for name, argv in programs.items()}
        as_tool, bare = command_calls(folder)
        times |= measuring.interleaved({"a command tool": as_tool, "subprocess.run": bare}, rounds * 20)
    bases = {name: HTTPX for name in programs if name.startswith(("mm -p", "mm tools"))}
    bases["a command tool"] = "subprocess.run"
    if llm is not None:
        bases["mm --version"] = "llm --version"
    report(facts, times, bases, memory)


def report(
    facts: dict[str, object], times: dict[str, list[float]], bases: dict[str, str], memory: dict[str, int]
) -> None:
    """Print the table, write the results."""
    rows, written = [], []
    for name, seconds in times.items():
        base = bases.get(name)
        ratio = round(measuring.ratio(seconds, times[base]), 2) if base else None
        limit = LIMITS.get(name) if base else None
        median = statistics.median(seconds) * 1000
        mib = round(memory[name] / 1024, 1) if name in memory else None
        rows.append(
            (name, f"{median:.1f}", ratio or "", f"of {base}" if base else "", limit or "", f"{mib}" if mib else "")
        )
        written.append(
            {"name": name, "median_ms": round(median, 2), "base": base, "ratio": ratio, "limit": limit, "peak_mib": mib}
        )
    measuring.print_table(("", "ms", "ratio", "", "limit", "MiB"), rows)
    measuring.write("startup", facts, rounds=len(next(iter(times.values()))), measurements=written)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--quick", action="store_true", help="one round, without llm")
    parser.add_argument("--without-llm", action="store_true", help="install nothing")
    given = parser.parse_args()
    main(1 if given.quick else given.rounds, with_llm=not given.quick and not given.without_llm)
