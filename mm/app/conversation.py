"""The agent as the chat leads it: turns, and everything the slash commands do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from mm.agent import Agent
from mm.app.assembly import Assembly
from mm.app.past import last_exchange, left_elsewhere
from mm.app.todos import todo_list_of
from mm.errors import MMError
from mm.models.providers import PROVIDERS
from mm.models.weights import present
from mm.session.compact import compact
from mm.session.export import day_and_time, to_json, to_markdown
from mm.terminal.chat_agent import LastExchange, SessionLine, UsageFacts
from mm.tools.spec import Tool
from mm.turn import TurnEnd
from mm.visible import make_shell_word


class Conversation:
    """One chat with one agent. Whatever cannot be done raises MMError. Inside `showing`, notices are seen at once."""

    def __init__(
        self, assembly: Assembly, agent: Agent, showing: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._assembly = assembly
        self._agent = agent
        self._showing = showing
        self.interrupt = assembly.interrupt
        self._file_digest = assembly.config.digest

    @property
    def yolo(self) -> bool:
        return self._assembly.consent().yolo

    @yolo.setter
    def yolo(self, on: bool) -> None:
        self._assembly.consent().yolo = on

    @property
    def name(self) -> str:
        return self._assembly.config.name

    @property
    def model_label(self) -> str:
        return self._agent.model.label

    @property
    def session_id(self) -> str:
        return self._agent.history.session_id

    def turn(self, prompt: str) -> TurnEnd:
        return self._agent.turn(prompt)

    def tools(self) -> Sequence[Tool]:
        return self._assembly.tools(0)

    def usage(self) -> UsageFacts:
        total = self._agent.history.usage
        return UsageFacts(
            total.prompt_tokens,
            total.completion_tokens,
            self._agent.last_usage.prompt_tokens,
            self._agent.window.size,
        )

    def use_model(self, label: str) -> None:
        """Go on with another model. The old one stays if the new one cannot be had, or Ctrl-C is pressed meanwhile."""
        with self._showing():
            self._agent.use_model(self._assembly.make_model(label))

    def permissions(self) -> Sequence[str]:
        return self._assembly.consent().rules()

    def servers(self) -> Sequence[str]:
        lines = self._assembly.servers.lines()
        return [
            f"{line.name} ({line.where}): {line.state.partition(chr(10))[0].rstrip(':')}; tools: {len(line.tools)}"
            for line in lines
        ]

    def skills(self) -> Sequence[tuple[str, str]]:
        return [(skill.name, skill.description) for skill in self._assembly.toolbox.skills]

    def plan(self) -> str:
        """The model's todo list, as its last call in this conversation set it."""
        return todo_list_of(self._agent.history.records)

    def undo(self) -> str | None:
        with self._showing():
            return self._agent.take_back()

    def clear(self) -> None:
        with self._showing():
            self._assembly.begin_another(self._agent, self._assembly.sessions.new())

    def compact(self) -> str:
        """The model is asked for the summary, which takes its time: that is shown, and Ctrl-C ends it."""
        with self._showing():
            done = compact(self._agent.history, self._agent.summarize)
        self._agent.window.forget()
        return done

    def last_exchange(self) -> LastExchange | None:
        """The last thing a person said, the calls that came of it, and the last answer to it."""
        session = self._agent.history.session
        here = (str(self._assembly.cwd), str(self._assembly.config.file or ""))
        return last_exchange(self._agent.history.records, left_elsewhere(session, *here))

    def way_back(self) -> str:
        """`mm -r ID`, with the agent file that was named on the command line."""
        options = self._assembly.options
        if options.no_session or not any(record.begins_turn for record in self._agent.history.records):
            return ""
        named = ("-a", options.agent_file) if options.agent_file else ()
        return " ".join(make_shell_word(word) for word in ("mm", *named, "-r", self.session_id))

    def changed_file(self) -> str:
        """The agent file, if it has changed since this was last asked; "" if not, or if it cannot be read now."""
        file = self._assembly.config.file
        if file is None:
            return ""
        with suppress(OSError):
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            if digest != self._file_digest:
                self._file_digest = digest
                return file.name
        return ""

    def models(self) -> Sequence[tuple[str, str]]:
        """The one of the agent file, those whose weights are here, and the providers."""
        own = self._assembly.config.model
        found = {str(own): "the agent file's"} if own else {}
        found |= {f"local:{name}": "its weights are here" for name in present()}
        found |= {f"{provider}:": "" for provider in PROVIDERS if provider not in ("local", "scripted")}
        return list(found.items())

    def sessions(self) -> Sequence[SessionLine]:
        found = self._assembly.sessions.store().sessions(
            cwd=str(self._assembly.cwd), agent=str(self._assembly.config.file or ""), limit=50
        )
        return [
            SessionLine(
                session.id,
                day_and_time(session.updated),
                session.title,
                session.id == self.session_id,
            )
            for session in found
        ]

    def resume(self, session_id: str) -> None:
        with self._showing():
            self._assembly.begin_another(self._agent, self._assembly.sessions.named(session_id))

    def export(self, file: Path | None) -> Path:
        """All of the session, also what is not in the store or what a compaction left out of the requests."""
        history = self._agent.history
        target = file or Path(f"{history.session_id}.md")
        write = to_json if target.suffix == ".json" else to_markdown
        records = history.all_records
        try:
            with target.open("x", encoding="utf-8") as out:
                out.write(write(replace(history.session, size=len(records)), records))
        except FileExistsError:
            raise MMError(f"`{target}` is there already.", "Name another file: /export FILE") from None
        except OSError as error:
            raise MMError(f"`{target}` cannot be written: {error.strerror}.", "Name another file.") from error
        return target
