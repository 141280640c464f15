"""What the benchmarks share: facts of the machine, interleaved timing, a table, a file of results."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(os.environ.get("MM_BENCHMARK_RESULTS") or ROOT / "benchmarks" / "results")
_PACKAGES = ("click", "httpx", "jsonschema-rs", "wasmtime", "mcp", "xllamacpp")


def machine() -> dict[str, Any]:
    """What figures depend on, without names of hosts or folders. `load`: running processes, before and after."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
        "load": [load()],
    }


def load() -> float:
    """Processes that ran or waited to run, mean over the last minute."""
    return round(os.getloadavg()[0], 2)


def interleaved(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each contender measured in each round, one after the other, so that ratios hold whatever else runs.

    One round before is not counted: it fills the caches of the disk.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, measure in contenders.items():
            seconds = measure()
            if number:
                times[name].append(seconds)
    return times


def ratio(times: Sequence[float], base: Sequence[float]) -> float:
    """The median of the ratios of each round: what slows a round down slows both sides."""
    return statistics.median(one / other for one, other in zip(times, base, strict=True))


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The first column to the left, all others to the right."""
    texts = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    for row in texts:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


def write(name: str, facts: dict[str, Any], **measured: Any) -> None:
    """The results as benchmarks/results/NAME.json."""
    facts["load"].append(load())
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": facts, **measured}, indent=2, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
