"""One agent file under several names: what counts as the same agent, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.grants import Grants
from mm.config.load import load, preview
from mm.config.schema import Config
from mm.config.trust import is_trusted, trust
from mm.tools.memory import memory_file
from tests.config.agent_files import HOME, command

TEXT = "name: ops\ntools:\n  - {name: release, description: Publish., command: [./release.sh]}\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ops/deep").mkdir(parents=True)
    (tmp_path / "shortcut").symlink_to("ops/deep")
    (tmp_path / "ops/agent.yaml").write_text(TEXT)
    monkeypatch.chdir(tmp_path / "ops")
    return tmp_path / "ops/agent.yaml"


@pytest.fixture(
    params=["agent.yaml", "./agent.yaml", "deep/../agent.yaml", "../ops/agent.yaml", "../shortcut/../agent.yaml"]
)
def other(request: pytest.FixtureRequest, file: Path) -> Config:
    """The same file under another name."""
    return load(Path(request.param), environ=HOME)


def test_another_spelling_is_the_same_agent(file: Path, other: Config) -> None:
    assert (other.file, other.folder) == (file, file.parent)
    assert command(other.tools[0]).program == str(file.parent / "release.sh")


def test_what_was_allowed_always_holds_under_another_spelling(file: Path, other: Config) -> None:
    Grants(other.file).add("release", "digest", "./release.sh")
    assert Grants(load(file, environ=HOME).file).find("release", "digest") is not None


def test_trust_and_memory_hold_under_another_spelling(file: Path, other: Config) -> None:
    trust(other)
    known = preview(file)
    assert is_trusted(known)
    assert memory_file(known.file) == memory_file(other.file)


@pytest.mark.parametrize("target", ["../ops/agent.yaml", "{absolute}"])
def test_a_link_to_a_trusted_file_is_another_agent_since_it_starts_what_lies_beside_it(file: Path, target: str) -> None:
    """As in a cloned repository, whose link names a file that the user is known to trust."""
    trust(load(file, environ=HOME))
    cloned = file.parent.parent / "cloned"
    cloned.mkdir()
    (cloned / "agent.yaml").symlink_to(target.format(absolute=file))
    linked = load(cloned / "agent.yaml", environ=HOME)
    assert command(linked.tools[0]).program == str(cloned / "release.sh")
    assert linked.file == cloned / "agent.yaml"
    assert not is_trusted(linked)
    assert memory_file(linked.file) != memory_file(file)
