"""MCP servers as a user meets them: real processes, only the model is scripted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pexpect
import pytest

from mm.app import servers
from tests.cli.running import MM, Place, call
from tests.mcp_servers.running import HERE, is_alive, raw


def server(**plan: Any) -> dict[str, Any]:
    command, *args = raw(**plan)
    return {"command": command, "args": args}


def test_a_tool_of_a_server_is_called_like_any_other(place: Place) -> None:
    place.agent([call("mcp__raw__say", text="hi"), "It said so."], mcpServers={"raw": server()})
    refused = place.mm("-p", "say hi", "-a", "agent.yaml")
    assert refused.code == 4 and "--allow mcp__raw__say" in refused.err
    ran = place.mm("-p", "say hi", "-a", "agent.yaml", "--allow", "mcp__raw__say")
    assert (ran.code, ran.out) == (0, "It said so.\n")
    assert 'say: {"text": "hi"}' in ran.err


def test_a_server_that_does_not_start_is_named_and_the_turn_goes_on(place: Place) -> None:
    broken = {"bad": server(exit=3, stderr="no key\n"), "raw": server()}
    place.agent([call("mcp__raw__say", text="hi"), "Done."], mcpServers=broken, yolo=True)
    ran = place.mm("-p", "x", "-a", "agent.yaml")
    assert (ran.code, ran.out) == (0, "Done.\n")
    assert "`bad` is left out" in ran.err and "no key" in ran.err and "Traceback" not in ran.err


def test_a_list_of_tools_that_changes_in_the_middle_of_a_turn_is_used_at_once(place: Place) -> None:
    steps = [call("mcp__echo__grow", called="new"), call("mcp__echo__new"), "Done."]
    echo = {"command": sys.executable, "args": [str(HERE / "echo.py")], "start_timeout": 60}
    place.agent(steps, mcpServers={"echo": echo}, yolo=True)
    ran = place.mm("-p", "x", "-a", "agent.yaml", "--output-format", "json")
    assert [made["outcome"] for made in json.loads(ran.out)["tool_calls"]] == ["ok", "ok"], ran.err


def test_mcp_list_shows_servers_and_their_tools_and_ends_them(place: Place) -> None:
    pids = place.folder / "pids"
    place.agent([], mcpServers={"raw": server(child=str(pids)), "off": {"command": "nothing", "disabled": True}})
    ran = place.mm("mcp", "list", "-a", "agent.yaml")
    assert ran.code == 0, ran.err
    assert "): ready\n  mcp__raw__say  Does say.\n" in ran.out and "off (nothing): disabled" in ran.out
    assert not any(is_alive(int(pid)) for pid in pids.read_text().split())


def test_mcp_list_says_with_its_exit_code_that_a_server_failed(place: Place) -> None:
    place.agent([], mcpServers={"bad": {"command": "/nope"}})
    ran = place.mm("mcp", "list", "--json", "-a", "agent.yaml")
    assert ran.code == 1
    assert [(line["name"], line["ok"]) for line in json.loads(ran.out)] == [("bad", False)]


def test_tools_run_starts_the_servers_only_for_a_tool_of_theirs(place: Place) -> None:
    started = place.folder / "pids"
    tool = {"name": "own", "description": "Own.", "command": ["echo", "own"]}
    place.agent([], [tool], mcpServers={"raw": server(child=str(started))}, yolo=True)
    assert place.mm("tools", "run", "own", "-a", "agent.yaml").out == "own\n"
    assert not started.exists()
    ran = place.mm("tools", "run", "mcp__raw__say", "text=hi", "-a", "agent.yaml")
    assert (ran.code, ran.out) == (0, 'say: {"text": "hi"}\n')


def test_without_servers_nothing_of_mcp_is_loaded(place: Place) -> None:
    place.agent(["Hello."])
    ran = place.mm("-p", "x", "-a", "agent.yaml", PYTHONPROFILEIMPORTTIME="1")
    assert ran.code == 0
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines() if line.startswith("import time:")}
    assert "mm.app.servers" in loaded
    assert not {"mcp", "mcp_types", "pydantic", "mm.tools.mcp"} & loaded


def test_the_chat_lists_the_servers_and_asks_before_their_tools(place: Place) -> None:
    place.agent(
        [call("mcp__raw__say", text="hi"), "It said so."], mcpServers={"raw": server(), "bad": {"command": "/no"}}
    )
    child = pexpect.spawn(
        MM[0],
        [*MM[1:], "-a", "agent.yaml"],
        cwd=str(place.folder),
        env=place.environment(TERM="dumb"),
        timeout=15,
        encoding="utf-8",
        dimensions=(40, 250),
    )
    child.sendline("say hi")
    child.expect("server +│ raw: ")
    child.expect("tool +│ say")
    child.expect('text = "hi"')
    child.sendline("y")
    child.expect_exact("It said so.")
    child.sendline("/mcp")
    child.expect_exact("): ready; tools: 1")
    child.expect_exact("bad (/no): failed")
    child.sendline("/exit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_without_the_sdk_the_user_is_told_what_to_install(place: Place) -> None:
    place.write("shadow/mcp.py", 'raise ModuleNotFoundError("No module named mcp", name="mcp")\n')
    place.agent(["Hello."], mcpServers={"raw": server()})
    ran = place.mm("-p", "x", "-a", "agent.yaml", PYTHONPATH=str(place.folder / "shadow"))
    assert (ran.code, ran.out) == (0, "Hello.\n")
    assert "mm-agent[mcp]" in ran.err and "Traceback" not in ran.err


ANOTHER_SDK = {
    "shadow/mcp/__init__.py": "",
    "shadow/mcp-1.9.4.dist-info/METADATA": "Metadata-Version: 2.1\nName: mcp\nVersion: 1.9.4\n",
}
BROKEN_SDK = {"shadow/mcp.py": "raise RuntimeError('half of it is gone')\n"}


@pytest.mark.parametrize(
    ("files", "why", "install"),
    [
        (ANOTHER_SDK, "needs version 2 of the package `mcp`, and 1.9.4 is installed", "pip install 'mm-agent[mcp]'"),
        (BROKEN_SDK, "RuntimeError: half of it is gone", "pip install --force-reinstall 'mcp>=2,<3'"),
    ],
    ids=["another version", "broken"],
)
def test_an_sdk_that_cannot_be_used_is_told_with_what_to_install(
    place: Place, files: dict[str, str], why: str, install: str
) -> None:
    for name, text in files.items():
        place.write(name, text)
    place.agent(["Hello."], mcpServers={"raw": server()})
    path = str(place.folder / "shadow")
    ran = place.mm("-p", "x", "-a", "agent.yaml", PYTHONPATH=path)
    assert (ran.code, ran.out) == (0, "Hello.\n")
    assert ran.err.count(why) == 1 and install in ran.err and "Traceback" not in ran.err
    listed = place.mm("mcp", "list", "-a", "agent.yaml", PYTHONPATH=path)
    assert listed.code == 1 and "raw (" in listed.out and install in listed.err and "Traceback" not in listed.err
    looked = place.mm("doctor", "--mcp", "-a", "agent.yaml", PYTHONPATH=path)
    assert looked.code == 1 and why in looked.out and install in looked.out and "Traceback" not in looked.err


def test_the_sdk_that_is_asked_for_is_the_one_of_the_extra() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["optional-dependencies"]["mcp"] == [servers._SDK]


def test_neither_a_list_nor_a_message_shows_the_secrets_of_an_address(place: Place) -> None:
    address = "http://ann:sesame@127.0.0.1:9/mcp?key=sesame"
    database = {"command": "/no/server", "args": ["postgres://ann:sesame@db/x"]}
    place.agent([], mcpServers={"web": {"url": address}, "data": database})
    ran = place.mm("mcp", "list", "-a", "agent.yaml")
    assert "web (http://127.0.0.1:9/mcp): failed" in ran.out and "data (/no/server postgres://…@db/x)" in ran.out
    assert "sesame" not in ran.out + ran.err
    assert "sesame" not in place.mm("mcp", "list", "--json", "-a", "agent.yaml").out


@pytest.mark.parametrize("ending", ["answered", "model failed", "Ctrl-C", "SIGTERM"])
def test_no_process_of_a_server_is_left_behind(place: Place, ending: str) -> None:
    """(C95) A shell between mm and the server, and a child of the server."""
    pids, fifo = place.folder / "pids", place.folder / "fifo"
    os.mkfifo(fifo)
    plan = raw(tools={"hang": {}, "say": {}}, child=str(pids), fifo=str(fifo))
    shell = {"command": "sh", "args": ["-c", '"$0" "$@"; true', *plan]}
    last: Any = {"answered": "Done.", "model failed": {"error": "the model died"}}.get(ending, call("mcp__raw__hang"))
    place.agent([call("mcp__raw__say"), last], mcpServers={"raw": shell}, yolo=True)
    mm = subprocess.Popen(
        [*MM, "-p", "x", "-a", "agent.yaml"],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    codes = {"answered": 0, "model failed": 1, "Ctrl-C": 130, "SIGTERM": 143}
    if codes[ending] > 1:
        assert Path(fifo).read_text() == "hangs"
        mm.send_signal({130: signal.SIGINT, 143: signal.SIGTERM}[codes[ending]])
    _, err = mm.communicate(timeout=60)
    assert mm.returncode == codes[ending], err.decode()
    assert "Traceback" not in err.decode()
    assert not any(is_alive(int(pid)) for pid in pids.read_text().split())
