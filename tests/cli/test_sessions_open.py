"""Two of the real `mm` and one session: nothing is mixed up, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mm.session.records import Session
from tests.cli.running import MM, Place, call
from tests.terminal.real import leave, mm_chat, store_of


@contextmanager
def open_elsewhere(place: Place) -> Iterator[Session]:
    """A session with one answered turn, in which another mm runs a tool; that turn ends well behind the block."""
    for name in ("up", "gate"):
        os.mkfifo(place.folder / name)
    place.write("slow.sh", f"#!/bin/sh\necho up > {place.folder}/up\ncat {place.folder}/gate\n", 0o755)
    slow = {"name": "slow", "description": "Waits for the test.", "command": ["./slow.sh"]}
    place.write("one.yaml", "- One.\n")
    place.agent([call("slow"), "It went well."], [slow], yolo=True)
    assert place.mm("-p", "first", "-a", "agent.yaml", "-m", "scripted:one.yaml").code == 0
    running = subprocess.Popen(
        [*MM, "-a", "agent.yaml", "-c", "-p", "run it"],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        (place.folder / "up").read_text()
        (session,) = store_of(place).sessions()
        yield session
        (place.folder / "gate").write_text("all fine\n")
        assert running.communicate(timeout=60)[0] == b"It went well.\n"
    finally:
        running.kill()
        running.communicate()


def said(place: Place, session_id: str) -> list[str]:
    store = store_of(place)
    records, _ = store.records(session_id)
    store.close()
    return [record.content for record in records]


@pytest.mark.parametrize("which", [["-c"], ["-r", "ID"]])
def test_going_on_with_a_session_that_is_open_begins_a_copy_of_it(place: Place, which: list[str]) -> None:
    with open_elsewhere(place) as session:
        place.write("two.yaml", "- Two.\n")
        named = [word.replace("ID", session.id) for word in which]
        ran = place.mm("-a", "agent.yaml", "-m", "scripted:two.yaml", *named, "-p", "second")
        assert (ran.code, ran.out) == (0, "Two.\n"), ran.err
        assert ran.err == (
            f"! Session {session.id} is open in another mm. "
            "This is a new session that begins with a copy of it, up to its last answer.\n"
        )
    assert said(place, session.id) == ["first", "One.", "run it", "", "all fine", "It went well."]
    (copy,) = [one.id for one in store_of(place).sessions() if one.id != session.id]
    assert said(place, copy) == ["first", "One.", "second", "Two."]


def test_a_session_that_is_free_again_is_gone_on_with(place: Place) -> None:
    with open_elsewhere(place) as session:
        pass
    place.write("two.yaml", "- Two.\n")
    assert "another mm" not in place.mm("-a", "agent.yaml", "-m", "scripted:two.yaml", "-c", "-p", "second").err
    assert said(place, session.id)[-2:] == ["second", "Two."]


def test_an_open_session_cannot_be_deleted_and_is_kept_when_old_ones_go(place: Place) -> None:
    with open_elsewhere(place) as session:
        refused = place.mm("sessions", "delete", session.id)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith(f"mm: Session {session.id} is open in another mm, so it cannot be deleted.\n")
        store = store_of(place)
        store.database.write("UPDATE sessions SET updated = 1")
        store.close()
        kept = place.mm("sessions", "delete", "--older-than", "1d")
        assert (kept.code, kept.out) == (0, "")
        assert f"Kept {session.id}: it is open in another mm." in kept.err
    assert place.mm("sessions", "delete", session.id).code == 0


def test_a_second_chat_says_that_it_is_in_a_copy(place: Place) -> None:
    with open_elsewhere(place) as session:
        place.write("two.yaml", "- Two.\n")
        with mm_chat(place, "-c", "-m", "scripted:two.yaml") as it:
            assert f"Session {session.id} is open in another mm." in " ".join(it.seen.split())
            it.say("second")
            it.wait_for("Two.")
            it.wait_for("scripted:")
            it.say(f"/resume {session.id}")
            it.wait_for("is open in another mm")
            assert leave(it) == 0
    assert said(place, session.id) == ["first", "One.", "run it", "", "all fine", "It went well."]
