"""Every limit of a call ends in an answer: time, sleep, memory, output, an interrupt, a hanging system call."""

from __future__ import annotations

import os
import struct
import threading
import time
from pathlib import Path

import pytest
from wasm_calls import CHATTER, CHATTER_DATA, Bench, bytes_at, exit_with, open_path, program, say, text_at

from mm.config.schema import Grant
from mm.messages import Outcome
from mm.tools.capture import SPILL_LIMIT
from mm.tools.spec import Output

FOREVER = "(loop $again (br $again))"
SLEEP_SUBSCRIPTION = (
    (7).to_bytes(8, "little")  # user data
    + bytes(8)  # a clock
    + (1).to_bytes(8, "little")  # monotonic
    + (3600 * 10**9).to_bytes(8, "little")
    + bytes(16)
)
SLEEP_AN_HOUR = program(
    exit_with("(call $poll_oneoff (i32.const 64) (i32.const 256) (i32.const 1) (i32.const 512))"),
    bytes_at(64, SLEEP_SUBSCRIPTION),
)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


ENDLESS = {
    "a loop": program(FOREVER),
    "a loop in the start function": f'(module (func $f {FOREVER}) (start $f) (func (export "_start")))',
    "endless printing": program(CHATTER, CHATTER_DATA),
    "a sleep": SLEEP_AN_HOUR,
    "a loop of sleeps that ignores their errors": program(
        "(loop $again (drop (call $poll_oneoff (i32.const 64) (i32.const 256) (i32.const 1) (i32.const 512)))"
        " (br $again))",
        bytes_at(64, SLEEP_SUBSCRIPTION),
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_never_ends_is_stopped_at_its_time_limit(bench: Bench, what: str) -> None:
    """(C79, C80)"""
    started = time.monotonic()
    output = bench.run_text(ENDLESS[what], timeout=0.3)
    assert (output.outcome, output.exit_code) == (Outcome.TIMED_OUT, None)
    assert output.note == "It was stopped after 0.3 s, its time limit."
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("what", ENDLESS)
def test_an_interrupt_stops_what_never_ends(bench: Bench, what: str) -> None:
    tool = bench.tool(bench.assemble(ENDLESS[what]), timeout=60)
    answered: list[Output] = []
    thread = threading.Thread(target=lambda: answered.append(bench.run(tool)))
    thread.start()
    bench.stop.set()
    thread.join(5)
    assert [output.outcome for output in answered] == [Outcome.INTERRUPTED]


def test_a_call_after_an_interrupt_runs_again(bench: Bench) -> None:
    bench.stop.set()
    assert bench.run_text(say("never")).outcome is Outcome.INTERRUPTED
    bench.stop.clear()
    assert bench.run_text(say("again")).stdout.head == b"again"


def test_a_call_that_is_stopped_leaves_those_beside_it_alone(bench: Bench) -> None:
    """(C79) All of them share one engine and its epoch."""
    patient = bench.tool(
        bench.assemble(program("(loop $again (br_if $again (i32.lt_u (i32.const 0) (i32.const 1))))"), "long.wasm"),
        timeout=1.0,
    )
    hasty = bench.tool(bench.assemble(program(FOREVER), "hasty.wasm"), timeout=0.1)
    seconds: list[float] = []

    def run_long() -> None:
        started = time.monotonic()
        bench.run(patient)
        seconds.append(time.monotonic() - started)

    thread = threading.Thread(target=run_long)
    thread.start()
    for _ in range(3):
        assert bench.run(hasty).outcome is Outcome.TIMED_OUT
    thread.join()
    assert seconds[0] >= 1.0


def test_a_blocking_open_is_left_behind_at_the_time_limit(bench: Bench, tmp_path: Path) -> None:
    """(C80)"""
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    output = bench.run_text(open_path("pipe"), Grant(folder, "folder", writable=False), timeout=0.2)
    assert output.outcome is Outcome.TIMED_OUT
    assert "named pipe" in output.note
    os.close(os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK))  # lets the thread go


def test_a_blocking_open_before_start_is_left_behind_and_told_as_that(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    text = open_path("pipe").replace('(func (export "_start")', '(start $first) (func (export "_start")) (func $first')
    output = bench.run_text(text, Grant(folder, "folder", writable=False), timeout=0.2)
    assert output.outcome is Outcome.TIMED_OUT
    assert "before its `_start` was called" in output.note and "named pipe" not in output.note
    os.close(os.open(folder / "pipe", os.O_WRONLY | os.O_NONBLOCK))  # lets the thread go


def test_endless_printing_fills_neither_the_memory_nor_the_disk(bench: Bench) -> None:
    output = bench.run_text(ENDLESS["endless printing"], timeout=0.5)
    assert output.stdout.size > SPILL_LIMIT / 4
    assert len(output.stdout.head) + len(output.stdout.tail) < 1 << 20
    assert output.stdout.file is not None
    assert output.stdout.file.stat().st_size <= SPILL_LIMIT


def test_a_module_that_starts_with_more_memory_than_its_limit_does_not_start(bench: Bench) -> None:
    output = bench.run_text(program("", memory='(memory (export "memory") 64)'), memory=1 << 20)
    assert (output.outcome, output.answers) == (Outcome.FAILED, True)
    assert "cannot start: it starts with 4 MiB of memory, which is over its limit" in output.stdout.head.decode()


def test_growth_over_the_limit_is_refused_by_the_runtime(bench: Bench) -> None:
    text = program(exit_with("(memory.grow (i32.const 10000))"))
    assert bench.run_text(text, memory=1 << 20).exit_code == 2**32 - 1


def test_a_module_that_dies_with_its_memory_full_is_told_so(bench: Bench) -> None:
    """What programs do whose allocator is refused: they give up."""
    grow_or_die = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable"
    output = bench.run_text(program(grow_or_die), memory=8 << 20)
    assert output.outcome is Outcome.KILLED
    assert "8 MiB of the 8 MiB that it may use, so it probably ran out of memory" in output.note


def test_a_large_table_is_refused(bench: Bench) -> None:
    output = bench.run_text('(module (table 100000000 funcref) (func (export "_start")))')
    assert output.outcome is Outcome.FAILED


def test_the_watcher_is_told_lines_while_the_module_runs(bench: Bench) -> None:
    told = threading.Event()
    lines: list[str] = []

    def watch(line: str) -> None:
        lines.append(line)
        told.set()
        bench.stop.set()

    text = "\n".join(["first", "last", "half a"])
    write_for_ever = (
        "(loop $again (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16))) (br $again))"
    )
    vector = bytes_at(0, struct.pack("<II", 1024, len(text)))
    module = bench.assemble(program(write_for_ever, vector + text_at(1024, text)))
    assert bench.run(bench.tool(module), watch=watch).outcome is Outcome.INTERRUPTED
    assert told.is_set()
    assert lines[0] == "last" or lines[0].endswith("first")
