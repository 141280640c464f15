"""Sessions of the real `mm` survive `kill -9`, a full disk, two processes, another version; `-c` and `-r`."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.cli.killed import conversation, kept_whole
from tests.cli.running import MM, Place, call, logging_tool, wait_until
from tests.terminal.real import left_behind, records, resumed, store_of

KILLS = 50


def start(place: Place, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*MM, "-p", "go", "-a", "agent.yaml", *arguments],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def kill_and_resume(place: Place, delay: float) -> int:
    """Kill mm after `delay` seconds; the session then resumes, valid. Returns how many messages there were."""
    process = start(place)
    timer = threading.Timer(delay, process.kill)
    timer.start()
    process.communicate(timeout=60)
    timer.cancel()
    assert process.returncode in (0, -signal.SIGKILL)
    if not (place.home / "data" / "sessions.db").exists() or not store_of(place).sessions(limit=1):
        return 0  # it died before the request was on its way
    kept = kept_whole(place)
    place.write("script.yaml", "- Going on.\n")
    again = place.mm("-p", "and now?", "-a", "agent.yaml", "-c")
    assert (again.code, again.out) == (0, "Going on.\n"), again.err
    assert "Traceback" not in again.err
    assert len(records(place)) == len(kept) + 2, "what was kept is still there"
    return len(kept)


def test_after_kill_9_at_fifty_random_moments_the_session_goes_on_and_the_next_request_is_valid(tmp_path: Path) -> None:
    """(C117)"""
    places = []
    for number in range(KILLS + 1):
        folder = tmp_path / str(number) / "work"
        folder.mkdir(parents=True)
        places.append(Place(folder, tmp_path / str(number) / "home"))
        conversation(places[-1])
    whole = places.pop()
    began = time.monotonic()
    assert start(whole).communicate(timeout=60)[0].endswith(b"All is done.\n")
    length = time.monotonic() - began
    chance = random.Random(11)
    moments = [chance.uniform(0.25, 1.25) * length for _ in places]
    with ThreadPoolExecutor(2) as pool:
        kept = list(pool.map(kill_and_resume, places, moments))
    assert len(set(kept)) > 5, f"the kills came at different moments: {kept}"
    assert all(left_behind(place) == [] for place in places)


def test_a_killed_call_is_told_to_the_model_as_outcome_unknown(place: Place) -> None:
    place.write("slow.sh", f"#!/bin/sh\necho up > {place.folder}/log\nexec sleep 600\n", 0o755)
    place.agent([call("slow"), "x"], [{"name": "slow", "description": "Slow.", "command": ["./slow.sh"]}], yolo=True)
    process = start(place)
    wait_until(lambda: bool(place.log()))
    process.kill()
    for left in left_behind_ids(place):
        subprocess.run(["kill", "-9", left], check=False)
    process.communicate(timeout=20)
    assert records(place)[-1].outcome == "started"
    place.agent([{"text": "I will check first.", "expect": "again"}])
    assert place.mm("-p", "again", "-a", "agent.yaml", "-c").code == 0
    assert "started, outcome unknown" in resumed(place)[2].content
    assert "started, outcome unknown" in place.mm("sessions", "show", "latest").out


def left_behind_ids(place: Place) -> list[str]:
    mark = f"MM_HOME={place.home}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes() and b"sleep" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_two_processes_write_to_one_store_and_neither_loses_anything(place: Place) -> None:
    conversation(place)
    processes = [start(place), start(place)]
    for process in processes:
        assert process.communicate(timeout=60)[0].endswith(b"All is done.\n")
    store = store_of(place)
    sizes = [session.size for session in store.sessions()]
    store.close()
    assert len(sizes) == 2 and sizes[0] == sizes[1]


def test_a_full_disk_is_said_once_and_the_answer_still_comes(place: Place) -> None:
    place.agent([call("act", what="1"), call("act", what="2"), "Done."], [logging_tool(place, "act")], yolo=True)
    place.mm("-p", "first", "-a", "agent.yaml")
    size = (place.home / "data" / "sessions.db").stat().st_size
    big = "x" * size
    place.agent([call("act", what="3"), call("act", what="4"), "Done."], [logging_tool(place, "act")], yolo=True)
    program = f'ulimit -f {size // 1024}; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", program, "-", *MM, "-p", "-", "-a", "agent.yaml"],
        cwd=place.folder,
        env=place.environment(),
        input=big.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    err = done.stderr.decode()
    assert done.stdout == b"Done.\n", err
    assert err.count("kept in memory only") == 1
    assert place.log()[-2:] == ["act 3", "act 4"]
    assert records(place)[0].content == "first"


def test_a_store_of_a_newer_mm_is_left_alone_and_the_answer_comes(place: Place) -> None:
    place.agent(["First.", "Second."])
    place.mm("-p", "one", "-a", "agent.yaml")
    database = place.home / "data" / "sessions.db"
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = database.read_bytes()
    ran = place.mm("-p", "two", "-a", "agent.yaml")
    assert (ran.code, ran.out) == (0, "First.\n")
    assert "newer" in ran.err and "kept in memory only" in ran.err
    for arguments in (["-p", "three", "-a", "agent.yaml", "-c"], ["sessions", "list"]):
        refused = place.mm(*arguments)
        assert refused.code == 1 and "newer" in refused.err and "Traceback" not in refused.err
    assert database.read_bytes() == before


def test_damaged_rows_cost_a_warning_and_never_the_session(place: Place) -> None:
    """(C119)"""
    place.agent([call("act", what="1"), "Done."], [logging_tool(place, "act")], yolo=True)
    place.mm("-p", "go", "-a", "agent.yaml")
    connection = sqlite3.connect(place.home / "data" / "sessions.db")
    connection.execute("UPDATE messages SET calls = '{broken' WHERE role = 'assistant' AND calls != ''")
    connection.execute("UPDATE messages SET content = CAST(X'ff00fe' AS TEXT) WHERE role = 'user'")
    connection.commit()
    connection.close()
    place.agent(["Still fine."])
    ran = place.mm("-p", "and now?", "-a", "agent.yaml", "-c")
    assert (ran.code, ran.out) == (0, "Still fine.\n"), ran.err
    assert "!" in ran.err and "Traceback" not in ran.err
    assert "Traceback" not in place.mm("sessions", "show", "latest").err


def test_a_session_is_resumed_by_its_id_its_word_and_searched_exported_and_deleted(place: Place) -> None:
    place.agent(["The harbour is called Rostock.", "x"])
    first = place.mm("-p", "what is the harbour called?", "-a", "agent.yaml", "--output-format", "json")
    assert first.code == 0
    identity = store_of(place).sessions()[0].id
    place.agent([{"text": "Yes.", "expect": "sure?"}])
    for name in (identity, identity.partition("-")[2], "latest"):
        assert place.mm("-p", "sure?", "-a", "agent.yaml", "-r", name).code == 0
    assert len(records(place)) == 8
    assert identity in place.mm("sessions", "list").out
    assert identity in place.mm("sessions", "search", "rostock").out
    assert "Rostock" in place.mm("sessions", "export", identity).out
    wrong = place.mm("-p", "x", "-a", "agent.yaml", "-r", "nonsense")
    assert wrong.code == 2 and "mm sessions list" in wrong.err
    assert place.mm("sessions", "delete", identity).code == 0
    gone = place.mm("-p", "x", "-a", "agent.yaml", "-c")
    assert gone.code == 2 and "no session" in gone.err


def test_a_resumed_session_that_no_longer_fits_is_cut_with_a_notice(place: Place) -> None:
    place.agent(["word " * 1500, "x"])
    place.mm("-p", "tell me much", "-a", "agent.yaml")
    model = {"provider": "scripted", "name": "script.yaml", "context": 2000}
    place.agent(["Short."], model=model)
    ran = place.mm("-p", "go on", "-a", "agent.yaml", "-c")
    assert (ran.code, ran.out) == (0, "Short.\n")
    assert "no longer fits the model's context" in ran.err


class _SmallServer(BaseHTTPRequestHandler):
    """A llama.cpp with a context of 2,000 tokens. `requests` are the bodies of what it was asked."""

    requests: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"default_generation_settings": {"n_ctx": 2000}}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(body)
        chunks = [
            {"choices": [{"index": 0, "delta": {"content": "Served."}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 500, "completion_tokens": 2}},
        ]
        lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
        self._send("text/event-stream", f"{lines}data: [DONE]\n\n".encode())

    def log_message(self, *arguments: object) -> None:
        """Not on the terminal of the tests."""

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    _SmallServer.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _SmallServer) as it:
        threading.Thread(target=it.serve_forever, daemon=True).start()
        yield it
        it.shutdown()


def test_the_first_request_of_a_long_session_already_fits_the_servers_context(
    place: Place, server: ThreadingHTTPServer
) -> None:
    """The server is asked for its context before the request, not after it has cut one."""
    place.agent(["word " * 3000, "x"])
    place.mm("-p", "tell me much", "-a", "agent.yaml")
    url = f"http://127.0.0.1:{server.server_port}/v1"
    place.agent([], model={"provider": "llamacpp", "name": "small", "base_url": url})
    ran = place.mm("-p", "go on", "-a", "agent.yaml", "-c")
    assert (ran.code, ran.out) == (0, "Served.\n"), ran.err
    assert "no longer fits the model's context" in ran.err
    [request] = _SmallServer.requests
    assert len(json.dumps(request)) < 6000


def test_a_server_that_silently_cuts_the_prompt_is_noticed(place: Place, server: ThreadingHTTPServer) -> None:
    """(C58) It says 500 tokens for a prompt of 1,500 words, and does not say how much it can take."""
    url = f"http://127.0.0.1:{server.server_port}/v1"
    place.agent([], model={"provider": "openai", "name": "small", "base_url": url, "api_key": "x"})
    ran = place.mm("-p", "-", "-a", "agent.yaml", text="word " * 1500)
    assert (ran.code, ran.out) == (0, "Served.\n"), ran.err
    assert "500 tokens" in ran.err and "cut" in ran.err
