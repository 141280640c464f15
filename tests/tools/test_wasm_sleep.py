"""Sleeping in a module: mm's own `poll_oneoff` must tell a guest what the runtime's own would."""

from __future__ import annotations

import struct
import threading
import time
from pathlib import Path

import pytest
from wasm_calls import Bench, bytes_at, exit_with, program

from mm.tools.sandbox.poll import read_subscriptions, wait_for

REALTIME, MONOTONIC, CPU_TIME = 0, 1, 2
CLOCK, READ, WRITE = 0, 1, 2
MILLISECOND = 10**6
FAULT, INVALID = 21, 28


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


def clock(userdata: int, timeout: int, clock_id: int = MONOTONIC, absolute: bool = False) -> bytes:
    return struct.pack("<QB7xI4xQQH6x", userdata, CLOCK, clock_id, timeout, 0, int(absolute))


def stream(userdata: int, kind: int, descriptor: int) -> bytes:
    return struct.pack("<QB7xI28x", userdata, kind, descriptor)


def poll(*subscriptions: bytes, count: int | None = None, before: str = "") -> str:
    """A program that polls, writes out the error number, the count of events and 4 events, and exits with 0."""
    number = len(subscriptions) if count is None else count
    body = before + (
        f"(i32.store (i32.const 16) (call $poll_oneoff"
        f" (i32.const 1024) (i32.const 24) (i32.const {number}) (i32.const 20)))"
        "(drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))"
    )
    return program(body, bytes_at(0, struct.pack("<II", 16, 8 + 4 * 32)) + bytes_at(1024, b"".join(subscriptions)))


def run_poll(bench: Bench, text: str) -> tuple[int, list[tuple[int, int, int]]]:
    """The error number, and (user data, error, kind) of each event."""
    output = bench.run_text(text)
    error, count = struct.unpack_from("<II", output.stdout.head)
    return error, [struct.unpack_from("<QHB", output.stdout.head, 8 + 32 * index) for index in range(count)]


@pytest.mark.parametrize("clock_id", [REALTIME, MONOTONIC])
def test_a_relative_sleep_lasts_as_long_as_asked(bench: Bench, clock_id: int) -> None:
    started = time.monotonic()
    assert run_poll(bench, poll(clock(7, 50 * MILLISECOND, clock_id))) == (0, [(7, 0, CLOCK)])
    assert 0.05 <= time.monotonic() - started < 2


@pytest.mark.parametrize("clock_id", [REALTIME, MONOTONIC])
def test_a_sleep_until_a_time_of_the_guests_own_clock_ends_after_it(bench: Bench, clock_id: int) -> None:
    """The program asks for now + 50 ms, sleeps until then, and gives 1 if its clock is past that."""
    body = (
        "(local $until i64)"
        f"(drop (call $clock_time_get (i32.const {clock_id}) (i64.const 1) (i32.const 0)))"
        f"(local.set $until (i64.add (i64.load (i32.const 0)) (i64.const {50 * MILLISECOND})))"
        "(i64.store (i32.const 1048) (local.get $until))"
        "(drop (call $poll_oneoff (i32.const 1024) (i32.const 24) (i32.const 1) (i32.const 20)))"
        f"(drop (call $clock_time_get (i32.const {clock_id}) (i64.const 1) (i32.const 0)))"
        + exit_with("(i64.ge_u (i64.load (i32.const 0)) (local.get $until))")
    )
    started = time.monotonic()
    output = bench.run_text(program(body, bytes_at(1024, clock(7, 0, clock_id, absolute=True))))
    assert output.exit_code == 1
    assert 0.05 <= time.monotonic() - started < 2


def test_a_time_that_has_passed_is_due_at_once(bench: Bench) -> None:
    assert run_poll(bench, poll(clock(7, 1, REALTIME, absolute=True))) == (0, [(7, 0, CLOCK)])
    assert run_poll(bench, poll(clock(7, 0))) == (0, [(7, 0, CLOCK)])


def test_the_soonest_of_several_sleeps_ends_the_wait(bench: Bench) -> None:
    hour = 3600 * 1000 * MILLISECOND
    text = poll(clock(1, hour), clock(2, 20 * MILLISECOND), clock(3, 20 * MILLISECOND), clock(4, 2**64 - 1))
    error, events = run_poll(bench, text)
    assert (error, events[0]) == (0, (2, 0, CLOCK))
    assert {event[0] for event in events} <= {2, 3}


def test_files_are_ready_at_once_whatever_clock_is_beside_them(bench: Bench) -> None:
    hour = 3600 * 1000 * MILLISECOND
    text = poll(clock(1, hour), stream(2, READ, 0), stream(3, WRITE, 1))
    assert run_poll(bench, text) == (0, [(2, 0, READ), (3, 0, WRITE)])


def test_a_clock_that_does_not_exist_is_an_error_of_that_event(bench: Bench) -> None:
    assert run_poll(bench, poll(clock(9, 1000, CPU_TIME))) == (0, [(9, INVALID, CLOCK)])
    assert run_poll(bench, poll(stream(9, 77, 0))) == (0, [(9, INVALID, 77)])


@pytest.mark.parametrize(("count", "error"), [(0, INVALID), (4097, INVALID), (2**31, INVALID), (2000, FAULT)])
def test_a_poll_that_makes_no_sense_is_an_error_of_the_call(bench: Bench, count: int, error: int) -> None:
    assert run_poll(bench, poll(clock(1, 1), count=count))[0] == error


def test_addresses_outside_the_memory_are_an_error_of_the_call(bench: Bench) -> None:
    for address in (65536, 2**32 - 8):
        call = f"(call $poll_oneoff (i32.const {address}) (i32.const 24) (i32.const 1) (i32.const 20))"
        assert bench.run_text(program(exit_with(call))).exit_code == FAULT
        call = f"(call $poll_oneoff (i32.const 0) (i32.const {address}) (i32.const 1) (i32.const 20))"
        assert bench.run_text(program(exit_with(call))).exit_code == FAULT


def test_a_module_without_memory_can_poll_nothing(bench: Bench) -> None:
    call = "(call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 20))"
    assert bench.run_text(program(exit_with(call), memory="(memory 1)")).exit_code == FAULT


def test_a_wait_that_is_cut_gives_nothing() -> None:
    cut = threading.Event()
    cut.set()
    assert wait_for(read_subscriptions(clock(1, 3600 * 10**9), 0), cut) == []
