"""The parts of a run are all ended, whatever one of them does at its end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.app.assembly import Assembly
from mm.app.servers import LazyServers
from mm.config.load import load
from mm.interrupt import Interrupt
from mm.messages import Outcome, ToolCall
from mm.options import Options
from tests.cli.running import alive_in_group


def test_background_commands_end_though_the_servers_cannot_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the last warning about a server meets a reader that has left."""

    def fail(servers: LazyServers) -> None:
        raise BrokenPipeError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LazyServers, "close", fail)
    file = tmp_path / "agent.yaml"
    file.write_text("builtins: [bash, read_terminal]\nyolo: true\n")
    options, interrupt = Options(no_session=True), Interrupt()
    assembly = Assembly(load(file, environ={}), options, interrupt=interrupt, listen=lambda event: None, person=None)
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    line = f'{{"command": "echo $$ > {pid}; exec sleep 1000", "background": true}}'
    assert assembly.run_one(ToolCall("1", "bash", line)).outcome is Outcome.OK
    leader = int(pid.read_text())
    with pytest.raises(BrokenPipeError):
        assembly.close()
    assert alive_in_group(leader) == []
