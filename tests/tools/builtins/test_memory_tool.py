"""memory: kept in one file for each agent file, never lost without a word."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from builtin_calls import Calls, said

from mm.errors import MMError, ToolError
from mm.messages import Outcome
from mm.tools.builtins.memory import memory_tools
from mm.tools.memory import Memory, memory_file
from mm.tools.spec import Need


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    return memory_file(tmp_path / "agent.yaml")


@pytest.fixture
def calls(file: Path, tmp_path: Path) -> Calls:
    return Calls(memory_tools(lambda: Memory(file, limit=200)), tmp_path)


def test_what_was_remembered_is_in_the_next_snapshot(calls: Calls, file: Path) -> None:
    assert Memory(file).snapshot() == ""
    text = calls.text("memory", action="add", text="The user likes tabs.\n- and short lines\u2028- really")
    assert text == "Remembered. The memory has 1 entry now and is shown to you in later sessions."
    calls.call("memory", action="add", text="Deploy on Mondays")
    assert Memory(file).entries() == ["The user likes tabs.\n- and short lines\u2028- really", "Deploy on Mondays"]
    assert Memory(file).snapshot().endswith("- Deploy on Mondays\n")


def test_remembering_asks_nobody(calls: Calls) -> None:
    assert calls.plan("memory", action="add", text="x").plan.need is Need.NONE


def test_the_same_text_is_remembered_once(calls: Calls, file: Path) -> None:
    for _ in range(2):
        assert calls.call("memory", action="add", text=" the same ").outcome is Outcome.OK
    assert Memory(file).entries() == ["the same"]


def test_an_entry_is_replaced_and_removed_by_a_part_of_it(calls: Calls, file: Path) -> None:
    calls.call("memory", action="add", text="The port is 80")
    calls.call("memory", action="add", text="The host is a.example")
    calls.call("memory", action="replace", old_text="port", text="The port is 8080")
    assert Memory(file).entries() == ["The port is 8080", "The host is a.example"]
    calls.call("memory", action="remove", text="The host is a.example")
    assert Memory(file).entries() == ["The port is 8080"]


def test_an_unclear_part_is_answered_with_the_entries(calls: Calls, file: Path) -> None:
    assert "Nothing is remembered yet" in calls.text("memory", action="remove", old_text="x")
    calls.call("memory", action="add", text="The port is 80")
    calls.call("memory", action="add", text="The host is a")
    text = calls.text("memory", action="remove", old_text="The")
    assert "is part of 2 entries" in text
    assert "- The port is 80\n- The host is a" in text
    assert "is not part of any entry" in calls.text("memory", action="replace", old_text="zzz", text="x")
    assert len(Memory(file).entries()) == 2


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({"action": "add"}, "`text`"),
        ({"action": "add", "text": "  "}, "`text`"),
        ({"action": "replace", "text": "x"}, "`old_text`"),
        ({"action": "replace", "old_text": "x"}, "`text`"),
        ({"action": "remove"}, "`old_text`"),
    ],
)
def test_what_an_action_needs_is_said(calls: Calls, arguments: dict[str, str], missing: str) -> None:
    with pytest.raises(ToolError, match=f"{missing} is missing"):
        calls.plan("memory", **arguments)


def test_a_full_memory_says_so_and_keeps_what_it_has(calls: Calls, file: Path) -> None:
    calls.call("memory", action="add", text="a" * 150)
    output = calls.call("memory", action="add", text="b" * 100)
    assert output.outcome is Outcome.FAILED
    assert "The memory is full: this would make 256 characters, and 200 is the most" in said(output)
    assert Memory(file).entries() == ["a" * 150]
    assert calls.call("memory", action="replace", old_text="aaa", text="short").outcome is Outcome.OK


def test_a_file_that_a_person_made_too_long_can_be_shortened(calls: Calls, file: Path) -> None:
    file.write_text("- " + "a" * 300 + "\n- " + "b" * 300 + "\n")
    file.chmod(0o600)
    assert calls.call("memory", action="remove", old_text="bbb").outcome is Outcome.OK
    assert Memory(file).entries() == ["a" * 300]


def test_a_file_written_by_a_person_is_read(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfLikes tea.\r\n\r\n- Works at night\r\n  mostly\r\n")
    assert Memory(file).entries() == ["Likes tea.", "Works at night\nmostly"]


@pytest.mark.parametrize("damage", ["bytes", "folder", "link", "writable"])
def test_a_file_that_cannot_be_read_is_named_and_left_alone(calls: Calls, file: Path, damage: str) -> None:
    if damage == "bytes":
        file.write_bytes(b"- caf\xe9\n")
    elif damage == "folder":
        file.mkdir()
    elif damage == "link":
        file.symlink_to("/etc/hostname")
    else:
        file.write_text("- x\n")
        file.chmod(0o666)
    with pytest.raises(MMError) as caught:
        Memory(file).snapshot()
    assert str(file) in str(caught.value)
    assert caught.value.hint
    before = file.lstat()
    output = calls.call("memory", action="add", text="new")
    assert output.outcome is Outcome.FAILED
    assert str(file) in said(output)
    assert file.lstat().st_mtime_ns == before.st_mtime_ns


def test_the_file_is_private_and_one_for_each_agent_file(calls: Calls, file: Path, tmp_path: Path) -> None:
    calls.call("memory", action="add", text="x")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    others = {memory_file(path) for path in (None, tmp_path / "agent.yaml", tmp_path / "b" / "agent.yaml")}
    assert len(others) == 3
    assert file in others


ADDING = """
import sys, threading
from pathlib import Path
from mm.tools.memory import Memory
for number in range(25):
    Memory(Path(sys.argv[1])).add(f"{sys.argv[2]} {number}", threading.Event())
"""


def test_two_processes_at_once_lose_nothing(file: Path) -> None:
    adders = [subprocess.Popen([sys.executable, "-c", ADDING, str(file), name]) for name in ("one", "two")]
    assert [adder.wait(timeout=60) for adder in adders] == [0, 0]
    assert sorted(Memory(file).entries()) == sorted(f"{name} {n}" for name in ("one", "two") for n in range(25))


HOLDING = """
import fcntl, os, sys
fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)
print(flush=True)
input()
"""


def test_waiting_for_another_process_can_be_interrupted(calls: Calls, file: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(file.with_suffix(".lock"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    calls.stop.set()
    assert calls.call("memory", action="add", text="x").outcome is Outcome.INTERRUPTED
    holder.communicate(b"\n")
    calls.stop.clear()
    assert calls.call("memory", action="add", text="x").outcome is Outcome.OK
