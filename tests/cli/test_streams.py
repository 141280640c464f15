"""What mm makes of streams that are closed, full or narrow, and of a folder that is gone: words, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import MM, Place, Ran

PRINTS = {
    "name": "t",
    "description": "Prints what it is given.",
    "command": ["echo", "{{a}}"],
    "parameters": {"a": {"type": "string", "description": "What to print"}},
}
CLI = Path(__file__).parents[2] / "mm" / "cli"
PRINTING = (
    "-a agent.yaml -p x",
    "-a agent.yaml -p x --output-format stream-json",
    "tools list -a agent.yaml",
    "tools run -a agent.yaml -y t a=x",
    "schema",
    "--help",
    "--version",
)


def shell(place: Place, line: str, **environ: str) -> Ran:
    """Run a line of the shell in which `mm` is mm."""
    text = f'mm() {{ {" ".join(MM)} "$@"; }}; {line}'
    environment = place.environment(PYTHONPATH=str(CLI.parents[1]), **environ)
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=place.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode())


@pytest.fixture
def talks(place: Place) -> Place:
    place.agent(["the answer"], [PRINTS])
    return place


@pytest.mark.parametrize("line", PRINTING)
def test_a_full_disk_behind_stdout_is_said_in_words(talks: Place, line: str) -> None:
    ran = shell(talks, f"mm {line} >/dev/full")
    assert ran.code == 1
    assert ran.err.startswith("mm: stdout cannot be written: No space left on device.\n    Send it elsewhere")
    assert ran.err.count("\n") == 2


@pytest.mark.parametrize("line", PRINTING)
def test_a_closed_stdout_is_said_in_words(talks: Place, line: str) -> None:
    ran = shell(talks, f"mm {line} >&-")
    assert ran.code == 1
    assert ran.err.startswith("mm: stdout cannot be written: it is closed.\n") and ran.err.count("\n") == 2


@pytest.mark.parametrize("away", ["2>&-", "2>/dev/full", "<&-", "<&- 2>&-"])
def test_the_answer_comes_whatever_stands_in_for_the_other_streams(talks: Place, away: str) -> None:
    ran = shell(talks, f"mm -a agent.yaml -p x {away}")
    assert (ran.code, ran.out) == (0, "the answer\n")


def test_a_file_that_mm_opens_never_becomes_a_stream_that_was_closed(talks: Place) -> None:
    """The session's database would be the next file of that number, and would hold the notices."""
    ran = shell(talks, "mm -a agent.yaml -p x --output-format json <&- 2>&-; mm sessions list --json")
    first, _, rest = ran.out.partition("\n")
    assert json.loads(first)["result"] == "the answer"
    assert json.loads(rest)[0]["id"] == json.loads(first)["session_id"]


def test_no_arguments_on_a_closed_stdin_are_no_arguments(talks: Place) -> None:
    ran = shell(talks, "mm tools run -a agent.yaml -y t --args - <&-")
    assert ran.code == 2 and "`a` is missing" in ran.err and "Traceback" not in ran.err


def test_a_stdin_that_cannot_be_read_is_said_in_words(talks: Place) -> None:
    ran = shell(talks, "mm -a agent.yaml -p x 0>/dev/null")
    assert ran.code == 2 and ran.err.startswith("mm: stdin cannot be read: ")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_what_a_narrow_stdout_cannot_express_is_shown_as_an_escape(talks: Place, encoding: str) -> None:
    ran = shell(talks, "mm tools run -a agent.yaml -y t a=→", PYTHONIOENCODING=encoding)
    assert (ran.code, ran.out) == (0, "\\u2192\n")


def test_json_on_a_narrow_stdout_is_the_same_json(place: Place) -> None:
    place.agent(["é → 😀"])
    ran = shell(place, "mm -a agent.yaml -p x --output-format json", PYTHONIOENCODING="ascii")
    assert json.loads(ran.out)["result"] == "é → 😀"


def test_half_of_a_surrogate_pair_in_an_answer_is_shown(place: Place) -> None:
    place.write("script.yaml", '- "a \\ud83d b"\n')
    place.write("agent.yaml", "model: scripted:script.yaml\nbuiltins: []\n")
    ran = shell(place, "mm -a agent.yaml -p x")
    assert (ran.code, ran.out) == (0, "a \\ud83d b\n")


@pytest.mark.parametrize(
    "line", ["-p x", '-a "$OLDPWD/agent.yaml" -p x', "tools list", "sessions list", "trust", "doctor"]
)
def test_a_folder_that_is_gone_is_said_in_words(talks: Place, line: str) -> None:
    ran = shell(talks, f"mkdir gone; cd gone; rmdir ../gone; mm {line}")
    assert ran.code == 2
    assert ran.err == "mm: the folder that mm was started in is gone.\n    Go to one that is there: cd\n"


def test_a_value_that_is_no_text_is_an_error_that_shows_it(talks: Place) -> None:
    ran = shell(talks, "mm tools run -a agent.yaml -y t a=$'\\xff'")
    assert ran.code == 2 and ran.err.startswith("mm: `a=\\udcff` is not text in UTF-8.")


def test_a_reader_that_has_had_enough_ends_mm_quietly(talks: Place) -> None:
    ran = shell(talks, "mm schema | head -1; echo ${PIPESTATUS[0]}")
    assert (ran.out, ran.err) == ("{\n0\n", "")


@pytest.mark.skipif(not hasattr(os, "set_blocking"), reason="no such pipes here")
def test_a_pipe_that_does_not_block_gets_everything(talks: Place) -> None:
    """A parent may share a pipe that it set so for itself; a write then fails where it would have to wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    talks.agent(["y" * 300_000])
    running = subprocess.Popen(
        [*MM, "-a", "agent.yaml", "-p", "x"],
        cwd=talks.folder,
        env=talks.environment(),
        stdin=subprocess.DEVNULL,
        stdout=writer,
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"y" * 300_000 + b"\n"
    assert running.wait(60) == 0


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.stem)
def test_commands_write_through_the_streams_alone(path: Path) -> None:
    """What is printed any other way would reach a terminal as it is."""
    if path.stem == "streams":
        return
    text = path.read_text(encoding="utf-8")
    for other in ("click.echo(", "\n    print(", " print(", "stdout.write(", "stderr.write(", "click.secho("):
        assert other not in text, f"{path.name} writes with {other.strip()}"
