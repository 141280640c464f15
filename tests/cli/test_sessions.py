"""`mm sessions` and `mm permissions`: what is printed, and the exit code."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path

import pytest

from mm.cli.main import run
from mm.config.grants import Granted, Grants
from mm.session.history import History
from mm.session.records import new_session
from mm.session.store import Store, default_path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MM_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


class Terminal:
    """Runs one command line of mm and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        out, error = self._capsys.readouterr()
        return code, out, error


@pytest.fixture
def mm(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def add(prompt: str, answer: str = "ok", cwd: str | None = None, age: float = 0.0) -> str:
    """Store one session of one turn, `age` seconds old."""
    store = Store(default_path())
    history = History(lambda: store, new_session(cwd or str(Path.cwd())), warn=pytest.fail)
    history.add_user(prompt)
    history.add_reply(answer)
    with store.transaction():
        store.database.write("UPDATE sessions SET updated = ? WHERE id = ?", (time.time() - age, history.session_id))
    history.close()
    return history.session_id


def test_list_shows_the_sessions_of_this_folder_the_newest_first(mm: Terminal) -> None:
    older = add("Publish the\nrelease", age=60)
    newer = add("Is it \x1b[31mup?")
    add("somewhere else", cwd="/elsewhere")
    code, out, error = mm("sessions", "list")
    lines = out.splitlines()
    assert (code, error, len(lines)) == (0, "", 2)
    assert mm("sessions") == (code, out, error)
    assert lines[0].startswith(newer) and lines[0].endswith("Is it \\x1b[31mup?")
    assert lines[1].startswith(older) and lines[1].endswith("    2  Publish the")


def test_list_of_a_folder_without_sessions_says_where_there_are_some(mm: Terminal) -> None:
    assert mm("sessions", "list") == (0, "", "No sessions of this folder.\n")
    add("somewhere else", cwd="/elsewhere")
    assert mm("sessions", "list")[2] == "No sessions of this folder. 1 of other folders: mm sessions list --all\n"
    assert "/elsewhere  somewhere else" in mm("sessions", "list", "--all")[1]


def test_list_as_json(mm: Terminal) -> None:
    identity = add("hello")
    code, out, _ = mm("sessions", "list", "--json")
    assert code == 0
    assert [(item["id"], item["title"], item["messages"]) for item in json.loads(out)] == [(identity, "hello", 2)]


def test_show_takes_an_id_its_beginning_its_word_or_latest(mm: Terminal) -> None:
    identity = add("What is 2 + 2?", "4 \x1b]0;owned\x07")
    word = identity.partition("-")[2]
    shown = [mm("sessions", "show", text) for text in (identity, identity[:-2], word, word[:4].upper(), "latest")]
    assert len(set(shown)) == 1
    code, out, error = shown[0]
    assert (code, error) == (0, "")
    assert "## You\n\nWhat is 2 + 2?\n\n## mm\n\n4 \\x1b]0;owned\\x07\n" in out


def test_latest_is_the_newest_of_this_folder_if_there_is_one(mm: Terminal) -> None:
    add("mine", age=60)
    add("newer, but elsewhere", cwd="/elsewhere")
    assert "mine" in mm("sessions", "show", "latest")[1]


def test_a_wrong_id_is_answered_with_the_nearest(mm: Terminal) -> None:
    identity = add("hello")
    wrong = identity[:-1] + ("a" if identity[-1] != "a" else "e")
    code, out, error = mm("sessions", "show", wrong)
    assert (code, out) == (2, "")
    assert error == f"mm: No session `{wrong}`. Nearest: `{identity}`.\n    List them all: mm sessions list --all\n"


def test_an_id_that_fits_several_sessions_is_refused_naming_them(mm: Terminal) -> None:
    identities = [add("one"), add("two")]
    code, _, error = mm("sessions", "show", identities[0][:6])
    assert code == 2
    assert "fits 2 sessions" in error and all(identity in error for identity in identities)


def test_without_any_session_a_command_says_how_to_begin_one(mm: Terminal) -> None:
    code, _, error = mm("sessions", "show", "latest")
    assert (code, error) == (2, 'mm: There are no sessions yet.\n    Begin one: mm -p "..."\n')


def test_search_prints_the_session_and_the_text_around_the_words(mm: Terminal) -> None:
    identity = add("How do I rotate the signing key?", "Run `rotate`.")
    add("something else")
    code, out, error = mm("sessions", "search", "signing", "key")
    assert (code, error) == (0, "")
    assert out.startswith(identity) and "    How do I rotate the signing key?\n" in out
    found = json.loads(mm("sessions", "search", "signing", "--json")[1])
    assert [(hit["session_id"], hit["role"]) for hit in found] == [(identity, "user")]


def test_search_for_nothing_and_search_without_a_hit(mm: Terminal) -> None:
    add("hello")
    assert mm("sessions", "search", "zebra") == (0, "", "No message holds `zebra`.\n")
    assert mm("sessions", "search", '"" ***')[0] == 2


def test_export_writes_markdown_or_json_to_a_private_file(mm: Terminal, tmp_path: Path) -> None:
    identity = add("hello", "wörld")
    assert mm("sessions", "export", identity)[1].startswith("# hello\n")
    assert json.loads(mm("sessions", "export", identity, "--format", "json")[1])["format"] == "mm-session"
    file = tmp_path / "out.json"
    assert mm("sessions", "export", identity, "-o", str(file)) == (0, "", f"Wrote {file}.\n")
    assert json.loads(file.read_text())["messages"][1]["content"] == "wörld"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_export_replaces_a_file_only_if_told_to(mm: Terminal, tmp_path: Path) -> None:
    identity = add("hello")
    file = tmp_path / "notes.md"
    file.write_text("precious")
    code, _, error = mm("sessions", "export", identity, "-o", str(file))
    assert (code, file.read_text()) == (2, "precious")
    assert "--force" in error
    assert mm("sessions", "export", identity, "-o", str(file), "--force")[0] == 0
    assert file.read_text().startswith("# hello")
    assert mm("sessions", "export", identity, "-o", str(tmp_path / "no" / "x.md"))[0] == 1


def test_delete_removes_what_was_named_and_nothing_if_one_name_is_wrong(mm: Terminal) -> None:
    first, second = add("first", age=30), add("second")
    assert mm("sessions", "delete", first, "nonsense")[0] == 2
    assert len(Store(default_path()).sessions()) == 2
    code, out, _ = mm("sessions", "delete", first)
    assert (code, out) == (0, f"Deleted {first}  first\n")
    assert [session.id for session in Store(default_path()).sessions()] == [second]


def test_delete_by_age(mm: Terminal) -> None:
    old, new = add("old", age=40 * 86_400), add("new")
    assert mm("sessions", "delete", "--older-than", "30d")[1] == f"Deleted {old}  old\n"
    assert mm("sessions", "delete", "--older-than", "30d") == (0, "", "No session is that old.\n")
    assert [session.id for session in Store(default_path()).sessions()] == [new]
    assert mm("sessions", "delete", "--older-than", "a month")[0] == 2
    assert mm("sessions", "delete")[0] == 2


def test_a_damaged_store_is_two_lines_and_no_traceback(mm: Terminal) -> None:
    default_path().write_bytes(b"this is no database, but it is long enough to be read as one" * 100)
    code, out, error = mm("sessions", "list")
    assert (code, out, len(error.splitlines())) == (1, "", 2)
    assert "is not a database" in error and "mv '" in error


def test_permissions_are_listed_and_revoked(mm: Terminal) -> None:
    assert mm("permissions", "list") == mm("permissions") == (0, "", "Nothing is allowed always.\n")
    grants = Grants(Path("/project/agent.yaml"))
    grants.add("release", "d1", "./release.sh \x1b[8m{{version}}")
    grants.add("status", "d2", "./status.sh")
    Grants(None).add("bash", "d3", "make test")
    items = json.loads(mm("permissions", "list", "--json")[1])
    out = mm("permissions", "list")[1]
    assert mm("permissions")[1] == out
    assert "release" in out and "    ./release.sh \\x1b[8m{{version}}\n" in out and "(built-in defaults)" in out
    code, out, _ = mm("permissions", "revoke", items[0]["id"][:6])
    assert (code, out) == (0, f"Revoked {items[0]['id']}: release of /project/agent.yaml\n")
    assert grants.find("release", "d1") is None
    assert isinstance(grants.find("status", "d2"), Granted)
    assert mm("permissions", "revoke", items[0]["id"])[0] == 2
    assert mm("permissions", "revoke")[0] == 2
    assert mm("permissions", "revoke", "--all")[1].count("Revoked") == 2
    assert mm("permissions", "list")[1] == ""


def test_an_unreadable_permissions_file_is_named_and_left_alone(mm: Terminal, home: Path) -> None:
    Grants(None).add("bash", "d", "ls")
    file = home / "config" / "permissions.json"
    file.write_text("{ broken")
    for arguments in (["permissions", "list"], ["permissions", "revoke", "--all"], ["permissions", "revoke", "x"]):
        code, _, error = mm(*arguments)
        assert code == 1
        assert str(file) in error and "mv '" in error
    assert file.read_text() == "{ broken"
