"""What a person is told when an "always" of theirs does not fit any more."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from wasmtime import wat2wasm

from mm.config.grants import Grants, list_all
from mm.config.schema import CommandTool, Grant, Literal, Permissions, Slot, Template, WasmTool
from mm.dispatch.consent import Consent
from mm.dispatch.person import Answer, ConsentRequest, Decision
from mm.interrupt import Interrupt
from mm.schemas.schema import Schema
from mm.tools.builtin import BuiltinExecutor
from mm.tools.builtins.files import file_tools
from mm.tools.builtins.shell import bash_tool
from mm.tools.builtins.todo import TodoState, todo_tools
from mm.tools.command import CommandExecutor
from mm.tools.mcp import McpExecutor
from mm.tools.mcp_servers import Servers
from mm.tools.mcp_tools import McpTool
from mm.tools.places import Places
from mm.tools.spec import Executor, Kind, Tool
from mm.tools.wasm import WasmExecutor
from tests.journey import Asked
from tests.mcp_servers.running import http

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


SECRET = "sesame"


def filled(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    slot = Template((Slot("text"),))
    one = command(folder)
    spec = CommandTool("nice", (literal("--"), slot), env={"AUTH": SECRET}, stdin=slot)
    executor = CommandExecutor({"PATH": os.environ["PATH"]}, folder)
    return executor, replace(one, spec=spec), {"text": SECRET}, "nice -- {{text}}"


def module(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    path = folder / "a.wasm"
    path.write_bytes(wat2wasm('(module (func (export "_start")))'))
    one = Tool("act", Kind.WASM, "", Schema({}), WasmTool(path))
    return WasmExecutor(), one, {"text": SECRET}, f"{path}; no folder at all; 30 s, 256 MiB"


def served(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    servers = Servers([http("web", f"https://{SECRET}@host/mcp?key={SECRET}")], {}, folder)
    servers.close()  # what a question shows is known without starting them
    one = Tool("act", Kind.MCP, "", Schema({}), McpTool("web", "say", "its definition"))
    return McpExecutor(servers), one, {"text": SECRET}, "web: https://host/mcp; say"


def written(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    one = next(one.tool() for one in file_tools(Places(folder)) if one.name == "write_file")
    return BuiltinExecutor(), one, {"path": "a.txt", "content": SECRET}, f"in {folder}"


def shell(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    line = f"curl https://ann:{SECRET}@host/x?a={SECRET} && TOKEN={SECRET} make"
    shown = "curl https://…@host/x?… && TOKEN=… make"
    return BuiltinExecutor(), bash_tool({"PATH": os.environ["PATH"]}, folder).tool(), {"command": line}, shown


def asked_anyway(folder: Path) -> tuple[Executor, Tool, dict[str, Any], str]:
    return BuiltinExecutor(), todo_tools(TodoState())[0].tool(), {"todos": [{"content": SECRET}]}, "any arguments"


@pytest.mark.parametrize("make", [filled, module, served, written, shell, asked_anyway])
def test_an_always_is_written_down_without_input_content_and_secrets_and_still_holds(
    tmp_path: Path, make: Callable[[Path], tuple[Executor, Tool, dict[str, Any], str]]
) -> None:
    path = tmp_path / "permissions.json"
    executor, tool, arguments, shown = make(tmp_path.resolve())
    consent = fresh(path, Decision.ALWAYS_SAVED)
    consent.permissions = Permissions(ask=frozenset({tool.name}))
    consent.approve("1", tool, arguments, executor.plan(tool, arguments))
    assert SECRET not in path.read_text()
    (entry,) = list_all(path)
    assert entry.shown.startswith(shown)
    later = fresh(path, Decision.NO)
    later.approve("2", tool, arguments, executor.plan(tool, arguments))
    assert isinstance(later.person, Asked) and later.person.requests == []


def test_a_long_command_is_written_down_cut(tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    bash = bash_tool({"PATH": os.environ["PATH"]}, tmp_path).tool()
    arguments = {"command": "cat > x <<E\n" + "line\n" * 1000 + "E"}
    fresh(path, Decision.ALWAYS_SAVED).approve("1", bash, arguments, BuiltinExecutor().plan(bash, arguments))
    (entry,) = list_all(path)
    assert len(entry.shown) == 300 and entry.shown.endswith("…")


def test_the_question_about_a_tool_of_a_server_shows_no_secret_of_its_address(tmp_path: Path) -> None:
    executor, tool, _, _ = served(tmp_path)
    shown = "\n".join(entry for part in executor.plan(tool, {}).shown for entry in part.entries)
    assert "web: https://host/mcp" in shown and SECRET not in shown
