"""A module is compiled once: what is kept on disk, who may use it, and what happens when it is damaged."""

from __future__ import annotations

import importlib.metadata
import os
import stat
import threading
from pathlib import Path

import pytest
from wasm_calls import Bench, say
from wasmtime import Engine

from mm.messages import Outcome
from mm.tools.sandbox import cache, engine
from mm.tools.wasm import WasmExecutor


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return Bench(tmp_path)


def kept(bench: Bench) -> list[Path]:
    return sorted((bench.folder / "home").rglob("*.cwasm*"))


def count_compilations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the modules compiled from now on."""
    compiled: list[int] = []
    compile_module = engine.compile_module

    def compile_and_count(used: Engine, binary: bytes) -> object:
        compiled.append(len(binary))
        return compile_module(used, binary)

    monkeypatch.setattr(engine, "compile_module", compile_and_count)
    return compiled


def test_a_module_is_compiled_once_for_all_runs_of_mm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = count_compilations(monkeypatch)
    tool = bench.tool(bench.assemble(say("hello")))
    for _ in range(3):
        assert bench.run(tool).stdout.head == b"hello"
        bench.executor = WasmExecutor()
    assert len(compiled) == 1


def test_calls_that_overlap_compile_their_module_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = count_compilations(monkeypatch)
    tool = bench.tool(bench.assemble(say("hello")))
    threads = [threading.Thread(target=bench.run, args=(tool,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1


def test_what_is_kept_is_private(bench: Bench) -> None:
    bench.run_text(say("hello"))
    (file,) = kept(bench)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_others_may_write_is_not_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = bench.tool(bench.assemble(say("hello")))
    bench.run(tool)
    (file,) = kept(bench)
    file.chmod(0o666)
    compiled = count_compilations(monkeypatch)
    bench.executor = WasmExecutor()
    assert bench.run(tool).stdout.head == b"hello"
    assert len(compiled) == 1
    assert stat.S_IMODE(kept(bench)[0].stat().st_mode) == 0o600


def test_a_link_in_place_of_a_kept_module_is_not_followed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = bench.tool(bench.assemble(say("hello")))
    bench.run(tool)
    (file,) = kept(bench)
    elsewhere = bench.folder / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    compiled = count_compilations(monkeypatch)
    bench.executor = WasmExecutor()
    assert bench.run(tool).stdout.head == b"hello"
    assert len(compiled) == 1


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x7fELF" + bytes(200)])
def test_a_damaged_file_is_compiled_anew_and_replaced(bench: Bench, damage: bytes) -> None:
    tool = bench.tool(bench.assemble(say("hello")))
    bench.run(tool)
    (file,) = kept(bench)
    file.write_bytes(damage)
    bench.executor = WasmExecutor()
    assert bench.run(tool).stdout.head == b"hello"
    assert len(file.read_bytes()) > 1000


def test_not_one_changed_byte_reaches_the_runtime(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = bench.tool(bench.assemble(say("hello")))
    bench.run(tool)
    (file,) = kept(bench)
    good = file.read_bytes()
    compiled = count_compilations(monkeypatch)
    places = [0, 31, 32, len(good) // 2, len(good) - 1]
    for place in places:
        file.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        bench.executor = WasmExecutor()
        assert bench.run(tool).stdout.head == b"hello"
        assert file.read_bytes() == good
    assert len(compiled) == len(places)


def test_a_compiled_module_under_the_name_of_another_is_not_run(bench: Bench) -> None:
    hello = bench.tool(bench.assemble(say("hello")))
    bench.run(hello)
    (file,) = kept(bench)
    bench.run(bench.tool(bench.assemble(say("other"), "other.wasm")))
    (other,) = [one for one in kept(bench) if one != file]
    file.write_bytes(other.read_bytes())
    bench.executor = WasmExecutor()
    assert bench.run(hello).stdout.head == b"hello"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_a_compilation_and_nothing_else(bench: Bench) -> None:
    (bench.folder / "home").mkdir(mode=0o500)
    assert bench.run_text(say("hello")).outcome is Outcome.OK


def test_a_cache_that_cannot_be_made_costs_a_compilation_and_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.folder / "file").write_text("no folder")
    monkeypatch.setenv("MM_HOME", str(bench.folder / "file"))
    assert bench.run_text(say("hello")).outcome is Outcome.OK


def test_the_oldest_files_are_removed_when_there_are_many(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_FILES", 3)
    for number in range(5):
        assert bench.run_text(say(f"module {number}")).outcome is Outcome.OK
    assert len(kept(bench)) == 3


def test_a_runtime_whose_version_is_unknown_costs_a_compilation_and_nothing_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where packages are bundled without their metadata."""

    def unknown(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", unknown)
    assert bench.run_text(say("hello")).stdout.head == b"hello"
    assert kept(bench) == []
