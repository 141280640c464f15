"""Asks for consent as a one-shot run does, a few times in a row."""

from __future__ import annotations

import sys
import time

from mm.dispatch.person import ConsentRequest
from mm.interrupt import Interrupt
from mm.terminal.line_person import LinePerson
from mm.terminal.palette import person_is_there
from tests.terminal.stand_in import plan, tool


def main(times: int = 1, *, slowly: bool = False) -> int:
    assert person_is_there()
    interrupt = Interrupt()
    interrupt.install()
    person = LinePerson(interrupt)
    print("ready", file=sys.stderr, flush=True)
    if slowly:
        time.sleep(0.3)  # the time in which someone types ahead
    print("asking", file=sys.stderr, flush=True)
    for _ in range(times):
        request = ConsentRequest(tool(), {"version": "1.4.2"}, plan("./release.sh", "1.4.2"))
        try:
            answer = person.decide(request)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        print(f"answer: {answer.decision.name} {answer.reason!r} {answer.arguments!r}", file=sys.stderr, flush=True)
    return 0
