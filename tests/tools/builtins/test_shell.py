"""bash runs a command now or in the background; read_terminal reads, lists and stops the latter."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.background import Background
from mm.tools.builtin import Builtin
from mm.tools.builtins.shell import bash_tool, read_terminal_tool
from mm.tools.spec import ApprovedCall, Need, Output, Run


@pytest.fixture
def background() -> Iterator[Background]:
    one = Background()
    yield one
    one.close()


def call(one: Builtin, spill: Path, interrupt: threading.Event | None = None, **arguments: Any) -> Output:
    plan = one.plan(arguments)
    return one.run(ApprovedCall("1", one.tool(), arguments, plan), Run(interrupt or threading.Event(), spill))


def bash(folder: Path, background: Background | None = None, **environment: str) -> Builtin:
    return bash_tool({"PATH": os.environ["PATH"], **environment}, folder, background)


def text(output: Output) -> str:
    return output.stdout.head.decode()


def test_a_command_runs_in_the_working_directory_with_the_filtered_environment(tmp_path: Path) -> None:
    output = call(bash(tmp_path, MODE="fast"), tmp_path, command='pwd; echo "$MODE" | tr a-z A-Z; echo no >&2; exit 4')
    assert text(output) == f"{tmp_path}\nFAST\n"
    assert (output.outcome, output.exit_code, output.stderr.head) == (Outcome.FAILED, 4, b"no\n")


def test_it_is_bash_or_else_the_plain_shell(tmp_path: Path) -> None:
    assert text(call(bash(tmp_path), tmp_path, command="[[ ab == a* ]] && echo bash")) == "bash\n"
    (tmp_path / "sh").symlink_to("/bin/sh")
    plain = bash_tool({"PATH": str(tmp_path)}, tmp_path)
    assert text(call(plain, tmp_path, command="echo plain")) == "plain\n"


def test_a_command_ends_at_its_time_limit(tmp_path: Path) -> None:
    output = call(bash(tmp_path), tmp_path, command="sleep 100 | cat", timeout=1)
    assert output.outcome is Outcome.TIMED_OUT
    assert "1 s" in output.note


@pytest.mark.parametrize("command", ["", "  \n", "a\0b", "x" * 200_000])
def test_a_command_that_cannot_be_one_is_answered(tmp_path: Path, command: str) -> None:
    with pytest.raises(ToolError):
        bash(tmp_path).plan({"command": command})


def test_an_always_holds_for_the_exact_command_in_this_folder(tmp_path: Path, background: Background) -> None:
    one = bash(tmp_path, background)
    same = one.plan({"command": "git status"})
    assert one.plan({"command": "git status", "timeout": 5}).definition == same.definition
    assert same.need is Need.ASK
    assert same.shown[0].entries == ("git status",)
    others = [
        one.plan({"command": "git status "}),
        one.plan({"command": "git status; rm x"}),
        one.plan({"command": "git status", "background": True}),
        bash(tmp_path / "other").plan({"command": "git status"}),
    ]
    assert same.definition not in [other.definition for other in others]


def test_the_background_is_offered_only_where_it_can_be_read(tmp_path: Path, background: Background) -> None:
    assert "background" not in bash(tmp_path).parameters["properties"]
    assert "background" in bash(tmp_path, background).parameters["properties"]


def test_a_background_command_is_started_read_and_stopped(tmp_path: Path, background: Background) -> None:
    shell, terminal = bash(tmp_path, background), read_terminal_tool(background)
    os.mkfifo(tmp_path / "go")
    started = call(shell, tmp_path, command="echo one; cat go; echo err >&2; sleep 100", background=True)
    assert started.outcome is Outcome.OK
    assert "Started in the background as 1" in text(started)
    assert text(call(terminal, tmp_path, id=1, wait=5)).endswith("\none\n")
    assert text(call(terminal, tmp_path, id=1)).endswith("(no new output)")
    (tmp_path / "go").write_text("two\n")
    seen = ""
    while "err" not in seen:
        seen += text(call(terminal, tmp_path, id=1, wait=5))
    assert "two\n" in seen
    assert text(call(terminal, tmp_path)).startswith("1: running for ")
    assert text(call(terminal, tmp_path, id=1, stop=True)).startswith("1: stopped: echo one;")
    assert text(call(terminal, tmp_path)).startswith("1: stopped")


def test_a_background_command_that_ends_at_once_says_how(tmp_path: Path, background: Background) -> None:
    shell = bash(tmp_path, background)
    failed = call(shell, tmp_path, command="no-such-program-here", background=True)
    assert failed.outcome is Outcome.FAILED
    assert "ended with exit code 127" in text(failed)
    assert "no-such-program-here" in text(failed)
    assert call(shell, tmp_path, command="echo quick", background=True).outcome is Outcome.OK


def test_reading_what_was_never_started_lists_what_was(tmp_path: Path, background: Background) -> None:
    terminal = read_terminal_tool(background)
    assert "No background commands" in text(call(terminal, tmp_path))
    with pytest.raises(ToolError, match="None was started"):
        call(terminal, tmp_path, id=7)
    call(bash(tmp_path, background), tmp_path, command="sleep 100", background=True)
    with pytest.raises(ToolError, match="There are: 1"):
        call(terminal, tmp_path, id=7)


def test_unread_output_is_bounded_and_what_was_dropped_is_said(tmp_path: Path, background: Background) -> None:
    os.mkfifo(tmp_path / "go")
    shell = bash(tmp_path, background)
    call(shell, tmp_path, command="cat go; head -c 1000000 /dev/zero | tr '\\0' x; echo END", background=True)
    (tmp_path / "go").write_text("")
    command = background.find(1)
    command.wait(10, threading.Event(), for_output=False)
    new = command.read_new()
    assert new.startswith("[... 737,860 bytes dropped, unread ...]\n")
    assert new.endswith("xEND\n")
    assert command.read_new() == ""


def test_a_wait_ends_when_the_person_interrupts_and_the_command_goes_on(tmp_path: Path, background: Background) -> None:
    call(bash(tmp_path, background), tmp_path, command="sleep 100", background=True)
    stop = threading.Event()
    stop.set()
    start = time.monotonic()
    output = call(read_terminal_tool(background), tmp_path, stop, id=1, wait=60)
    assert output.outcome is Outcome.INTERRUPTED
    assert time.monotonic() - start < 2
    assert background.find(1).running


def test_too_many_at_once_are_answered(tmp_path: Path, background: Background) -> None:
    program = bash(tmp_path, background).plan({"command": "sleep 100", "background": True}).what.program  # type: ignore[attr-defined]
    for _ in range(16):
        background.start("sleep 100", program)
    with pytest.raises(ToolError, match="16 commands already run"):
        background.start("sleep 100", program)


def test_nothing_is_left_when_mm_ends(tmp_path: Path) -> None:
    background = Background()
    shell = bash(tmp_path, background)
    for _ in range(2):
        call(shell, tmp_path, command="trap '' TERM; sleep 100 & echo $!; sleep 100", background=True)
    children = [int(command.read_new()) for command in background.all()]
    start = time.monotonic()
    background.close()
    assert time.monotonic() - start < 3.5  # all of them at once
    deadline = time.monotonic() + 5
    for child in children:
        while _is_running(child):
            assert time.monotonic() < deadline
    with pytest.raises(ToolError):
        call(shell, tmp_path, command="true", background=True)


def _is_running(pid: int) -> bool:
    """A killed orphan that init has not reaped yet does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
