"""Runs modules that misbehave in every way, in one process: `wasm_misbehave.py FOLDER CALLS`."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

from wasm_calls import CHATTER, CHATTER_DATA, Bench, exit_with, open_path, program, say

from mm.config.schema import Grant
from mm.messages import Outcome
from mm.tools.spec import Output

KINDS = (
    (say("fine"), Outcome.OK),
    (program("(loop $again (br $again))"), Outcome.TIMED_OUT),
    (program(CHATTER, CHATTER_DATA), Outcome.TIMED_OUT),
    (program("unreachable"), Outcome.FAILED),
    (program(exit_with("(i32.const 255)")), Outcome.FAILED),
    (program(exit_with("(i32.const 0)")), Outcome.OK),
    (open_path("pipe"), Outcome.TIMED_OUT),
    ('(module (import "env" "log" (func)) (func (export "_start")))', Outcome.FAILED),
)


def main(folder: Path, calls: int) -> None:
    granted = folder / "granted"
    granted.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkfifo(granted / "pipe")
    bench = Bench(folder)
    outputs: dict[int, Output] = {}

    def call(number: int) -> None:
        text, outcome = KINDS[number % len(KINDS)]
        module = bench.assemble(text, f"{number % len(KINDS)}-{os.getpid()}-{number}.wasm")
        timeout = 0.02 if outcome is Outcome.TIMED_OUT else 60
        tool = bench.tool(module, Grant(granted, "granted", writable=False), timeout=timeout)
        outputs[number] = bench.run(tool)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(calls)]
    for start in range(0, calls, 8):
        for thread in threads[start : start + 8]:
            thread.start()
        for thread in threads[start : start + 8]:
            thread.join()
    for number, output in outputs.items():
        assert output.outcome is KINDS[number % len(KINDS)][1], (number, output)
    print(len(outputs), "calls")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
