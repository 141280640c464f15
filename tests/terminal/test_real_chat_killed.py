"""`kill -9` at random moments of a chat: the session goes on in a new chat, and its next request is valid."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.cli.killed import conversation, kept_whole
from tests.cli.running import Place, call
from tests.terminal.pty import Terminal
from tests.terminal.real import leave, left_behind, mm_chat, records, store_of

KILLS = 10


def talk(it: Terminal) -> None:
    """Two turns and a question, as far as mm lives."""
    with suppress(OSError):  # the terminal of a dead program cannot be typed into
        it.say("go")
        if it.comes("All is done.") and it.comes("scripted:"):
            it.say("release it")
            if it.comes("Enter skips > "):
                it.say("1.4.2")
                it.comes("Thank you.")


def chat_place(folder: Path) -> Place:
    (folder / "work").mkdir(parents=True)
    place = Place(folder / "work", folder / "home")
    conversation(place, call("clarify", questions=[{"question": "Which version?"}]), "Thank you.")
    text = (place.folder / "agent.yaml").read_text()
    place.write("agent.yaml", text.replace("builtins: []", "builtins: [clarify]"))
    return place


def kill_and_resume(place: Place, delay: float) -> int:
    """Kill mm `delay` seconds after the first message; the session then goes on. Returns how much was kept."""
    with mm_chat(place) as it:
        timer = threading.Timer(delay, os.kill, (it.process, signal.SIGKILL))
        timer.start()
        talk(it)
        timer.join()
        assert it.end() == -signal.SIGKILL
    if not (place.home / "data" / "sessions.db").exists() or not store_of(place).sessions(limit=1):
        return 0
    kept = kept_whole(place)
    place.write("script.yaml", "- Going on.\n")
    with mm_chat(place, "-c") as it:
        it.say("and now?")
        it.wait_for("Going on.")
        it.wait_for("scripted:")
        assert leave(it) == 0
        assert "Traceback" not in it.seen
    assert len(records(place)) == len(kept) + 2, "what was kept is still there"
    return len(kept)


def kill_at_random_moments(folder: Path, kills: int, seed: int) -> list[int]:
    """How many messages were kept each time."""
    whole = chat_place(folder / "whole")
    with mm_chat(whole) as it:
        began = time.monotonic()
        talk(it)
        length = time.monotonic() - began
        assert leave(it) == 0
    chance = random.Random(seed)
    kept = []
    for number in range(kills):
        place = chat_place(folder / str(number))
        kept.append(kill_and_resume(place, chance.uniform(0, 1.1) * length))
        assert left_behind(place) == []
    return kept


def test_after_kill_9_at_random_moments_of_a_chat_the_session_goes_on(tmp_path: Path) -> None:
    """(C117)"""
    kept = kill_at_random_moments(tmp_path, KILLS, seed=7)
    assert len(set(kept)) > 3, f"the kills came at different moments: {kept}"
