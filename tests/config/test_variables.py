"""`~`, `${VAR}` and what looks like a variable and is none, in the places of an agent file that expand them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.load import preview
from mm.config.problems import ConfigProblems
from tests.config.agent_files import command, read, tool, write, wrong
from tests.config.test_edits import edit_of


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "notes").mkdir()
    return {"HOME": str(tmp_path), "HOST": "http://x.example", "CORP_KEY": "sesame", "BIN": "notes"}


def test_a_home_folder_is_filled_in_in_env(tmp_path: Path, environ: dict[str, str]) -> None:
    entry = tool(tmp_path, "command: [x]\nenv: {NOTES: ~/notes, HOME_: '~', PATH: '~/bin:/bin', A: a~/b}", environ)
    assert command(entry).env == {
        "NOTES": f"{tmp_path}/notes",
        "HOME_": str(tmp_path),
        "PATH": f"{tmp_path}/bin:/bin",
        "A": "a~/b",
    }
    config = read(tmp_path, "mcpServers: {a: {command: x, env: {NOTES: ~/notes}}}\n", environ)
    assert config.mcp_servers[0].env == {"NOTES": f"{tmp_path}/notes"}
    assert preview(write(tmp_path, "mcpServers: {a: {command: x, env: {N: ~/n}}}\n")).mcp_servers[0].env == {"N": "~/n"}


def test_a_home_folder_in_a_header_stays(tmp_path: Path, environ: dict[str, str]) -> None:
    config = read(tmp_path, "mcpServers: {a: {url: 'http://x', headers: {A: ~/b}}}\n", environ)
    assert config.mcp_servers[0].headers == {"A": "~/b"}


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("skills: [$HOME/notes]\n", "$HOME/notes"),
        ("instructions_files: ['$HOME/notes.md']\n", "$HOME"),
        ("tools: [{name: a, command: [$BIN/x]}]\n", "$BIN/x"),
        ("tools: [{name: a, command: [$BIN]}]\n", "$BIN"),
        ("tools:\n- name: a\n  command: [x]\n  cwd: $HOME/notes\n", "$HOME/notes"),
        ("tools: [{name: a, wasm: $HOME/x.wasm, read: [notes]}]\n", "$HOME/x.wasm"),
        ("tools: [{name: a, wasm: x.wasm, read: [$HOME/notes]}]\n", "$HOME/notes"),
        ("tools: [{name: a, wasm: x.wasm, read: [$HOME/notes:docs]}]\n", "$HOME/notes:docs"),
        ("hooks: {preToolCall: [{command: [$HOME/check.py]}]}\n", "$HOME/check.py"),
        ("mcpServers: {a: {command: $HOME/server, cwd: notes}}\n", "$HOME/server"),
        ('mcpServers: {a: {url: "$HOST/mcp"}}\n', "$HOST"),
        ("model: {name: x, base_url: $HOST/v1}\n", "$HOST/v1"),
        ("model: {name: x, base_url: 'http://x', api_key: $CORP_KEY}\n", "$CORP_KEY"),
    ],
)
def test_a_variable_without_braces_is_told_once_and_mended_by_its_edit(
    tmp_path: Path, environ: dict[str, str], text: str, old: str
) -> None:
    (found,) = wrong(tmp_path, text, environ)
    assert "without braces, nothing is filled in for `$" in found
    assert read(tmp_path, text.replace(old, edit_of(found)), environ).warnings == ()
    with pytest.raises(ConfigProblems, match="without braces"):
        preview(write(tmp_path, text))


def test_each_variable_without_braces_is_named(tmp_path: Path, environ: dict[str, str]) -> None:
    (found,) = wrong(tmp_path, "skills: ['$HOME/$BIN/${BIN}/$HOME']\n", environ)
    assert found.endswith("filled in for `$HOME` and `$BIN` | Write `${HOME}` and `${BIN}`.")


def test_what_stands_beside_a_variable_in_a_key_is_not_shown(tmp_path: Path, environ: dict[str, str]) -> None:
    (found,) = wrong(tmp_path, "model: {name: x, base_url: 'http://x', api_key: sk-mellon$CORP_KEY}\n", environ)
    assert found.endswith("| Write `${CORP_KEY}`.")
    assert "mellon" not in found


@pytest.mark.parametrize("text", ["$${HOME}", "${A:-$}HOME", "a$", "$1", "$$HOME", "5$"])
def test_other_dollars_are_text(tmp_path: Path, environ: dict[str, str], text: str) -> None:
    config = read(tmp_path, f"instructions_files: ['{text}']\n", environ)
    assert config.warnings == ()


def test_a_variable_without_braces_stays_in_env_and_headers_with_a_warning(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    text = "mcpServers: {a: {url: 'http://x', headers: {A: Bearer $CORP_KEY}}}\n"
    text += "tools: [{name: a, command: [x], env: {PATH: '$HOME/bin:$PATH', PASSWORD: 'pa$sword'}}]\n"
    config = read(tmp_path, text, environ)
    assert config.mcp_servers[0].headers == {"A": "Bearer $CORP_KEY"}
    assert command(config.tools[0]).env == {"PATH": "$HOME/bin:$PATH", "PASSWORD": "pa$sword"}
    assert [one.partition("agent.yaml:")[2] for one in sorted(config.warnings)] == [
        "1:48: `headers.A`: without braces, nothing is filled in for `$CORP_KEY`; write `${CORP_KEY}` if that is meant",
        "2:45: `env.PATH`: without braces, nothing is filled in for `$HOME` and `$PATH`;"
        " write `${HOME}` and `${PATH}` if that is meant",
    ]
