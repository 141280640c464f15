"""Values on the command line that make no sense: each is an error that says what to type instead."""

from __future__ import annotations

import pytest

from tests.cli.running import Place


@pytest.mark.parametrize(
    "line",
    [
        ["-a", "", "-p", "x"],
        ["-m", "", "-p", "x"],
        ["--cwd", "", "-p", "x"],
        ["--allow", "", "-p", "x"],
        ["-r", "", "-p", "x"],
        ["tools", "list", "-a", ""],
        ["tools", "run", ""],
        ["sessions", "delete", ""],
        ["trust", ""],
        ["init", ""],
    ],
)
def test_an_empty_value_never_means_another_one(place: Place, line: list[str]) -> None:
    """A variable of a script that was not set."""
    place.agent(["hello"])
    ran = place.mm(*line)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("it is empty. Give a value, or leave it out.\n")


def test_a_prompt_without_its_quotes_is_said_to_need_them(place: Place) -> None:
    ran = place.mm("-p", "how", "many", "lines")
    assert ran.code == 2 and "A prompt of several words needs quotes around all of it." in ran.err


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (["-p", "explain", "schema"], "'explain schema'"),
        (["-p", "run", "init", "--name", "x"], "'run init --name x'"),
        (["-p", "what is", "tools", "run"], "'what is tools run'"),
        (["-p", "-", "schema"], "-"),
    ],
)
def test_a_prompt_before_a_command_is_refused_and_neither_is_lost(place: Place, line: list[str], whole: str) -> None:
    ran = place.mm(*line)
    assert (ran.code, ran.out) == (2, "")
    assert f"To ask: mm -p {whole}   For the command, leave out `-p`." in ran.err
    assert [*place.folder.iterdir()] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["chat"], "There is no command `chat`. Write: mm\n"),
        (["help"], "There is no command `help`. Write: mm -h\n"),
        (["tools", "help"], "There is no command `help`. Write: mm tools -h\n"),
        (["version"], "There is no command `version`. Write: mm --version\n"),
        (["tools", "zzz"], "There is no command `zzz`. See: mm tools -h\n"),
        (["check"], "There is no command `check`. Write: mm tools check\n"),
        (["list"], "There is no command `list`. Write: mm tools list\n"),
        (["show", "a tool"], "There is no command `show`. Write: mm tools show 'a tool'\n"),
        (["run", "X", "a=1"], "There is no command `run`. Write: mm tools run X a=1\n"),
        (["revoke", "x"], "There is no command `revoke`. Write: mm permissions revoke x\n"),
        (["docter"], "Did you mean `doctor`?"),
        (["why"], 'To ask the model: mm -p "why …"'),
    ],
)
def test_a_command_that_there_is_not_is_answered_with_what_is_meant(place: Place, line: list[str], says: str) -> None:
    ran = place.mm(*line)
    assert ran.code == 2 and says in ran.err


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["tools", "check", "agent.yaml"], "mm tools check -a agent.yaml"),
        (["tools", "list", "agent.yaml", "--json"], "mm tools list -a agent.yaml"),
        (["tools", "show", "act", "agent.yaml"], "mm tools show act -a agent.yaml"),
        (["mcp", "list", "agent.yaml"], "mm mcp list -a agent.yaml"),
        (["doctor", "other file"], "mm doctor -a 'other file'"),
        (["tools", "run", "act", "agent.yaml"], "-a agent.yaml"),
        (["agent.yaml"], "mm -a agent.yaml"),
        (["doctor", "gone.yml"], "mm doctor -a gone.yml"),
    ],
)
def test_an_agent_file_without_its_option_is_answered_with_the_line_that_is_meant(
    place: Place, line: list[str], meant: str
) -> None:
    place.agent(["hello"])
    place.write("other file", "name: x\n")
    ran = place.mm(*line)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"The agent file is named with -a: {meant}\n")


def test_another_argument_too_many_is_still_named(place: Place) -> None:
    ran = place.mm("tools", "check", "x", "y")
    assert ran.code == 2 and "Got unexpected extra arguments (x y)" in ran.err


def test_an_age_of_nothing_deletes_nothing(place: Place) -> None:
    """As from a script whose number is not set; all sessions of all folders would be gone."""
    place.agent(["hello"])
    place.mm("-a", "agent.yaml", "-p", "kept")
    ran = place.mm("sessions", "delete", "--older-than", "0d")
    assert ran.code == 2 and "would delete every session of every folder" in ran.err
    assert "kept" in place.mm("sessions", "list").out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["-a", "~nosuchuser/a.yaml", "-p", "x"], "there is no such user"),
        (["tools", "list", "-a", "~nosuchuser/a.yaml"], "there is no such user"),
        (["--cwd", "~nosuchuser", "-p", "x"], "there is no such user"),
        (["--cwd", "~nosuchuser", "tools", "list"], "there is no such folder"),
        (["init", "~nosuchuser"], "there is no such user"),
        (["trust", "~nosuchuser/a.yaml"], "there is no such user"),
        (["trust", "-a", "~nosuchuser/a.yaml"], "there is no such user"),
        (["-m", "scripted:~nosuchuser/s.yaml", "-p", "x"], "There is no script `~nosuchuser/s.yaml`"),
        (["-m", "local:~nosuchuser/x.gguf", "-p", "x"], "There is no file `~nosuchuser/x.gguf`"),
    ],
)
def test_a_home_of_nobody_is_said_in_words(place: Place, line: list[str], says: str) -> None:
    ran = place.mm(*line)
    assert ran.code in (1, 2) and says in ran.err and ran.err.count("\n") == 2


def test_a_value_of_thousands_of_characters_leaves_the_sentence_to_be_read(place: Place) -> None:
    place.agent(["hello"])
    place.mm("-a", "agent.yaml", "-p", "x")
    for ran in (
        place.mm("-a", "agent.yaml", "-p", "x", "-r", "y" * 5000),
        place.mm("sessions", "list", MM_HOME="/" + "y" * 5000),
    ):
        assert ran.code in (1, 2)
        assert len(ran.err) < 600 and " … " in ran.err and ran.err.startswith("mm: ")


def test_a_home_of_thousands_of_characters_leaves_the_notice_to_be_read(place: Place) -> None:
    place.agent(["hello"])
    ran = place.mm("-a", "agent.yaml", "-p", "x", MM_HOME="/" + "y" * 5000)
    assert (ran.code, ran.out) == (0, "hello\n")
    assert "kept in memory only" in ran.err and " … " in ran.err
    assert max(map(len, ran.err.splitlines())) < 600


@pytest.mark.parametrize("home", ["/dev/null", "/proc/x", "~nosuch/x", "agent.yaml", "agent.yaml/x"])
@pytest.mark.parametrize("line", [["-p", "x"], ["sessions", "list"], ["trust", "agent.yaml"]])
def test_a_home_that_cannot_be_is_said_in_words(place: Place, home: str, line: list[str]) -> None:
    place.agent(["hello"])
    ran = place.mm(*line, MM_HOME=home)
    assert ran.code in (1, 2)
    assert ran.err.startswith("mm: ") and ran.err.count("\n") <= 3 and home in ran.err
