"""What a call in the sandbox costs, beside processes that do the same: count the words of a note.

    python benchmarks/sandbox.py [MOST_CALLS]

The same C program as a wasm tool of mm and as a process of its own, the same in Python and in Node.js; and a Go module
of some 4 MB. All in one run, each number of calls (1, 10, 100, 1000) interleaved between the contenders, so that ratios
hold whatever else the machine does. Prints a table and writes results/sandbox.json.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from wasm_contender import ARGUMENTS, WasmContender

ROOT = Path(__file__).resolve().parents[1]
MODULES = ROOT / "examples" / "notes" / "modules"
SOURCES = ROOT / "wasm-modules" / "word_count"
PROGRAMS = ROOT / "benchmarks" / "programs"
RESULTS = ROOT / "benchmarks" / "results" / "sandbox.json"
COUNTS = (1, 10, 100, 1000)
NOTE = "one two three\n" * 100
ANSWER = b"100 lines, 300 words, 1400 bytes\n"

FIRST_CALL = """
import sys, time
from pathlib import Path
begin = time.perf_counter()
import wasmtime
loaded = time.perf_counter()
from wasm_contender import WasmContender
contender = WasmContender(Path(sys.argv[1]), Path(sys.argv[2]))
ready = time.perf_counter()
contender()
print((loaded - begin) * 1000, (time.perf_counter() - ready) * 1000)
"""


class ProcessContender:
    """A process a call, with the same arguments on stdin."""

    def __init__(self, argv: list[str], folder: Path) -> None:
        self._argv = argv
        self._folder = folder

    def __call__(self) -> bytes:
        arguments = json.dumps(ARGUMENTS).encode()
        return subprocess.run(self._argv, cwd=self._folder, input=arguments, capture_output=True, check=True).stdout


def find_contenders(folder: Path) -> dict[str, Callable[[], bytes]]:
    """Everything that can be compared on this machine, the sandbox first."""
    contenders: dict[str, Callable[[], bytes]] = {
        "wasm, C": WasmContender(MODULES / "word_count.wasm", folder),
        "wasm, Go": WasmContender(MODULES / "read_note.wasm", folder),
    }
    native = build_native(folder / "word_count")
    if native is not None:
        contenders["process, C"] = ProcessContender([str(native)], folder)
    contenders["process, Python"] = ProcessContender([sys.executable, "-I", str(PROGRAMS / "word_count.py")], folder)
    node = shutil.which("node")
    if node is not None:
        contenders["process, Node.js"] = ProcessContender([node, str(PROGRAMS / "word_count.js")], folder)
    return contenders


def build_native(target: Path) -> Path | None:
    """The same C sources for this machine; None without a compiler."""
    compiler = [shutil.which("cc") or ""] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    sources = [str(SOURCES / name) for name in ("main.c", "arguments.c")]
    built = subprocess.run([*compiler, "-O2", "-o", str(target), *sources], capture_output=True, check=False)
    return target if built.returncode == 0 else None


def measure(call: Callable[[], bytes], count: int) -> list[float]:
    """Milliseconds of each of `count` calls."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1000)
    return times


def measure_first_calls(module: Path, folder: Path) -> dict[str, float]:
    """Milliseconds of the first call in a new process: with nothing kept on disk, and once it is (median of 7)."""
    cold = first_call(module, folder)
    warm = [first_call(module, folder) for _ in range(7)]
    return {
        "compile_and_call": cold[1],
        "first_call_cached": statistics.median(call for _, call in warm),
        "import_wasmtime": statistics.median(load for load, _ in warm),
    }


def first_call(module: Path, folder: Path) -> tuple[float, float]:
    search = os.pathsep.join([str(ROOT), str(ROOT / "benchmarks")])
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, str(module), str(folder)],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=True,
    )
    load, call = done.stdout.split()
    return float(load), float(call)


def print_table(first: dict[str, dict[str, float]], medians: dict[str, dict[int, float]]) -> None:
    print(f"{'first call in a new process, ms':34}{'compiled anew':>15}{'cached':>10}{'import wasmtime':>18}")
    for name, times in first.items():
        print(f"  {name:32}{times['compile_and_call']:15.1f}{times['first_call_cached']:10.2f}", end="")
        print(f"{times['import_wasmtime']:18.1f}")
    counts = list(next(iter(medians.values())))
    print(f"\n{'median of a call, ms':34}" + "".join(f"{f'{count} calls':>12}" for count in counts) + f"{'ratio':>10}")
    base = medians["wasm, C"][counts[-1]]
    for name, row in medians.items():
        print(f"  {name:32}" + "".join(f"{row[count]:12.3f}" for count in counts) + f"{row[counts[-1]] / base:10.1f}")


def main(most_calls: int) -> None:
    subprocess.run(["make", "-s", "-C", str(ROOT / "wasm-modules"), f"PYTHON={sys.executable}"], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.environ["MM_HOME"] = str(folder / "home")
        (folder / "notes").mkdir()
        (folder / "notes" / "note.txt").write_text(NOTE)
        first = {
            "wasm, C": measure_first_calls(MODULES / "word_count.wasm", folder),
            "wasm, Go": measure_first_calls(MODULES / "read_note.wasm", folder),
        }
        contenders = find_contenders(folder)
        for label, call in contenders.items():
            assert call() == (NOTE.encode() if "Go" in label else ANSWER), label
        medians: dict[str, dict[int, float]] = {label: {} for label in contenders}
        for count in (count for count in COUNTS if count <= most_calls):
            for label, call in contenders.items():
                medians[label][count] = statistics.median(measure(call, count))
    print_table(first, medians)
    RESULTS.parent.mkdir(exist_ok=True)
    machine = {"machine": platform.machine(), "processors": os.cpu_count(), "python": platform.python_version()}
    RESULTS.write_text(json.dumps({**machine, "first_call_ms": first, "median_ms": medians}, indent=2) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNTS[-1])
