"""The user's own permissions file: what was allowed always, and what is not granted when in doubt."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mm.config.grants import Changed, Granted, Grants, list_all, revoke
from mm.errors import MMError, UsageError

AGENT = Path("/project/agent.yaml")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "permissions.json"


def test_an_always_is_bound_to_agent_file_tool_and_definition(path: Path) -> None:
    Grants(AGENT, path).add("release", "digest 1", "./release.sh {{version}}")
    assert isinstance(Grants(AGENT, path).find("release", "digest 1"), Granted)
    assert Grants(AGENT, path).find("status", "digest 1") is None
    assert Grants(Path("/other/agent.yaml"), path).find("release", "digest 1") is None
    assert Grants(None, path).find("release", "digest 1") is None


def test_a_changed_definition_is_not_granted_and_the_old_one_is_told(path: Path) -> None:
    Grants(AGENT, path).add("release", "digest 1", "./release.sh {{version}}")
    assert Grants(AGENT, path).find("release", "digest 2") == Changed("./release.sh {{version}}")


def test_the_parts_that_changed_are_named(path: Path) -> None:
    Grants(AGENT, path).add("release", "digest 1", "./release.sh", {"its program": "a", "its folder": "b"})
    changed = Grants(AGENT, path).find("release", "digest 2")
    assert isinstance(changed, Changed)
    assert changed.names({"its program": "a", "its folder": "c", "something newer": "d"}) == ("its folder",)


def test_an_entry_without_parts_names_none(path: Path) -> None:
    Grants(AGENT, path).add("release", "digest 1", "./release.sh")
    assert "parts" not in json.loads(path.read_text())["grants"][0]
    changed = Grants(AGENT, path).find("release", "digest 2")
    assert isinstance(changed, Changed)
    assert changed.names({"its program": "a"}) == ()


def test_another_bash_command_is_new_and_not_changed(path: Path) -> None:
    grants = Grants(AGENT, path)
    grants.add("bash", "digest of ls", "ls")
    assert grants.find("bash", "digest of rm") is None
    assert isinstance(grants.find("bash", "digest of ls"), Granted)


def test_entries_are_appended_in_order_and_never_twice(path: Path) -> None:
    grants = Grants(AGENT, path)
    for name in ("b", "a", "c", "a"):
        grants.add(name, "digest", name)
    assert [entry.tool for entry in list_all(path)] == ["b", "a", "c"]


def test_what_a_person_wrote_into_the_file_stays(path: Path) -> None:
    Grants(AGENT, path).add("a", "digest", "a")
    document = json.loads(path.read_text())
    document["comment"] = "mine"
    document["grants"][0]["why"] = "because"
    path.write_text(json.dumps(document))
    Grants(AGENT, path).add("b", "digest", "b")
    revoke([list_all(path)[1].id], path)
    assert json.loads(path.read_text()) == document


def test_a_change_by_another_process_is_seen_at_once(path: Path) -> None:
    grants = Grants(AGENT, path)
    assert grants.find("a", "digest") is None
    Grants(AGENT, path).add("a", "digest", "a")
    assert isinstance(grants.find("a", "digest"), Granted)
    revoke([list_all(path)[0].id], path)
    assert grants.find("a", "digest") is None


def test_two_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from mm.config.grants import Grants\n"
        "for n in range(20): Grants(None, Path(sys.argv[1])).add(sys.argv[2], str(n), 'x')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("ann", "bob")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert len(list_all(path)) == 40


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    '{"grants": []}',
    '{"version": 2, "grants": []}',
    '{"version": 1, "grants": {}}',
    '{"version": 1, "grants": [{"tool": "release"}]}',
    '{"version": 1, "grants": ["release"]}',
    "[" * 100_000,
]


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_file_that_cannot_be_read_grants_nothing_is_named_and_never_overwritten(path: Path, content: str) -> None:
    grants = Grants(AGENT, path)
    grants.add("release", "digest", "x")
    assert isinstance(grants.find("release", "digest"), Granted)
    path.write_text(content)
    assert grants.find("release", "digest") is None
    assert str(path) in grants.problem and "Nothing is granted" in grants.problem
    with pytest.raises(MMError, match=r"permissions\.json"):
        grants.add("status", "digest", "x")
    assert path.read_text() == content


def test_a_file_that_was_mended_grants_again(path: Path) -> None:
    grants = Grants(AGENT, path)
    grants.add("release", "digest", "x")
    good = path.read_text()
    path.write_text("{")
    assert grants.find("release", "digest") is None
    path.write_text(good)
    assert isinstance(grants.find("release", "digest"), Granted)
    assert grants.problem == ""


def test_a_file_that_others_may_write_grants_nothing(path: Path) -> None:
    Grants(AGENT, path).add("release", "digest", "x")
    path.chmod(0o666)
    grants = Grants(AGENT, path)
    assert grants.find("release", "digest") is None
    assert "Others may write" in grants.problem


def test_a_link_or_a_pipe_in_its_place_grants_nothing(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    Grants(AGENT, elsewhere).add("release", "digest", "x")
    path.symlink_to(elsewhere)
    grants = Grants(AGENT, path)
    assert grants.find("release", "digest") is None and grants.problem
    path.unlink()
    os.mkfifo(path)
    assert grants.find("release", "digest") is None and grants.problem


def test_the_file_is_private(path: Path) -> None:
    previous = os.umask(0)
    try:
        Grants(AGENT, path).add("release", "digest", "x")
    finally:
        os.umask(previous)
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_revoking_wants_an_id_that_fits_one_entry(path: Path) -> None:
    grants = Grants(AGENT, path)
    for number in range(20):
        grants.add("tool", str(number), "x")
    first = list_all(path)[0].id
    with pytest.raises(UsageError, match="No permission"):
        revoke([first, "nonsense"], path)
    with pytest.raises(UsageError):
        revoke([""], path)
    assert len(list_all(path)) == 20
    assert [entry.id for entry in revoke([first], path)] == [first]
    assert len(list_all(path)) == 19


def test_what_is_revoked_may_be_named_by_its_tool(path: Path) -> None:
    Grants(AGENT, path).add("release", "d1", "x")
    Grants(AGENT, path).add("status", "d2", "x")
    Grants(None, path).add("status", "d3", "x")
    assert [entry.tool for entry in revoke(["release"], path)] == ["release"]
    ids = [entry.id for entry in list_all(path)]
    with pytest.raises(UsageError, match="fits several permissions") as refused:
        revoke(["status"], path)
    assert refused.value.hint.endswith(f"mm permissions revoke {ids[0]} {ids[1]}")
    assert f"`{ids[0]}` ({AGENT}), `{ids[1]}` (the built-in defaults)" in refused.value.message
    assert len(list_all(path)) == 2
