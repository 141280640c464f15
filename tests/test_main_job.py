"""The main job, on real weights: a small model on this machine calls scripts and a sandboxed module."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.weights import LARGE, SMALL, needs_large, needs_small

ROOT = Path(__file__).parent.parent
PROMPTS = {
    "What is the status of the billing service?": "status billing",
    "Quel est l'état du service billing ?": "status billing",
    "Release version 1.4.2 on the beta channel.": "release 1.4.2 beta",
    "Publie la version 1.4.2 sur le canal beta.": "release 1.4.2 beta",
    "Run the tests of the package greet.": "pkgtest greet",
    "Lance les tests du paquet greet.": "pkgtest greet",
}

pytest.importorskip("xllamacpp", reason='needs the extra: pip install "mm-agent[local]"')


def ask(prompt: str, agent: Path, weights: Path | None, *options: str, log: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "mm", "-p", prompt, "-a", str(agent), "-m", f"local:{weights}", *options],
        env={**os.environ, "OPS_LOG": str(log)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.weights
@pytest.mark.parametrize(
    "weights", [pytest.param(SMALL, marks=needs_small, id="0.5B"), pytest.param(LARGE, marks=needs_large, id="1.5B")]
)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_real_model_runs_the_right_script_once(prompt: str, weights: Path | None, tmp_path: Path) -> None:
    log = tmp_path / "ops.log"
    code, out, err = ask(prompt, ROOT / "examples/ops/agent.yaml", weights, "--yolo", log=log)
    assert code == 0, err
    assert out.strip(), "the model's run ends with an answer"
    assert log.read_text().splitlines() == [PROMPTS[prompt]]


@pytest.mark.weights
@needs_small
def test_a_real_model_runs_a_sandboxed_module(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    shutil.copytree(ROOT / "examples/notes", notes, ignore=shutil.ignore_patterns("modules"))
    (notes / "modules").mkdir()
    shutil.copy(ROOT / "wasm-modules/word_count/word_count.wasm", notes / "modules")
    options = ("--allow", "word_count")
    code, out, err = ask(
        "Count the words of the note trip.md.", notes / "agent.yaml", SMALL, *options, log=tmp_path / "x"
    )
    assert code == 0, err
    words = len((notes / "notes/trip.md").read_text().split())
    assert str(words) in out


@pytest.mark.weights
@needs_small
def test_without_consent_a_real_model_runs_nothing(tmp_path: Path) -> None:
    log = tmp_path / "ops.log"
    code, _, err = ask(next(iter(PROMPTS)), ROOT / "examples/ops/agent.yaml", SMALL, log=log)
    assert code in (3, 4)
    assert "--allow status" in err
    assert not log.exists()
