"""The real weights on this machine, for the tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.models import weights


def _find(variable: str, name: str) -> Path | None:
    """Named by the variable, else where `mm model pull` puts them for this user."""
    named = os.environ.get(variable)
    path = Path(named) if named else weights.lookup(name).path
    return path if path.is_file() else None


# Looked for when the tests are collected, before each test gets a home of its own.
SMALL = _find("MM_TEST_WEIGHTS", "qwen2.5-coder-0.5b")
LARGE = _find("MM_TEST_WEIGHTS_LARGE", "qwen2.5-coder-1.5b")

needs_small = pytest.mark.skipif(SMALL is None, reason="no weights: mm model pull qwen2.5-coder-0.5b")
needs_large = pytest.mark.skipif(LARGE is None, reason="no weights: mm model pull qwen2.5-coder-1.5b")
