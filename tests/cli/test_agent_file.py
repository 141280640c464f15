"""`mm tools check|list|show`, `mm trust`, `mm schema`: what is printed, and the exit code."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from mm.cli.main import run
from mm.config.load import load
from mm.config.trust import is_trusted
from tests.config.agent_files import deep_by_aliases

OPS = Path(__file__).parents[2] / "examples/ops"
SOUND = """\
tools:
  - name: status
    description: Report the status of a service.
    command: [git, status, --, "{{service}}"]
    final: true
    parameters: {service: {description: Name of the service}}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GH_TOKEN", "sesame")
    monkeypatch.setenv("OTHER_TOKEN", "sesame")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_check_says_that_all_is_well(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "agent.yaml").write_text(SOUND)
    assert run(["tools", "check"]) == 0
    assert capsys.readouterr().out == "1 tool, no problems\n"


def test_check_prints_every_load_error_and_exits_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "bad.yaml").write_text("nmae: x\nyolo: yes\n")
    assert run(["tools", "check", "-a", "bad.yaml"]) == 2
    assert capsys.readouterr().out.splitlines() == [
        "bad.yaml:1:1: the agent file has no key `nmae`",
        "  Did you mean `name`?",
        "bad.yaml:2:7: `yolo` must be `true` or `false`",
        "  Write `yolo: true`.",
        "2 problems",
    ]


@pytest.mark.parametrize("arguments", [["-p", "x"], ["tools", "check"], ["tools", "list"], ["trust"]])
def test_a_file_that_aliases_make_endlessly_deep_is_told_in_a_few_lines(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (place / "agent.yaml").write_text(deep_by_aliases(25))
    assert run(arguments) != 0
    told = capsys.readouterr()
    assert "the values are nested more than 60 deep" in told.out + told.err


def test_check_exits_2_for_a_missing_program_and_0_for_warnings(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "agent.yaml").write_text("tools: [{name: a, command: [./nope.sh]}]\n")
    assert run(["tools", "check"]) == 2
    assert "1 tool, 1 problem, 1 warning" in capsys.readouterr().out
    (place / "agent.yaml").write_text("tools: [{name: a, command: [git]}]\n")
    assert run(["-a", "agent.yaml", "tools", "check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "agent.yaml:1:9: warning: `a`: there is no description; the model has only the name to go by",
        "  Add `description:`, one sentence.",
        "1 tool, 1 warning",
    ]


def test_check_looks_into_a_module(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "x.wasm").write_bytes(b"\0asm\1\0\0\0")  # valid, and without a `_start`
    (place / "agent.yaml").write_text("tools: [{name: a, description: Do this and that., wasm: x.wasm}]\n")
    assert run(["tools", "check"]) == 2
    assert "_start" in capsys.readouterr().out


def test_without_an_agent_file_there_is_nothing_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "check"]) == 2
    assert "There is no agent file here." in capsys.readouterr().err


def test_list_shows_kind_description_and_flags(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "agent.yaml").write_text(SOUND + "builtins: [read_file]\n")
    assert run(["tools", "list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == "status     command  Report the status of a service. [final]"
    assert second.startswith("read_file  builtin  ")
    assert run(["tools", "list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["status", "read_file"]


def test_show_prints_what_runs_what_the_model_sees_and_what_is_held_back(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "agent.yaml").write_text("env_pass: [GH_TOKEN]\n" + SOUND)
    assert run(["tools", "show", "status"]) == 0
    out = capsys.readouterr().out
    assert "status  (command, final)" in out
    assert "runs      git status -- {{service}}" in out
    assert "timeout   60 s" in out
    seen = json.loads(out.partition("What the model sees:")[2].partition("Held back")[0])
    assert seen["name"] == "status"
    assert list(seen["parameters"]["properties"]) == ["service"]
    held_back = out.partition("Held back from its environment:")[2]
    assert "OTHER_TOKEN" in held_back
    assert "GH_TOKEN" not in held_back
    assert "sesame" not in out


def test_show_of_an_unknown_tool_names_the_nearest(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "agent.yaml").write_text(SOUND)
    assert run(["tools", "show", "statsu"]) == 2
    assert "Did you mean `status`?" in capsys.readouterr().err


def test_show_of_a_tool_of_an_mcp_server_says_how_to_see_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "agent.yaml").write_text(SOUND)
    assert run(["tools", "show", "mcp__files__read", "-a", "agent.yaml"]) == 2
    assert "Tools of MCP servers are known once those run: mm mcp list" in capsys.readouterr().err


def test_trust_says_what_the_file_would_do_and_stores_it(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = place / "agent.yaml"
    path.write_text(SOUND)
    assert not is_trusted(load(path, environ={}))
    assert run(["trust"]) == 0
    out = capsys.readouterr().out
    assert "may run the tool `status`: git status -- {{service}}" in out
    assert f"Trusted: {path}" in out
    assert is_trusted(load(path, environ={}))


@pytest.mark.parametrize(
    "line", [["trust", "other.yaml"], ["trust", "-a", "other.yaml"], ["-a", "other.yaml", "trust"]]
)
def test_the_file_to_trust_is_named_in_each_way(
    place: Path, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = place / "other.yaml"
    path.write_text(SOUND)
    assert run(line) == 0
    assert "Trusted: other.yaml" in capsys.readouterr().out
    assert is_trusted(load(path, environ={}))


def test_two_files_to_trust_are_one_too_many(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "other.yaml").write_text(SOUND)
    assert run(["trust", "other.yaml", "-a", "agent.yaml"]) == 2
    assert "FILE and `-a` both name an agent file." in capsys.readouterr().err


def test_a_broken_file_is_not_trusted(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "agent.yaml").write_text("nmae: x\n")
    assert run(["trust", "agent.yaml"]) == 2
    assert "agent.yaml:1:1: the agent file has no key `nmae`" in capsys.readouterr().err


def test_the_schema_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$defs"]["tool"]["additionalProperties"] is False


def test_the_ops_example_has_no_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tools", "check", "-a", str(OPS / "agent.yaml")]) == 0
    assert capsys.readouterr().out == "3 tools, no problems\n"


@pytest.mark.parametrize(
    ("script", "arguments"),
    [("release", ["1.4.2", "beta"]), ("pkgtest", ["parser"]), ("status", ["billing"])],
)
def test_the_scripts_of_the_ops_example_log_what_they_were_called_with(
    tmp_path: Path, script: str, arguments: list[str]
) -> None:
    shutil.copytree(OPS, tmp_path / "ops", ignore=shutil.ignore_patterns("*.log"))
    program = str(tmp_path / "ops" / f"{script}.sh")
    subprocess.run([program, "--", *arguments], check=True, capture_output=True)
    assert (tmp_path / "ops/ops.log").read_text() == f"{script} {' '.join(arguments)}\n"
    done = subprocess.run(
        [program, *arguments], check=True, capture_output=True, env={"OPS_LOG": str(tmp_path / "log")}
    )
    assert (tmp_path / "log").read_text() == f"{script} {' '.join(arguments)}\n"
    assert arguments[0].encode() in done.stdout


def test_check_says_warnings_of_loading_among_the_others_in_the_order_of_the_file(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "agent.yaml").write_text(
        "tools: [{name: a, command: [ls]}]\nskills: [nowhere]\nmcpServers: {b: {command: no-such-program}}\n"
    )
    assert run(["tools", "check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(".yaml:")[2] for line in lines if ".yaml:" in line] == [
        "1:9: warning: `a`: there is no description; the model has only the name to go by",
        "2:10: warning: `skills`: there is no folder `nowhere`",
        "3:17: warning: the MCP server `b`: the program `no-such-program` is not on PATH",
    ]
    assert lines[-1] == "1 tool, 3 warnings"


def test_check_tells_what_is_likely_to_go_wrong_beside_what_is_wrong(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "agent.yaml").write_text(
        "nmae: x\n"
        "tools:\n"
        "  - name: a\n"
        '    command: [sh, -c, "echo {{b}}"]\n'
        "    timeout: 5 minutes\n"
        "    parameters: {b: {desc: Word}}\n"
        "  - name: c\n"
        "    description: Do this and that.\n"
        "    command: [./nope.sh]\n"
    )
    assert run(["tools", "check"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(".yaml:")[2] for line in lines if ".yaml:" in line] == [
        "1:1: the agent file has no key `nmae`",
        "3:5: warning: `a`: there is no description; the model has only the name to go by",
        "4:23: warning: `a`: a value is put into the code of `sh -c`, and so can be code",
        "5:14: `timeout: 5 minutes` is no time: write seconds, or `90s`, `2m`, `1h`",
        "6:22: a parameter has no key `desc`",
        f"9:14: error: `c`: there is no program `{place}/nope.sh`",
    ]
    assert lines[-1] == "4 problems, 2 warnings"
