"""What the tests of the real chat share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "work"
    folder.mkdir()
    return Place(folder, tmp_path / "home")
