"""A chat with a stand-in for the agent: what it does is decided by the first word of the message."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mm.config.schema import Permissions
from mm.dispatch.consent import Consent, EditedError, NotApprovedError
from mm.dispatch.person import Answer, ConsentRequest, Person
from mm.errors import ExitCode, MMError
from mm.events import (
    CallEnded,
    CallProgress,
    CallStarted,
    Event,
    Notice,
    ReasoningShown,
    ReplyEnded,
    RequestSent,
    TextHeld,
    TextShown,
)
from mm.interrupt import Interrupt
from mm.messages import Outcome, Reply, ToolCall, ToolResult
from mm.schemas.schema import Schema
from mm.terminal.chat import ChatTerminal, run_chat
from mm.terminal.chat_agent import LastExchange, SessionLine, UsageFacts
from mm.tools.spec import Kind, Look, Plan, Shown, Tool
from mm.turn import TurnEnd

ANSWER = """# Three notes

There are **three** notes, and `read_note` reads each of them. See [the docs](https://example.org/docs).
They were written last week.

- one about *boats*
- one about trains
  - with a nested item that is long enough to be wrapped in a window of forty columns
- one about planes

| Note | Words | About |
|------|------:|-------|
| a.md | 1,204 | boats |
| b.md | 88 | 電車 trains |
| c.md | 3 | planes and what is said about them in general |

```python
def count(text: str) -> int:
    \"\"\"Count the words.\"\"\"
    return len(text.split())  # blanks and newlines alike
```

> That is all.

The end."""

HOSTILE = "start \x1b]52;c;ZXZpbA==\x07 \x1b[2J\x1b[H \x9b31m \u202egnp.exe\u202c \x08\x08 end"


def tool(name: str = "release") -> Tool:
    return Tool(name, Kind.COMMAND, "Publish a release of the project.\nMore.", Schema({"type": "object"}), None)


def plan(*entries: str, text: str = "") -> Plan:
    shown = [Shown("command", Look.ARGV, entries)]
    if text:
        shown.append(Shown("stdin", Look.STDIN, (text,)))
    return Plan(None, (*shown, Shown("folder", Look.PATH, ("/home/ann/project",))), "digest")


@dataclass(slots=True)
class Listening:
    """A person, and what they have said."""

    person: Person
    answer: Answer = field(init=False)

    def decide(self, request: ConsentRequest) -> Answer:
        self.answer = self.person.decide(request)
        return self.answer

    def clarify(self, questions: Sequence[tuple[str, Sequence[str]]]) -> Sequence[str]:
        return self.person.clarify(questions)


class StandIn:
    """A ChatAgent without a model."""

    def __init__(self) -> None:
        self.yolo = False
        self.interrupt = Interrupt()
        self.name = "ops"
        self.model_label = "local:stand-in"
        self.session_id = "s-1"
        self.prompts: list[str] = []
        self.terminal = ChatTerminal(self.interrupt)
        self._context: int | None = None

    def emit(self, event: Event) -> None:
        self.terminal.display(event)

    def turn(self, prompt: str) -> TurnEnd:
        self.prompts.append(prompt)
        self._context = 1234
        self.emit(RequestSent(1))
        word = prompt.split()[0] if prompt.split() else ""
        action = getattr(self, f"do_{word}", None)
        try:
            return action(prompt) if action else self.say(f"You said: {prompt!r}")
        except KeyboardInterrupt:
            self.interrupt.stop.set()
            return TurnEnd("", ExitCode.INTERRUPTED, "Interrupted.")

    def say(self, text: str, pause: float = 0.0) -> TurnEnd:
        for start in range(0, len(text), 7):
            self.emit(TextShown(text[start : start + 7]))
            if pause:
                self.wait(pause)
        self.emit(ReplyEnded(Reply(text), text))
        return TurnEnd(text)

    def wait(self, duration: float) -> None:
        """As a model is waited for: a signal gets through."""
        with self.interrupt.waiting():
            time.sleep(duration)

    def call(self, number: int, name: str, summary: str) -> ToolCall:
        call = ToolCall(f"c{number}", name, '{"version": "1.4.2"}')
        self.emit(CallStarted(call, name, summary))
        return call

    def end(self, call: ToolCall, content: str, outcome: Outcome = Outcome.OK) -> None:
        self.emit(CallEnded(ToolResult(call, outcome, content, content, 0.4)))

    def do_markdown(self, prompt: str) -> TurnEnd:
        return self.say(ANSWER, float(os.environ.get("PAUSE", "0")))

    def do_lines(self, prompt: str) -> TurnEnd:
        text = "```\n" + "".join(f"line {number}\n" for number in range(1, 121)) + "```\n\nThe end."
        return self.say(text, 0.002)

    def do_hostile(self, prompt: str) -> TurnEnd:
        call = self.call(1, "evil\x1b[31m", HOSTILE)
        self.emit(CallProgress("c1", HOSTILE))
        self.end(call, HOSTILE)
        self.emit(Notice(HOSTILE))
        return self.say(HOSTILE + " &#x202e;entity")

    def do_slow(self, prompt: str) -> TurnEnd:
        self.emit(TextShown("Half an answer"))
        self.wait(60)
        return self.say("never")

    def do_work(self, prompt: str) -> TurnEnd:
        one, two = self.call(1, "release", "./release.sh 1.4.2 --channel=stable"), self.call(2, "status", "")
        self.emit(CallProgress("c1", "uploading\r 50 %\r100 %"))
        self.wait(float(os.environ.get("WORK", "0.3")))
        self.end(one, "".join(f"row {number}\n" for number in range(20000)))
        self.end(two, "exit code: 3\nno server", Outcome.FAILED)
        return self.say("Done.")

    def do_tool(self, prompt: str) -> TurnEnd:
        """A tool that ignores nothing: it ends when the stop event is set."""
        call = self.call(1, "sleep", "sleep 60")
        self.interrupt.stop.wait(60)
        self.end(call, "interrupted", Outcome.INTERRUPTED)
        return TurnEnd("", self.interrupt.exit_code, "Interrupted.")

    def do_gate(self, prompt: str) -> TurnEnd:
        """A tool that runs until there is a file `open` in the working directory."""
        call = self.call(1, "gate", "")
        self.emit(CallProgress("c1", "the gate is shut"))
        while not Path("open").exists() and not self.interrupt.stop.wait(0.02):
            pass
        self.end(call, "open")
        return self.say("Through.")

    def do_refused(self, prompt: str) -> TurnEnd:
        raise PermissionError(13, "Permission denied", "/some/file")

    def do_ask(self, prompt: str) -> TurnEnd:
        rest = prompt.split()[1:]
        what = plan("./release.sh", *rest, text="a\n" * 30)
        person = Listening(self.terminal.person)
        consent = Consent(Permissions(ask=frozenset({"release"})), False, person, self.interrupt)
        with suppress(NotApprovedError, EditedError):
            consent.approve("1", tool(), {"version": "1.4.2"}, what)
        answer = person.answer
        return self.say(f"decision={answer.decision.name} reason={answer.reason!r} arguments={answer.arguments!r}")

    def do_late(self, prompt: str) -> TurnEnd:
        self.emit(TextShown("working"))
        self.wait(0.4)
        return self.do_ask(prompt)

    def do_askevil(self, prompt: str) -> TurnEnd:
        request = ConsentRequest(tool("re\x1b[2Jlease"), {}, plan("./x", HOSTILE, " " * 300 + "rm -rf", ""), HOSTILE)
        return self.say(f"decision={self.terminal.person.decide(request).decision.name}")

    def do_long(self, prompt: str) -> TurnEnd:
        text = "".join(f"echo step {number}\n" for number in range(1, 101))
        request = ConsentRequest(tool("bash"), {}, Plan(None, (Shown("bash", Look.TEXT, (text,)),), "d"))
        return self.say(f"decision={self.terminal.person.decide(request).decision.name}")

    def do_held(self, prompt: str) -> TurnEnd:
        self.emit(TextHeld())
        self.wait(1.3)
        return self.say("It was none.")

    def do_lateclarify(self, prompt: str) -> TurnEnd:
        self.emit(TextShown("working"))
        self.wait(0.4)
        return self.do_clarify(prompt)

    def do_clarify(self, prompt: str) -> TurnEnd:
        answers = self.terminal.person.clarify([("Which channel?", ["stable", "beta"]), ("Which version?", [])])
        return self.say(f"answers={list(answers)}")

    def do_think(self, prompt: str) -> TurnEnd:
        self.emit(ReasoningShown("Let me see.\nBoats float."))
        self.wait(0.3)
        return self.say("They float.")

    def do_crash(self, prompt: str) -> TurnEnd:
        raise ZeroDivisionError("a bug in mm")

    def do_final(self, prompt: str) -> TurnEnd:
        self.end(self.call(1, "status", ""), "all is well")
        return TurnEnd("all is well")

    def do_loop(self, prompt: str) -> TurnEnd:
        return TurnEnd("", ExitCode.STOPPED, "The model went in circles.", "Say it in other words.")

    def tools(self) -> Sequence[Tool]:
        return [tool(), tool("status")]

    def usage(self) -> UsageFacts:
        return UsageFacts(5000, 321, self._context, 32768)

    def use_model(self, label: str) -> None:
        if ":" not in label:
            raise MMError(f"`{label}` is no model.", "Write provider:name.")
        self.model_label = label

    def permissions(self) -> Sequence[str]:
        return ["allow: status"]

    def servers(self) -> Sequence[str]:
        return []

    def skills(self) -> Sequence[tuple[str, str]]:
        return [("boats", "How to build boats.")]

    def plan(self) -> str:
        return ""

    def changed_file(self) -> str:
        return ""

    def undo(self) -> str | None:
        return self.prompts.pop() if self.prompts else None

    def clear(self) -> None:
        self.prompts.clear()
        self.session_id = "s-2"

    def compact(self) -> str:
        self.emit(Notice("this summary is kept in memory only"))
        return "Replaced 4 messages by a summary."

    def last_exchange(self) -> LastExchange | None:
        if os.environ.get("RESUMED"):
            return LastExchange("What about boats?", "They **float**.")
        return None

    def way_back(self) -> str:
        return f"mm -r {self.session_id}" if self.prompts else ""

    def models(self) -> Sequence[tuple[str, str]]:
        return [("local:stand-in", "its weights are here"), ("ollama:", "")]

    def sessions(self) -> Sequence[SessionLine]:
        return [
            SessionLine("s-1", "2026-11-30 10:00", "What about boats?", here=True),
            SessionLine("s-0", "2026-11-29 10:00", "What about trains?"),
        ]

    def resume(self, session_id: str) -> None:
        if session_id != "s-1":
            raise MMError(f"There is no session `{session_id}`.", "Run: mm sessions list")
        os.environ["RESUMED"] = "1"

    def export(self, file: Path | None) -> Path:
        return file or Path("session.md")


def main() -> int:
    """Chat with the stand-in until the person leaves."""
    agent = StandIn()
    return run_chat(agent, agent.terminal)


if __name__ == "__main__":
    sys.exit(main())
