"""How a call ends: exit codes, crashes, and modules that cannot run, each in plain words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from wasm_calls import Bench, exit_with, program, say
from wasmtime import WasmtimeError, wat2wasm

from mm.messages import Outcome
from mm.tools.sandbox.engine import Runtime
from mm.tools.wasm_inspect import inspect_module


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


def test_what_a_module_writes_is_its_answer(bench: Bench) -> None:
    output = bench.run_text(say("héllo\n"))
    assert (output.outcome, output.exit_code, output.note) == (Outcome.OK, 0, "")
    assert output.stdout.head.decode() == "héllo\n"


def test_stderr_is_kept_apart(bench: Bench) -> None:
    output = bench.run_text(say("oops\n", stream=2))
    assert (output.stdout.head, output.stderr.head) == (b"", b"oops\n")


def test_exit_code_0_is_a_success(bench: Bench) -> None:
    output = bench.run_text(program(exit_with("(i32.const 0)")))
    assert (output.outcome, output.exit_code) == (Outcome.OK, 0)


@pytest.mark.parametrize("code", [1, 2, 125, 126, 127, 255, 256, 2**32 - 1])
def test_every_other_exit_code_is_a_failure_with_that_code(bench: Bench, code: int) -> None:
    output = bench.run_text(program(exit_with(f"(i32.const {code})")))
    assert (output.outcome, output.exit_code, output.note) == (Outcome.FAILED, code, "")


CRASHES = {
    "divided by zero": program("(drop (i32.div_s (i32.const 1) (i32.const 0)))"),
    "gave up by itself": program("unreachable"),
    "outside its memory": program("(drop (i32.load (i32.const 100000000)))"),
    "endless recursion": '(module (func $f (export "_start") (call $f)))',
    "is not there": '(module (table 1 funcref) (func (export "_start") (call_indirect (i32.const 0))))',
    "no integer": program("(drop (i32.trunc_f64_s (f64.const nan)))"),
    "overflowed": program("(drop (i32.div_s (i32.const -2147483648) (i32.const -1)))"),
    "nothing caught": '(module (tag $t) (func (export "_start") (throw $t)))',
}


@pytest.mark.parametrize("words", CRASHES)
def test_a_crash_is_told_in_plain_words(bench: Bench, words: str) -> None:
    output = bench.run_text(CRASHES[words])
    assert output.outcome is Outcome.FAILED
    assert output.note.startswith("The module crashed: ") and words in output.note
    assert "\n" not in output.note
    assert "backtrace" not in output.note and "wasm trap" not in output.note


def test_what_was_written_before_a_crash_is_kept(bench: Bench) -> None:
    output = bench.run_text(say("so far\n", then="unreachable"))
    assert output.stdout.head == b"so far\n"
    assert output.outcome is Outcome.FAILED


START = '(func (export "_start"))'


IMPORT = '(import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))'


def many_exports(count: int) -> bytes:
    exports = "".join(f'(export "e{number}" (func $f))' for number in range(count))
    return wat2wasm(f'(module (func $f (export "_start")) {exports})')


UNFIT = {
    "is empty": b"",
    "is not WebAssembly": b"\x7fELF\x02\x01\x01",
    "text form": b"(module)",
    "is a component": b"\0asm\x0d\0\1\0",
    "is damaged": b"\0asm\x01\0\0\0\x01",
    "has 10,001 exports, and mm takes 10,000 at most": many_exports(10_000),
    "has 10,001 imports": wat2wasm(f"(module {''.join(10_001 * [IMPORT])} {START})"),
    "has more than 10,000 sections": wat2wasm("(module)") + b"\0\2\1x" * 10_001,
    "has no function `_start`": wat2wasm("(module)"),
    "is a library": wat2wasm('(module (func (export "_initialize")))'),
    "without parameters": wat2wasm('(module (func (export "_start") (param i32)))'),
    "not a function": wat2wasm('(module (memory (export "_start") 1))'),
    "`env.log`, which mm does not offer": wat2wasm(f'(module (import "env" "log" (func)) {START})'),
    "`wasi_unstable.fd_write`": wat2wasm(f'(module (import "wasi_unstable" "fd_write" (func)) {START})'),
    "`wasi_snapshot_preview1.fly`": wat2wasm(f'(module (import "wasi_snapshot_preview1" "fly" (func)) {START})'),
    "does not fit WASI preview 1": wat2wasm(f'(module (import "wasi_snapshot_preview1" "fd_write" (func)) {START})'),
}


@pytest.mark.parametrize("words", UNFIT)
def test_a_module_that_cannot_run_is_answered_in_plain_words(bench: Bench, words: str) -> None:
    path = bench.folder / "tool.wasm"
    path.write_bytes(UNFIT[words])
    output = bench.run(bench.tool(path))
    reply = output.stdout.head.decode()
    assert (output.outcome, output.answers) == (Outcome.FAILED, True)
    assert words in reply and str(path) in reply and "backtrace" not in reply


@pytest.mark.parametrize("words", UNFIT)
def test_the_same_is_found_without_running_it(bench: Bench, words: str) -> None:
    path = bench.folder / "tool.wasm"
    path.write_bytes(UNFIT[words])
    finding = inspect_module(path)
    assert finding is not None and words in finding


def test_a_module_may_have_many_exports(bench: Bench) -> None:
    path = bench.folder / "tool.wasm"
    path.write_bytes(many_exports(5_000))
    assert bench.run(bench.tool(path)).outcome is Outcome.OK


def test_inspection_finds_nothing_wrong_with_a_command(bench: Bench) -> None:
    assert inspect_module(bench.assemble(say("hello"))) is None


def test_inspection_never_runs_the_module(bench: Bench) -> None:
    text = '(module (func $forever (loop $again (br $again))) (start $forever) (func (export "_start")))'
    assert inspect_module(bench.assemble(text)) is None


def test_inspection_finds_a_module_that_needs_more_memory_than_its_limit(bench: Bench) -> None:
    path = bench.assemble(program("", memory='(memory (export "memory") 32)'))
    assert inspect_module(path, memory=2 << 20) is None
    assert "2 MiB of memory, but `memory` allows 1 MiB" in (inspect_module(path, memory=1 << 20) or "")


def test_inspection_of_a_missing_file_says_so(tmp_path: Path) -> None:
    assert inspect_module(tmp_path / "none.wasm") == f"The module `{tmp_path / 'none.wasm'}` does not exist."


def test_a_fault_of_the_runtime_itself_is_the_answer_and_no_interrupt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(runtime: Runtime, memory: int) -> None:
        raise WasmtimeError("no store is left")

    monkeypatch.setattr(Runtime, "new_store", fail)
    output = bench.run_text(say("hello"))
    assert (output.outcome, output.answers) == (Outcome.FAILED, True)
    assert "could not be set up (no store is left)" in output.stdout.head.decode()
    assert capfd.readouterr() == ("", "")


def open_descriptors() -> list[str]:
    """All but the one of this very look."""
    return sorted(path.name for path in Path("/dev/fd").iterdir() if path.exists())


def test_a_process_without_a_descriptor_left_answers_and_loses_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = bench.tool(bench.assemble(say("hello")))
    bench.run(tool)
    make_pipe, made = os.pipe, []

    def pipe() -> tuple[int, int]:
        if made:
            raise OSError(errno.EMFILE, "Too many open files")
        made.append(make_pipe())
        return made[0]

    before = open_descriptors()
    monkeypatch.setattr(os, "pipe", pipe)
    output = bench.run(tool)
    monkeypatch.undo()
    assert output.outcome is Outcome.FAILED and b"Too many open files" in output.stdout.head
    assert open_descriptors() == before
