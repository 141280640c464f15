"""`mm completion`: what a shell is offered behind a Tab, in a real bash too, and never an error."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mm.config.schema import BUILTIN_NAMES
from mm.models.weights import catalogue
from mm.session.records import new_session
from mm.session.store import Store
from tests.cli.running import Place

TOOLS = """\
name: ops
builtins: [read_file]
tools:
  - {name: release, description: Publish., command: [./release.sh]}
  - {name: status, description: Report., command: [./status.sh]}
  - name: find
    description: Find it.
    command: [./find.sh, "{{word}}", "{{limit}}", "{{when}}"]
    parameters: {word: {}, limit: {type: integer}, when: {}}
  - name: book
    description: Book it.
    command: [./book.sh]
    stdin: json
    parameters: {type: object, properties: {day: {}, "a b": {}, hour: {}}}
"""


def offered(place: Place, line: str, **environ: str) -> list[str]:
    """What bash is offered at the end of a line; its last word is the incomplete one."""
    words = line.split(" ")
    ran = place.mm(COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), _MM_COMPLETE="bash_complete", **environ)
    assert (ran.code, ran.err) == (0, "")
    return [one.partition(",")[2] for one in ran.out.splitlines() if one]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mm tools run ", ["release", "status", "find", "book", "read_file"]),
        ("mm tools run find ", ["word=", "limit=", "when="]),
        ("mm tools run find w", ["word=", "when="]),
        ("mm tools run find word=x -y ", ["limit=", "when="]),
        ("mm tools run find word = x l", ["limit="]),
        ("mm tools run find word =", []),
        ("mm tools run find word = ", []),
        ("mm tools run book ", ["day=", "hour="]),
        ("mm tools run release ", []),
        ("mm tools run read_file ", ["path=", "offset=", "limit="]),
        ("mm tools run read_file path=x o", ["offset="]),
        ("mm tools run bash ", []),
        ("mm permissions ", ["list", "revoke"]),
        ("mm nothing --zz", []),
        ("mm -m o", ["ollama:", "openai:", "openrouter:"]),
        ("mm doctor -m olla", ["ollama:"]),
        ("mm tools show re", ["release", "read_file"]),
        ("mm --allow st", ["status"]),
        ("mm --deny re", ["release", "read_file"]),
        ("mm tools run release --allow rel", ["release"]),
        ("mm model pull ", ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]),
        ("mm tools n", ["new"]),
        ("mm doc", ["doctor"]),
        ("mm tools new x --wasm ", ["go", "c", "rust", "zig"]),
        ("mm completion f", ["fish"]),
    ],
)
def test_names_are_offered(place: Place, line: str, expected: list[str]) -> None:
    place.write("agent.yaml", TOOLS)
    assert offered(place, line) == expected


@pytest.mark.parametrize("name", BUILTIN_NAMES)
def test_the_parameters_of_each_built_in_tool_are_offered_and_nothing_is_made_for_it(place: Place, name: str) -> None:
    servers = "mcpServers: {a: {command: ./start.sh}}"
    place.write("agent.yaml", f"builtins: [bash, {name}]\nskills: [nowhere]\n{servers}\n")
    place.write("start.sh", "#!/bin/sh\ntouch started\n", 0o755)
    keys = offered(place, f"mm tools run {name} ")
    assert bool(keys) == (name != "delegate_task"), "which only an agent has"
    assert all(key.endswith("=") for key in keys)
    assert not place.home.exists() and not (place.folder / "started").exists()


def test_the_file_that_the_line_names_decides(place: Place) -> None:
    place.write("agent.yaml", TOOLS)
    place.write("other.yaml", "tools: [{name: third, command: [ls]}]\nbuiltins: []\n")
    assert offered(place, "mm -a other.yaml tools run ") == ["third"]
    assert offered(place, "mm tools run -a other.yaml ") == ["third"]


def test_sessions_are_offered_by_their_ids(place: Place) -> None:
    (place.home / "data").mkdir(parents=True, mode=0o700)
    store = Store(place.home / "data/sessions.db")
    ids = {store.add_session(new_session("/a", "", "m")).id for _ in range(2)}
    store.close()
    assert set(offered(place, "mm -r ")) == ids
    assert set(offered(place, "mm sessions show ")) == ids


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mm -m ", ["local:qwen2.5-coder-0.5b", "ollama:", "llamacpp:", "lmstudio:", "openai:", "openrouter:"]),
        ("mm -m local : ", ["qwen2.5-coder-0.5b"]),
        ("mm -m local : qw", ["qwen2.5-coder-0.5b"]),
        ("mm --model = local : qw", ["qwen2.5-coder-0.5b"]),
    ],
)
def test_models_are_offered_whose_weights_are_here_however_bash_splits_the_word(
    place: Place, line: str, expected: list[str]
) -> None:
    here = catalogue()["qwen2.5-coder-0.5b"]
    folder = place.home / "data/models"
    folder.mkdir(parents=True, mode=0o700)
    with (folder / here.file).open("wb") as file:
        file.truncate(here.bytes)
    assert offered(place, line) == expected


def test_nothing_is_made_started_or_trusted_by_a_tab(place: Place) -> None:
    place.write("agent.yaml", TOOLS + "hooks: {preToolCall: [{command: [./touch.sh]}]}\nmodel: {name: '${NOT_SET}'}\n")
    place.write("touch.sh", "#!/bin/sh\ntouch touched\n", 0o755)
    before = sorted(place.folder.iterdir())
    assert offered(place, "mm tools run st") == ["status"]
    assert offered(place, "mm -r ") == []
    assert offered(place, "mm -m l") == ["llamacpp:", "lmstudio:"]
    assert sorted(place.folder.iterdir()) == before
    assert not place.home.exists()


@pytest.mark.parametrize(
    "text",
    [
        "{{{",
        "",
        "[1, 2]",
        "tools: 3\n",
        "a: &a [*a]\n",
        "tools: [3, {name: [x]}, {nmae: y}]\n",
        "\x00",
        "tools: []\n---\n",
    ],
)
def test_a_broken_file_offers_nothing_and_is_no_error(place: Place, text: str) -> None:
    place.write("agent.yaml", text + "builtins: []\n" if text.startswith("tools") else text)
    assert offered(place, "mm tools run ") == []
    assert offered(place, "mm -a gone.yaml tools run ") == []
    assert offered(place, "mm -a . tools run ") == []


def test_a_name_that_is_none_never_reaches_the_shell(place: Place) -> None:
    evil = ["$(touch evil)", "a b", "x;touch evil", "`touch evil`", "plain,y", "new\\nline"]
    entries = "".join(f'  - {{name: "{name}", command: [ls]}}\n' for name in evil)
    place.write("agent.yaml", f"builtins: []\ntools:\n{entries}  - {{name: good, command: [ls]}}\n")
    assert offered(place, "mm tools run ") == ["good"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(place: Place, shell: str) -> None:
    ran = place.mm("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert f"_MM_COMPLETE={shell}_complete" in ran.out


def test_another_shell_is_refused_with_the_names_of_those_there_are(place: Place) -> None:
    ran = place.mm("completion", "tcsh")
    assert ran.code == 2
    assert "'bash', 'zsh', 'fish'" in ran.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("mm tools run rel", "release"),
        ("mm tools run find li", "limit="),
        ("mm tools run find word = x li", "limit="),
        ("mm tools run read_file off", "offset="),
        ("mm -m olla", "ollama:"),
    ],
)
def test_a_real_bash_completes_names(place: Place, words: str, expected: str) -> None:
    place.write("agent.yaml", TOOLS)
    script = place.write("bin/mm", f'#!/bin/sh\nexec {sys.executable} -m mm "$@"\n', 0o755)
    typed = f"COMP_WORDS=({words}); COMP_CWORD={len(words.split()) - 1}; _mm_completion mm"
    environment = place.environment(PYTHONPATH=str(Path(__file__).parents[2]))
    environment["PATH"] = f"{script.parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", f'eval "$(mm completion bash)"; {typed}; echo "${{COMPREPLY[@]}}"'],
        cwd=place.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")
