"""How long it takes to resume 10,000 messages, and to search 100,000. Run: python benchmarks/sessions.py

Prints a table and writes benchmarks/results/sessions.json. A resume is measured in a new process each time, from the
first import of the store to the messages that a model would be sent.
"""

from __future__ import annotations

import json
import platform
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mm.messages import Outcome, Role, ToolCall
from mm.session.records import STARTED, Record, new_session
from mm.session.search import search
from mm.session.store import Store

RESULTS = Path(__file__).parent / "results" / "sessions.json"
RESUMED, SEARCHED = 10_000, 100_000
ROUNDS = 7
RESUME_LIMIT, SEARCH_LIMIT = 0.5, 0.05  # seconds

_RESUME = """
import sys, time
start = time.perf_counter()
from pathlib import Path
from mm.session.history import resume
from mm.session.store import Store
store = Store(Path(sys.argv[1]))
messages = resume(store, store.latest("/long", ""), print).messages()
print(time.perf_counter() - start, len(messages))
"""
_WORDS = [
    f"{first}{second}"
    for first in ("re", "un", "pro", "con", "de", "in")
    for second in (
        "lease",
        "port",
        "test",
        "form",
        "struct",
        "duct",
        "serve",
        "tract",
        "cover",
        "vert",
        "clude",
        "press",
    )
]
_QUERIES = {
    "one rare word": "needle4711",
    "one word of nearly every message": "release",
    "two words": "release deploy7",
    "a phrase": '"release notes"',
    "the beginning of a word": "needle47*",
    "words that are nowhere": "zebra giraffe",
}  # fmt: skip


def fill(store: Store, cwd: str, count: int, dice: random.Random) -> None:
    """A session of `count` messages: prompts, calls with results of some lines, answers."""
    session = store.add_session(new_session(cwd))
    for number in range(0, count, 4):
        call = ToolCall(f"call_{number}", "read_file", json.dumps({"path": f"notes/{number}.md", "lines": 40}))
        prompt = f"release question deploy{number % 50} {_text(dice, 20)}"
        output = f"{_text(dice, 120)} needle{number} release notes"
        store.add(session.id, _record(Role.USER, prompt))
        store.add(session.id, _record(Role.ASSISTANT, "", calls=(call,)))
        started = store.add(session.id, _record(Role.TOOL, "", calls=(call,), call_id=call.id, outcome=STARTED))
        done = _record(Role.TOOL, output, calls=(call,), call_id=call.id, outcome=Outcome.OK, number=started.number)
        store.end_call(done)
        store.add(session.id, _record(Role.ASSISTANT, f"release answer {_text(dice, 60)}"))


def _record(
    role: Role, content: str, calls: tuple[ToolCall, ...] = (), call_id: str = "", outcome: str = "", number: int = 0
) -> Record:
    return Record(role, content, calls, call_id, outcome, time.time(), number)


def _text(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(_WORDS, k=words))


def measure_resume(path: Path) -> list[float]:
    """Seconds of each resume, each in a process of its own."""
    seconds = []
    for _ in range(ROUNDS):
        out = subprocess.run(
            [sys.executable, "-c", _RESUME, str(path)], capture_output=True, text=True, check=True
        ).stdout.split()
        assert int(out[1]) == RESUMED, out
        seconds.append(float(out[0]))
    return seconds


def measure_search(path: Path, query: str) -> list[float]:
    """Seconds of each search, each on a connection of its own."""
    seconds = []
    for _ in range(ROUNDS):
        store = Store(path)
        store.sessions(limit=1)
        start = time.perf_counter()
        search(store, query, 20)
        seconds.append(time.perf_counter() - start)
        store.close()
    return seconds


def main() -> None:
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        store = Store(path)
        with store.transaction():
            fill(store, "/long", RESUMED, dice)
            for number in range((SEARCHED - RESUMED) // 1000):
                fill(store, f"/short/{number}", 1000, dice)
        size = path.stat().st_size
        store.close()
        rows = [(f"resume {RESUMED:,} messages", RESUME_LIMIT, measure_resume(path))]
        for name, query in _QUERIES.items():
            rows.append((f"search {SEARCHED:,} messages: {name}", SEARCH_LIMIT, measure_search(path, query)))
    print(f"{'':64} {'median':>9} {'worst':>9} {'limit':>9}")
    for name, limit, seconds in rows:
        figures = (statistics.median(seconds) * 1000, max(seconds) * 1000, limit * 1000)
        print(f"{name:64} " + " ".join(f"{figure:6.1f} ms" for figure in figures))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(_report(rows, size), indent=2) + "\n")


def _report(rows: list[tuple[str, float, list[float]]], size: int) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "machine": platform.machine(),
        "store_bytes": size,
        "measurements": [
            {"name": name, "limit_s": limit, "median_s": round(statistics.median(seconds), 5), "runs_s": seconds}
            for name, limit, seconds in rows
        ],
    }


if __name__ == "__main__":
    main()
