"""What mm's own work on a call costs: names, conversion, check, rules, shaping and the record, without the run.

    python benchmarks/journey.py [--quick]

By number and size of the arguments, up to 10 MB, for calls that are valid, repaired and invalid. `checked` is the part
of conversion and check alone; `journey` the whole way through the dispatcher, with a tool that does nothing and a
conversation that is kept in memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measuring

from mm.config.schema import Permissions
from mm.dispatch import arguments
from mm.dispatch.consent import Consent
from mm.dispatch.dispatcher import Dispatcher
from mm.dispatch.hooks import Hooks
from mm.interrupt import Interrupt
from mm.messages import Outcome, ToolCall
from mm.session.history import History
from mm.session.records import new_session
from mm.tools.builtin import Builtin, BuiltinExecutor
from mm.tools.builtins.plans import free
from mm.tools.spec import Kind, Output, Tool
from mm.tools.table import Table

LIMIT = 0.2  # milliseconds of a call with a few small arguments
KINDS = ("valid", "repaired", "invalid")
COUNTS = (1, 3, 10, 100)  # arguments
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)  # bytes


def tool(parameters: dict[str, Any]) -> Tool:
    """A tool with these parameters that does nothing."""
    schema = {"type": "object", "properties": parameters, "required": list(parameters), "additionalProperties": False}
    done = Output.text(Outcome.OK, "done")
    made = Builtin("act", "Act.", schema, plan=lambda _: free("act", None), run=lambda call, run: done, repeat=True)
    return made.tool()


def few(kind: str, count: int) -> tuple[Tool, str]:
    """`count` small arguments: texts, integers, choices, in turn."""
    types: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": "string", "enum": ["stable", "beta"]},
    ]
    values: dict[str, list[Any]] = {
        "valid": ["1.4.2", 30, "beta"],
        "repaired": [1.5, "30", "beta"],
        "invalid": [True, "thirty", "nightly"],
    }
    parameters = {f"parameter_{number}": types[number % 3] for number in range(count)}
    given = {f"parameter_{number}": values[kind][number % 3] for number in range(count)}
    return tool(parameters), json.dumps(given)


def large(kind: str, size: int) -> tuple[Tool, str]:
    """One long text and a list of integers that share `size` bytes; ten of the integers are repaired, or wrong."""
    odd: Any = {"valid": 30, "repaired": "30", "invalid": "thirty"}[kind]
    items = [odd] * 10 + [30] * (size // 8)
    parameters = {"text": {"type": "string"}, "numbers": {"type": "array", "items": {"type": "integer"}}}
    return tool(parameters), json.dumps({"text": "word " * (size // 10), "numbers": items})


def dispatcher(tools: list[Tool], folder: Path, history: History) -> Dispatcher:
    interrupt = Interrupt()
    return Dispatcher(
        tools=lambda: tools,
        executors=Table(dict.fromkeys(Kind, BuiltinExecutor)),
        hooks=Hooks((), session_id="1", cwd=folder, environment={}, stop=threading.Event()),
        consent=Consent(permissions=Permissions(), yolo=True, person=None, interrupt=interrupt),
        journal=history,
        interrupt=interrupt,
        listen=lambda event: None,
        spill=lambda: folder,
        output_limit=lambda: 30_000,
    )


def checked(one: Tool, text: str) -> Callable[[], None]:
    def check() -> None:
        try:
            arguments.check(one, arguments.parse(text))
        except arguments.InvalidCall:
            return

    return check


def journey(one: Tool, text: str, kind: str, folder: Path) -> Callable[[], None]:
    wanted = Outcome.INVALID if kind == "invalid" else Outcome.OK
    history = History(session=new_session(str(folder), "", ""))
    way = dispatcher([one], folder, history)
    calls = (ToolCall("1", "act", text),)

    def answer() -> None:
        history.add_reply("", calls)
        way.loops.start_turn()
        outcome = way.answer(calls).results[0].outcome
        assert outcome is wanted, outcome

    return answer


def median(call: Callable[[], None], seconds: float) -> float:
    """Milliseconds of a call: the median of those that fit into `seconds`, one at least, the first one not counted."""
    call()
    times: list[float] = []
    begin = time.perf_counter()
    while not times or time.perf_counter() - begin < seconds:
        before = time.perf_counter()
        call()
        times.append((time.perf_counter() - before) * 1000)
    return statistics.median(times)


def main(*, quick: bool) -> None:
    facts = measuring.machine()
    seconds = 0.05 if quick else 1.0
    cases = [(f"{count} arguments", few, count) for count in COUNTS]
    cases += [(f"{size:,} bytes", large, size) for size in (SIZES[:2] if quick else SIZES)]
    rows, measured = [], []
    with tempfile.TemporaryDirectory() as name:
        for label, make, amount in cases:
            for kind in KINDS:
                one, text = make(kind, amount)
                check = median(checked(one, text), seconds)
                whole = median(journey(one, text, kind, Path(name)), seconds)
                rate = whole / (len(text) / 1e6) if make is large else None
                rows.append((f"{label}, {kind}", f"{check:.3f}", f"{whole:.3f}", f"{rate:.1f}" if rate else ""))
                fields = {"case": label, "kind": kind, "bytes": len(text), "checked_ms": round(check, 4)}
                measured.append({**fields, "journey_ms": round(whole, 4), "ms_per_mb": rate and round(rate, 2)})
    measuring.print_table(("", "checked, ms", "journey, ms", "ms per MB"), rows)
    measuring.write("journey", facts, limit_ms=LIMIT, measurements=measured)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short, up to 10,000 bytes")
    main(quick=parser.parse_args().quick)
