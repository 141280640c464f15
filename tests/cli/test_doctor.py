"""`mm doctor`: what is well, what is missing, and what mends it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mm.cli.main import run
from mm.config.load import load
from mm.config.trust import trust

Output = pytest.CaptureFixture[str]
SCRIPT = "name: x\nmodel: scripted:script.yaml\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MM_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    here = tmp_path / "ops"
    here.mkdir()
    (here / "script.yaml").write_text("[]\n")
    monkeypatch.chdir(here)
    return here


def doctor(capsys: Output, *arguments: str) -> tuple[int, dict[str, dict[str, Any]], str]:
    """The exit code, the checks by name, and everything that was printed."""
    code = run(["doctor", "--json", *arguments])
    out = capsys.readouterr().out
    return code, {check["name"]: check for check in json.loads(out)["checks"]}, out


def test_all_is_well_and_nothing_is_made_by_looking(folder: Path, capsys: Output) -> None:
    (folder / "agent.yaml").write_text(SCRIPT)
    assert run(["doctor", "-a", "agent.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "All is well." or lines[-1].endswith("warning"), lines
    assert any(line.startswith("ok       model           scripted:") for line in lines)
    assert not (folder.parent / "mm-home").exists()


def test_one_tool_is_not_said_to_be_several(folder: Path, capsys: Output) -> None:
    (folder / "x.sh").touch(0o755)
    tools = "tools:\n  - {name: x, description: Do the thing., command: [./x.sh]}\n"
    (folder / "agent.yaml").write_text(SCRIPT + tools)
    _, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert checks["agent file"]["says"] == "agent.yaml, 1 tool"


def test_a_file_that_check_warns_about_is_not_said_to_be_well(folder: Path, capsys: Output) -> None:
    (folder / "agent.yaml").write_text(SCRIPT + "tools:\n  - {name: x, description: Do, command: [ls]}\n")
    code, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert code == 0
    file = checks["agent file"]
    assert (file["status"], file["says"]) == ("warning", "agent.yaml: 1 warning")
    assert file["remedy"] == "mm tools check -a agent.yaml"


def test_missing_weights_are_a_problem_with_the_command_that_fetches_them(capsys: Output) -> None:
    code, checks, _ = doctor(capsys)
    assert code == 1
    assert checks["model"]["says"] == "local:qwen2.5-coder-1.5b, the default"
    assert checks["weights"]["status"] == "problem"
    assert checks["weights"]["remedy"] == "Run: mm model pull qwen2.5-coder-1.5b"


def test_why_this_model_is_said(folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "agent.yaml").write_text(SCRIPT)
    assert doctor(capsys, "-a", "agent.yaml")[1]["model"]["says"].endswith("script.yaml, from the agent file")
    monkeypatch.setenv("MM_MODEL", "ollama:a")
    assert doctor(capsys, "-a", "agent.yaml")[1]["model"]["says"] == "ollama:a, from MM_MODEL"
    assert doctor(capsys, "-m", "ollama:b")[1]["model"]["says"] == "ollama:b, from -m"


@contextmanager
def server(status: int, body: bytes, seen: list[str]) -> Iterator[str]:
    """A model server on loopback: its base URL. `seen` learns the paths and keys of the requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('authorization')}")
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/v1"
        listening.shutdown()
        thread.join()


def write_model(folder: Path, url: str) -> None:
    model = f"{{name: openai:qwen3, base_url: {url}, api_key: '${{OPS_KEY}}'}}"
    (folder / "agent.yaml").write_text(f"name: x\nmodel: {model}\n")


@pytest.mark.parametrize(
    ("status", "body", "state", "says"),
    [
        (200, b'{"data": [{"id": "qwen3"}]}', "ok", "has `qwen3`"),
        (200, b'{"data": [{"id": "other"}]}', "warning", "does not list `qwen3`"),
        (200, b"<html>", "warning", "not with a list"),
        (404, b"", "warning", "404"),
        (401, b'{"error": {"message": "bad key open-sesame"}}', "problem", "refused the key"),
    ],
)
def test_the_server_is_asked_for_its_models_and_the_key_is_never_shown(
    folder: Path,
    capsys: Output,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
    state: str,
    says: str,
) -> None:
    monkeypatch.setenv("OPS_KEY", "open-sesame")
    seen: list[str] = []
    with server(status, body, seen) as url:
        write_model(folder, url)
        code, checks, out = doctor(capsys, "-a", "agent.yaml")
    assert seen == ["/v1/models Bearer open-sesame"]
    assert checks["model server"]["status"] == state
    assert says in checks["model server"]["says"]
    assert code == (state == "problem")
    assert "sesame" not in out


def test_a_server_that_is_not_there_is_a_problem(folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    code, checks, _ = doctor(capsys, "-m", "ollama:qwen3")
    assert code == 1
    assert "cannot be reached" in checks["model server"]["says"]
    assert "ollama serve" in checks["model server"]["remedy"]


def test_a_server_on_this_machine_is_asked_past_a_proxy_as_a_turn_asks_it(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS_KEY", "open-sesame")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    seen: list[str] = []
    with server(200, b'{"data": [{"id": "qwen3"}]}', seen) as url:
        write_model(folder, url)
        code, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert (code, checks["model server"]["status"], len(seen)) == (0, "ok", 1)


@pytest.mark.parametrize(
    ("variable", "value", "url", "says"),
    [
        ("ALL_PROXY", "nonsense://127.0.0.1:1", "http://models.example/v1", "No HTTP client can be made"),
        ("SSL_CERT_FILE", "/nowhere/authorities.pem", "https://models.example/v1", "No HTTP client can be made"),
        ("OPS_KEY", "kéy", "http://127.0.0.1:1/v1", "holds characters that no header may hold"),
        ("OPS_KEY", "key", "http://127.0.0.1:port/v1", "is not a URL"),
    ],
)
def test_a_request_that_cannot_be_made_is_a_problem_and_the_rest_is_looked_at(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, url: str, says: str
) -> None:
    monkeypatch.setenv("OPS_KEY", "open-sesame")
    monkeypatch.setenv(variable, value)
    write_model(folder, f"'{url}'")
    code, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert code == 1
    assert checks["model server"]["status"] == "problem"
    assert says in checks["model server"]["says"]
    assert "wasm" in checks


def test_a_program_is_looked_for_on_the_server_s_own_path(folder: Path, capsys: Output) -> None:
    (folder / "bin").mkdir()
    (folder / "bin/own").touch(0o755)
    (folder / "agent.yaml").write_text(
        f"{SCRIPT}mcpServers: {{a: {{command: own, env: {{PATH: {folder}/bin}}}}, b: {{command: own}}}}\n"
    )
    _, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert (checks["mcp a"]["status"], checks["mcp b"]["status"]) == ("ok", "problem")


def test_the_commands_that_mend_a_path_with_blanks_are_quoted(folder: Path, capsys: Output) -> None:
    (folder / "my agent.yaml").write_text("nmae: x\n")
    _, checks, _ = doctor(capsys, "-a", "my agent.yaml")
    assert checks["agent file"]["remedy"] == "mm tools check -a 'my agent.yaml'"


def test_the_server_of_an_untrusted_file_is_not_asked(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPS_KEY", "open-sesame")
    seen: list[str] = []
    with server(200, b'{"data": []}', seen) as url:
        write_model(folder, url)
        _, checks, out = doctor(capsys)
        assert seen == []
        assert checks["agent file"]["status"] == "warning"
        assert "mm trust" in checks["agent file"]["remedy"]
        assert url not in out
        trust(load(folder / "agent.yaml", environ={"OPS_KEY": "open-sesame"}))
        doctor(capsys)
        assert len(seen) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nmae: x\nyolo: maybe\n", "2 problems"),
        ("tools: [{name: a, description: Do this and that., command: [./nope.sh]}]\n", "1 problem"),
    ],
)
def test_a_file_with_problems_sends_to_the_check(folder: Path, capsys: Output, text: str, says: str) -> None:
    (folder / "agent.yaml").write_text(text)
    code, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert code == 1
    assert checks["agent file"]["says"] == f"agent.yaml: {says}"
    assert checks["agent file"]["remedy"] == "mm tools check -a agent.yaml"


def test_a_file_that_is_not_there_is_said_among_the_rest(capsys: Output) -> None:
    code, checks, _ = doctor(capsys, "-a", "nope.yaml")
    assert code == 1
    assert "There is no file `nope.yaml`" in checks["agent file"]["says"]
    assert checks["wasm"]["status"] == "ok"


def test_mcp_servers_are_looked_at_and_not_started(folder: Path, capsys: Output) -> None:
    (folder / "start.sh").write_text("#!/bin/sh\ntouch started\n")
    (folder / "start.sh").chmod(0o755)
    servers = "{here: {command: ./start.sh}, gone: {command: ./gone}, off: {command: x, disabled: true}}"
    (folder / "agent.yaml").write_text(f"{SCRIPT}mcpServers: {servers}\n")
    _, checks, _ = doctor(capsys, "-a", "agent.yaml")
    assert checks["mcp here"]["status"] == "ok"
    assert checks["mcp gone"]["status"] == "problem"
    assert "mcp off" not in checks
    assert not (folder / "started").exists()


def test_a_folder_that_others_may_read_or_write_is_said_with_the_command(folder: Path, capsys: Output) -> None:
    home = folder.parent / "mm-home"
    for kind, mode in (("config", 0o700), ("data", 0o755), ("cache", 0o777)):
        (home / kind).mkdir(parents=True)
        (home / kind).chmod(mode)
    code, checks, _ = doctor(capsys)
    assert code == 1
    assert checks["folder config"]["status"] == "ok"
    assert checks["folder data"]["status"] == "warning"
    assert checks["folder data"]["remedy"] == f"chmod 700 '{home / 'data'}'"
    assert checks["folder cache"]["status"] == "problem"
    assert "chmod go-w" in checks["folder cache"]["remedy"]


def test_damaged_permissions_and_sessions_are_problems_and_no_traceback(folder: Path, capsys: Output) -> None:
    home = folder.parent / "mm-home"
    for kind in ("config", "data"):
        (home / kind).mkdir(parents=True, mode=0o700)
    (home / "config/permissions.json").write_text("{")
    (home / "data/sessions.db").write_bytes(b"no database" * 500)
    code, checks, _ = doctor(capsys)
    assert code == 1
    assert checks["permissions"]["status"] == "problem"
    assert checks["sessions"]["status"] == "problem"
    assert "mv " in checks["sessions"]["remedy"]


def test_a_machine_without_a_compiler_is_only_warned(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("WASI_SDK_PATH", raising=False)
    _, checks, _ = doctor(capsys)
    assert checks["compilers"]["status"] in ("ok", "warning")
    assert checks["compilers"]["says"].startswith(("go: package", "c: package", "none for wasm modules"))


@pytest.mark.parametrize("line", [["doctor"], ["init"], ["tools", "list"], ["tools", "new", "x", "--command", "ls"]])
def test_a_folder_that_is_gone_is_said_and_no_traceback(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(line) == 2
    assert "the folder that mm was started in is gone" in capsys.readouterr().err


def test_a_folder_to_work_in_that_is_not_there_is_said(capsys: Output) -> None:
    assert run(["--cwd", "nope", "tools", "list"]) == 2
    assert "`--cwd nope`: there is no such folder." in capsys.readouterr().err
    assert run(["--cwd", "nope", "doctor"]) == 1
    assert "`--cwd nope`: there is no such folder." in capsys.readouterr().out


def test_with_mcp_the_servers_are_started_and_ended(folder: Path, capsys: Output) -> None:
    pytest.importorskip("mcp")
    echo = Path(__file__).parents[1] / "mcp_servers/echo.py"
    servers = f"{{echo: {{command: {sys.executable}, args: [{echo}]}}, broken: {{command: 'false'}}}}"
    (folder / "agent.yaml").write_text(f"{SCRIPT}mcpServers: {servers}\n")
    code, checks, _ = doctor(capsys, "--mcp", "-a", "agent.yaml")
    assert code == 1
    assert checks["mcp echo"]["status"] == "ok"
    assert "tools" in checks["mcp echo"]["says"]
    assert checks["mcp broken"]["status"] == "problem"


def test_the_servers_of_an_untrusted_file_are_not_started(folder: Path, capsys: Output) -> None:
    (folder / "start.sh").write_text("#!/bin/sh\ntouch started\n")
    (folder / "start.sh").chmod(0o755)
    (folder / "agent.yaml").write_text(f"{SCRIPT}mcpServers: {{here: {{command: ./start.sh}}}}\n")
    _, checks, _ = doctor(capsys, "--mcp")
    assert "mcp here" not in checks
    assert not (folder / "started").exists()
