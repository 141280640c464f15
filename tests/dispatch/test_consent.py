"""What a person is told when an "always" of theirs does not fit any more."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wasmtime import wat2wasm

from mm.config.grants import Grants
from mm.config.schema import CommandTool, Grant, Literal, Permissions, Template, WasmTool
from mm.dispatch.consent import Consent
from mm.dispatch.person import Answer, ConsentRequest, Decision
from mm.interrupt import Interrupt
from mm.schemas.schema import Schema
from mm.tools.command import CommandExecutor
from mm.tools.spec import Executor, Kind, Tool
from mm.tools.wasm import WasmExecutor
from tests.journey import Asked

AGENT = Path("/project/agent.yaml")


def literal(text: str) -> Template:
    return Template((Literal(text),))


def approve(executor: Executor, one: Tool, consent: Consent) -> ConsentRequest:
    """Ask for this tool, as the only question."""
    consent.approve("1", one, {}, executor.plan(one, {}))
    assert isinstance(consent.person, Asked)
    (request,) = consent.person.requests
    return request


def fresh(path: Path, decision: Decision) -> Consent:
    return Consent(Permissions(), False, Asked([Answer(decision)]), Interrupt(), Grants(AGENT, path))


def command(folder: Path) -> Tool:
    for name in ("run.sh", "s.py"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    spec = CommandTool("nice", (literal(str(folder / "run.sh")), literal("s.py")))
    return Tool("act", Kind.COMMAND, "", Schema({}), spec)


def write_script(folder: Path, one: Tool) -> Tool:
    (folder / "s.py").write_text("other")
    return one


def with_command(**keys: Any) -> Callable[[Path, Tool], Tool]:
    def change(folder: Path, one: Tool) -> Tool:
        assert isinstance(one.spec, CommandTool)
        return replace(one, spec=replace(one.spec, **keys))

    return change


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (write_script, "a file that its program is given to run"),
        (with_command(env={"MODE": "fast"}), "its environment"),
        (with_command(stdin=literal("x")), "its stdin"),
        (with_command(allow_dash=frozenset({"x"})), "which values may begin with `-`"),
        (with_command(program="env"), "its program"),
        (with_command(arguments=(literal("true"),)), "a file that its program is given to run, its arguments"),
    ],
)
def test_what_changed_since_an_always_is_named(
    tmp_path: Path, change: Callable[[Path, Tool], Tool], what: str, saved: bool
) -> None:
    path, executor = tmp_path / "permissions.json", CommandExecutor({"PATH": os.environ["PATH"]}, tmp_path)
    one = command(tmp_path)
    consent = fresh(path, Decision.ALWAYS_SAVED if saved else Decision.ALWAYS_SESSION)
    assert approve(executor, one, consent).reason == ""
    consent.approve("2", one, {}, executor.plan(one, {}))  # not asked again
    other = change(tmp_path, one)
    if saved:
        consent = fresh(path, Decision.YES)
    else:
        consent.person = Asked([Answer(Decision.YES)])
    reason = approve(executor, other, consent).reason
    assert reason.startswith("`act` has changed since you allowed it always; it was: nice")
    assert reason.endswith(f"; what changed: {what}")


def test_what_changed_about_a_module_is_named(tmp_path: Path) -> None:
    path, module, executor = tmp_path / "permissions.json", tmp_path / "a.wasm", WasmExecutor()
    module.write_bytes(wat2wasm('(module (func (export "_start")))'))
    one = Tool("act", Kind.WASM, "", Schema({}), WasmTool(module))
    approve(executor, one, fresh(path, Decision.ALWAYS_SAVED))
    for spec, what in (
        (WasmTool(module, (Grant(tmp_path, "all", writable=False),)), "the folders it may use"),
        (WasmTool(module, timeout=5), "its limits"),
    ):
        assert approve(executor, replace(one, spec=spec), fresh(path, Decision.YES)).reason.endswith(f": {what}")
    module.write_bytes(wat2wasm('(module (func (export "_start") unreachable))'))
    assert approve(executor, one, fresh(path, Decision.YES)).reason.endswith("what changed: its module")
