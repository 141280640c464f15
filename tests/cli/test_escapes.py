"""Nothing that a model, a server, a tool, a file or a folder's name says acts on the terminal."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pexpect
import pytest

from mm.visible import make_shell_word, make_visible_json
from tests.cli.running import MM, Place
from tests.models.loopback import reply, serving

EVIL = "\x1b]52;c;aGk=\x07\u202eX\x9b31m"
ACTS = re.compile("\x1b[]P^_X]|[\x80-\x9f\u202a-\u202e\u2066-\u2069\x07\x08]|\x1b\\[[0-9;]*[mJH]")
A = ("-a", "agent.yaml")


def on_terminal(place: Place, *arguments: str, cwd: Path | None = None) -> str:
    """What mm writes to a terminal; a question for trust is answered with a no."""
    environment = place.environment(PYTHONPATH=str(Path(__file__).parents[2]), NO_COLOR="1")
    terminal = pexpect.spawn(
        MM[0],
        [*MM[1:], *arguments],
        cwd=str(cwd or place.folder),
        env=environment,
        encoding="utf-8",
        codec_errors="surrogateescape",
        timeout=30,
        dimensions=(40, 200),
    )
    written = ""
    try:
        if terminal.expect_exact(["[y/N] ", pexpect.EOF]) == 0:
            written = terminal.before + terminal.after
            terminal.sendline("n")
            terminal.expect(pexpect.EOF)
        return written + terminal.before
    finally:
        terminal.close(force=True)


def quiet(text: str) -> bool:
    return ACTS.search(text) is None and bool(text.strip())


@pytest.mark.parametrize("where", ["a script", "a server's error", "a server's page"])
def test_an_error_of_the_model_is_made_visible(place: Place, where: str) -> None:
    place.agent([{"text": "x", "error": "boom " + EVIL}])
    with serving() as server:
        if where != "a script":
            server.answers = [reply(400, json.dumps({"error": {"message": EVIL}}) if "error" in where else EVIL)]
            model = {"name": "m", "base_url": server.url, "api_key": "k"}
            place.write("agent.yaml", json.dumps({"model": model, "builtins": []}))
        shown = on_terminal(place, *A, "-p", "x")
    assert quiet(shown)
    assert "\\u202e" in shown


@pytest.mark.parametrize("options", [(), ("--output-format", "json"), ("--output-format", "stream-json")])
def test_an_answer_is_made_visible(place: Place, options: tuple[str, ...]) -> None:
    place.agent([{"text": EVIL}])
    shown = on_terminal(place, *A, "-p", "x", *options)
    assert quiet(shown)
    if options:
        assert json.loads(shown.splitlines()[-1])["result"] == EVIL


def test_json_in_a_pipe_holds_nothing_that_acts_either(place: Place) -> None:
    place.agent([{"text": EVIL + " é → 😀"}])
    ran = place.mm(*A, "-p", "x", "--output-format", "json")
    assert quiet(ran.out) and json.loads(ran.out)["result"] == EVIL + " é → 😀"
    assert "é → 😀" in ran.out


def test_a_whole_session_is_made_visible(place: Place) -> None:
    place.agent([{"text": EVIL}])
    place.mm(*A, "-p", f"title {EVIL}")
    for line in ("list", "show latest", "export latest", "search X", "list --json", "search X --json"):
        assert quiet(on_terminal(place, "sessions", *line.split())), line
    exported = on_terminal(place, "sessions", "export", "latest", "--format", "json")
    assert quiet(exported) and json.loads(exported)["messages"][1]["content"] == EVIL


@pytest.mark.parametrize("arguments", [(), (f"a={EVIL}",), ("--dry-run", f"a={EVIL}")])
def test_a_tool_that_a_person_runs_is_made_visible(place: Place, arguments: tuple[str, ...]) -> None:
    place.write("e.sh", "#!/bin/sh\nprintf '\\342\\200\\256X \\302\\23331m \\033[2J %s\\n' \"$1\"\n", 0o755)
    tool = {"name": "e", "description": f"Prints {EVIL}.", "command": ["./e.sh", "{{a}}"]}
    place.agent([], [{**tool, "parameters": {"a": {"type": "string", "default": "", "description": EVIL}}}])
    assert quiet(on_terminal(place, "tools", "run", *A, "-y", "e", *arguments))


@pytest.mark.parametrize(
    "line",
    [
        (*A, "-p", "x", "-r", EVIL),
        (*A, "-p", "x", "-m", EVIL),
        (*A, "-p", "x", "-m", f"scripted:{EVIL}"),
        (*A, "-p", "x", "--allow", EVIL),
        ("-a", EVIL, "-p", "x"),
        ("--cwd", EVIL, "-p", "x"),
        ("--max-rounds", EVIL),
        ("--output-format", EVIL),
        (f"--{EVIL.replace('=', '')}",),
        (EVIL,),
        ("tools", EVIL),
        ("tools", "show", EVIL),
        ("tools", "run", *A, "e", EVIL.replace("=", "")),
        ("tools", "new", EVIL, "--command", "ls"),
        ("sessions", "show", EVIL),
        ("sessions", "delete", EVIL),
        ("sessions", "delete", "--older-than", EVIL),
        ("permissions", "revoke", EVIL),
        ("model", "pull", EVIL),
        ("trust", EVIL),
        ("init", f"{EVIL}/{'x' * 300}"),
    ],
)
def test_what_is_typed_wrongly_is_made_visible_and_shown_whole(place: Place, line: tuple[str, ...]) -> None:
    place.agent(["x"], [{"name": "e", "description": "Echoes.", "command": ["echo"]}])
    if "sessions" in line or "-r" in line:
        place.mm(*A, "-p", "there is a session")
    shown = on_terminal(place, *line)
    assert quiet(shown)
    assert "52;c;aGk" in shown and "31m" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("text", ["name: x\n", '"k\\e]0;x\\a": 1\n', "a: [\n", 'model: "scripted:\\e]0;x\\a"\n'])
@pytest.mark.parametrize("line", [("-p", "x"), ("trust",), ("tools", "check")])
def test_the_path_of_a_file_that_mm_found_is_made_visible(place: Place, text: str, line: tuple[str, ...]) -> None:
    folder = place.folder / EVIL
    folder.mkdir()
    (folder / "agent.yaml").write_text(text)
    assert quiet(on_terminal(place, *line, cwd=folder))


def test_a_script_path_of_an_agent_file_is_made_visible(place: Place) -> None:
    place.write("agent.yaml", 'name: x\nmodel: "scripted:\\e]0;x\\a"\n')
    assert quiet(on_terminal(place, *A, "-p", "x"))


def test_the_command_that_would_trust_a_file_is_one_that_works(place: Place) -> None:
    folder = place.folder / f"it's a\n{EVIL}"
    folder.mkdir()
    (folder / "agent.yaml").write_text("model: scripted:script.yaml\n")
    (folder / "script.yaml").write_text("- hello\n")
    refused = Place(folder, place.home).mm("-p", "x")
    word = re.search(r"run: mm trust (.*)\n", refused.err)
    assert word is not None, "the path is on one line"
    environment = place.environment(PYTHONPATH=str(Path(__file__).parents[2]))
    command = f"{shlex.join(MM)} trust {word[1]}"
    subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=True)
    assert Place(folder, place.home).mm("-p", "x").out == "hello\n"


@pytest.mark.parametrize("text", ["it", "my folder", "a\x1b\u202eb", "it's \\x", "\n", "é", "\udcff", "$(x)`y`"])
def test_a_shell_word_means_its_text_and_shows_it(text: str) -> None:
    word = make_shell_word(text)
    assert quiet(word) and "\n" not in word
    said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
    assert said == text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("text", [EVIL, "\x7f", "é\U000e0041", "😀", "\u2028"])
def test_visible_json_has_the_same_value(text: str) -> None:
    for ascii_only in (False, True):
        made = make_visible_json(json.dumps({text: [text]}, ensure_ascii=False), ascii_only=ascii_only)
        assert json.loads(made) == {text: [text]}
        assert made.isprintable() and (made.isascii() or not ascii_only)


def test_halves_of_surrogate_pairs_are_joined_or_replaced_in_json() -> None:
    halves = json.dumps("\ud83d\ude00 \ud83d", ensure_ascii=False)
    assert json.loads(make_visible_json(halves)) == "😀 \ufffd"
