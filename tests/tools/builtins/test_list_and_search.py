"""list_files and search_files: what is there and where it says so, within bounds of number and time."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from builtin_calls import Calls, said

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtins.files import file_tools
from mm.tools.builtins.globs import Glob
from mm.tools.builtins.search import search_files_tool
from mm.tools.builtins.walk import Passed, walk
from mm.tools.places import Places
from mm.tools.spec import Need


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for name, text in {
        "README.md": "# Title\nSee main.\n",
        "src/main.py": "def main():\n    print('Hello')\n",
        "src/deep/er/util.py": "def util(): pass\n",
        ".env": "SECRET=1\n",
        ".git/config": "main\n",
        "node_modules/x/index.js": "main()\n",
    }.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    return work


@pytest.fixture
def calls(work: Path) -> Calls:
    return Calls(file_tools(Places(work)), work.parent)


def test_a_folder_is_listed_with_sizes_and_without_hidden_files(calls: Calls, work: Path) -> None:
    (work / "big.bin").write_bytes(b"x" * 1_234_567)
    (work / "current").symlink_to("src")
    assert calls.text("list_files") == (
        "(Hidden, not shown: 2 (hidden=true includes them).)\n"
        "README.md (18 bytes)\nbig.bin (1.2 MB)\ncurrent -> src\nnode_modules/\nsrc/"
    )


def test_a_pattern_finds_names_at_any_depth(calls: Calls) -> None:
    output = calls.call("list_files", pattern="*.py")
    assert output.stdout.head.decode().split("\n") == ["src/deep/er/util.py (17 bytes)", "src/main.py (31 bytes)"]
    assert "node_modules" in output.note
    assert "src/main.py" in calls.text("list_files", pattern="src/**/main.*")
    assert "Nothing in `.` matches `*.rs`" in calls.text("list_files", pattern="*.rs")


def test_depth_and_hidden_are_up_to_the_caller(calls: Calls) -> None:
    text = calls.text("list_files", depth=2, hidden=True)
    assert "src/main.py" in text
    assert "src/deep/\n" in text
    assert "src/deep/er" not in text
    assert ".env" in text
    assert ".git/config" not in text
    assert "config" in calls.text("list_files", path=".git")


def test_a_long_listing_is_cut_and_says_so(calls: Calls, work: Path) -> None:
    for number in range(600):
        (work / "src" / f"{number:03}.txt").touch()
    output = calls.call("list_files", path="src")
    assert output.stdout.head.count(b"\n") == 499
    assert "Stopped after 500 entries" in output.note


def test_an_empty_folder_says_so(calls: Calls, work: Path) -> None:
    (work / "empty").mkdir()
    assert calls.text("list_files", path="empty") == "`empty` is empty."


def test_odd_names_stay_on_one_line(calls: Calls, work: Path) -> None:
    (work / "empty").mkdir()
    (work / "empty" / "a\nREADME.md (1 bytes)\x1b[2J").touch()
    text = calls.text("list_files", path="empty")
    assert "\n" not in text
    assert "\x1b" not in text


def test_links_are_not_followed_when_walking(calls: Calls, work: Path) -> None:
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "secret.txt").write_text("Hello secret")
    (work / "src" / "link").symlink_to("../../outside")
    (work / "src" / "file").symlink_to("../../outside/secret.txt")
    (work / "src" / "circle").symlink_to("..")
    assert "secret.txt (" not in calls.text("list_files", depth=20)
    assert "secret" not in calls.text("search_files", pattern="Hello")


def test_a_folder_that_becomes_a_link_during_a_walk_is_not_entered(work: Path) -> None:
    """(C78)"""
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "secret.txt").write_text("secret")
    root = os.open(work, os.O_RDONLY)
    passed = Passed()
    names = []
    for entry in walk(root, 5, passed):
        names.append(entry.path)
        if entry.path == "src":
            (work / "src").rename(work / "old")
            (work / "src").symlink_to("../outside")
    os.close(root)
    assert "src" in names
    assert not any("secret" in name for name in names)
    assert passed.unreadable == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a Linux /proc")
def test_what_the_kernel_makes_up_is_not_looked_into_by_a_walk_from_above(tmp_path: Path) -> None:
    """In a container the working directory often is the root folder, where reading asks nobody."""
    calls = Calls(file_tools(Places(Path("/"))), tmp_path)
    assert calls.plan("list_files", path=".").plan.need is Need.NONE
    for folder in ("proc", "sys", "dev"):
        output = calls.call("list_files", pattern=f"{folder}/*", depth=2)
        assert output.stdout.head.decode() == f"Nothing in `.` matches `{folder}/*`."
        assert "Not looked into: /dev, /proc, /sys" in output.note
    call = calls.plan("list_files", path="proc/self", pattern="status")
    assert call.plan.need is Need.ASK
    assert calls.run(call).stdout.head.decode().startswith("status")


def test_a_folder_outside_is_asked_about(calls: Calls, work: Path) -> None:
    (work / "out").symlink_to("..")
    for tool, arguments in {"list_files": {}, "search_files": {"pattern": "x"}}.items():
        assert calls.plan(tool, path=".", **arguments).plan.need is Need.NONE
        for path in ("..", "out", "/"):
            assert calls.plan(tool, path=path, **arguments).plan.need is Need.ASK


@pytest.mark.parametrize("tool", ["list_files", "search_files"])
def test_a_folder_swapped_for_a_link_after_consent_is_not_entered(calls: Calls, work: Path, tool: str) -> None:
    (work.parent / "outside").mkdir()
    (work.parent / "outside" / "secret.txt").write_text("def secret")
    call = calls.plan(tool, path="src", **({"pattern": "def"} if tool == "search_files" else {}))
    (work / "src").rename(work / "old")
    (work / "src").symlink_to("../outside")
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "secret" not in said(output)


def test_a_search_gives_file_line_and_text(calls: Calls) -> None:
    output = calls.call("search_files", pattern=r"def \w+")
    assert output.outcome is Outcome.OK
    assert output.stdout.head.decode() == "src/deep/er/util.py:1: def util(): pass\nsrc/main.py:1: def main():"


def test_a_search_can_be_narrowed_and_can_ignore_case(calls: Calls) -> None:
    assert calls.call("search_files", pattern="main", glob="*.md").stdout.head == b"README.md:2: See main."
    found = calls.call("search_files", pattern="(?i)hello", path="src").stdout.head
    assert found == b"src/main.py:2:     print('Hello')"
    assert calls.call("search_files", pattern="Title", path="README.md").stdout.head == b"README.md:1: # Title"


def test_a_pattern_that_is_no_expression_is_searched_for_as_text(calls: Calls) -> None:
    text = calls.text("search_files", pattern="print(")
    assert "no valid regular expression" in text
    assert "src/main.py:2: " in text


def test_a_pattern_that_matches_only_as_text_is_found(calls: Calls) -> None:
    text = calls.text("search_files", pattern="util():")
    assert "as plain text" in text
    assert "src/deep/er/util.py:1: " in text


def test_no_match_says_how_much_was_searched(calls: Calls) -> None:
    text = calls.text("search_files", pattern="nowhere")
    assert "No match in 3 files." in text
    assert "node_modules" in text


def test_hidden_files_are_searched_on_request_only(calls: Calls) -> None:
    assert "No match" in calls.text("search_files", pattern="SECRET")
    assert ".env:1: SECRET=1" in calls.text("search_files", pattern="SECRET", hidden=True)


def test_binary_files_pipes_and_odd_bytes_do_not_disturb_a_search(calls: Calls, work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "a.bin").write_bytes(b"needle\0needle")
    (work / "latin.txt").write_bytes(b"n\xe9edle needle\r\n")
    (work / "long.txt").write_text("x" * 250_000 + " needle " + "y" * 1000)
    output = calls.call("search_files", pattern="needle")
    lines = output.stdout.head.decode().split("\n")
    assert lines[0] == "latin.txt:1: néedle needle"
    assert lines[1].startswith("long.txt:1: …")
    assert len(lines[1]) < 400
    assert "Binary, not searched: 1 file." in output.note


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a Linux /proc")
def test_files_that_fail_when_read_do_not_end_a_search(calls: Calls) -> None:
    output = calls.call("search_files", path="/proc/self", pattern="^Threads:", glob="{mem,status,pagemap}")
    assert "/status:" in output.stdout.head.decode()
    assert "Could not be read: " in output.note


def test_too_many_matches_are_cut_and_that_is_said(calls: Calls, work: Path) -> None:
    (work / "many.txt").write_text("needle\n" * 1000)
    output = calls.call("search_files", pattern="needle")
    assert output.stdout.head.count(b"\n") == 199
    assert "There are more matches." in output.note


def test_a_reply_stays_within_its_size(work: Path) -> None:
    (work / "many.txt").write_text("needle in a long line of text\n" * 100)
    calls = Calls([search_files_tool(Places(work), size=500)], work)
    output = calls.call("search_files", pattern="needle")
    assert 300 < len(output.stdout.head) <= 500
    assert "There are more matches." in output.note


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"(.*a){25}b", r"(a|a)*$"])
def test_an_evil_pattern_is_stopped_in_time(work: Path, pattern: str) -> None:
    (work / "a.txt").write_text("a" * 5000 + "!\n")
    calls = Calls([search_files_tool(Places(work), size=1000, seconds=0.5)], work)
    start = time.monotonic()
    output = calls.call("search_files", pattern=pattern)
    assert time.monotonic() - start < 5
    assert output.outcome is Outcome.TIMED_OUT
    assert "Stopped after 0.5 s" in output.note


def test_a_pattern_that_eats_memory_is_answered(calls: Calls) -> None:
    output = calls.call("search_files", pattern="(?:a{0,60000}){0,60000}{0,60000}" * 10)
    assert output.outcome in (Outcome.FAILED, Outcome.OK, Outcome.TIMED_OUT)
    assert said(output)


def test_an_interrupt_ends_a_search(work: Path) -> None:
    (work / "a.txt").write_text("a" * 5000 + "!\n")
    calls = Calls([search_files_tool(Places(work), size=1000)], work)
    call = calls.plan("search_files", pattern=r"^(a+)+$")
    threading.Timer(0.2, calls.stop.set).start()
    start = time.monotonic()
    assert calls.run(call).outcome is Outcome.INTERRUPTED
    assert time.monotonic() - start < 5


def test_patterns_that_cannot_be_are_answered(calls: Calls) -> None:
    for arguments in ({"pattern": ""}, {"pattern": "a" * 2000}, {"pattern": "a", "glob": "*" * 600}):
        with pytest.raises(ToolError):
            calls.plan("search_files", **arguments)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("./*.py", "x/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**", "src/x/y/a.py", True),
        ("**/x/*.py", "x/a.py", True),
        ("*.{py,md}", "x/a.md", True),
        ("{a,b}/*.{py,md}", "b/x.py", True),
        ("{a,b}/*.{py,md}", "c/x.py", False),
        ("a?.py", "ab.py", True),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("a{.py", "a{.py", True),
    ],
)
def test_file_patterns_match_as_shells_do(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path) is fits


def test_an_evil_file_pattern_is_matched_quickly() -> None:
    start = time.monotonic()
    assert not Glob("**/" * 50 + "*a" * 100 + "b").matches("a/" * 20 + "a" * 255)
    assert not Glob("{a,b}" * 40).matches("c")
    assert time.monotonic() - start < 1
