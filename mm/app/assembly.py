"""The parts of one run, put together: configuration, model, tools, rules, history -> one agent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mm import folders
from mm.agent import Agent, Equipment
from mm.app.agent_file import changed_since_trusted
from mm.app.delegation import MOST_DEPTH, Delegation
from mm.app.offered import Offered
from mm.app.servers import LazyServers
from mm.app.sessions import Sessions
from mm.app.toolbox import Toolbox
from mm.asking import Beginning
from mm.config.near import did_you_mean
from mm.config.schema import BUILTIN_NAMES, Config
from mm.errors import UsageError
from mm.events import Listener, Notice
from mm.interrupt import Interrupt
from mm.messages import ToolCall, ToolResult
from mm.models import providers
from mm.models.model import Model
from mm.options import Options
from mm.prompt import system_text
from mm.session.history import History
from mm.session.window import Window
from mm.tools.builtin import BuiltinExecutor
from mm.tools.catalog import Catalog, declared
from mm.tools.environment import PROVIDER_KEYS, filter_environment
from mm.tools.places import Places, protected_by
from mm.tools.spec import Executor, Kind, Tool
from mm.tools.table import Table
from mm.visible import cut_long_values

if TYPE_CHECKING:
    from mm.dispatch.consent import Consent
    from mm.dispatch.dispatcher import Dispatcher
    from mm.dispatch.person import Person

CONTEXT_SHARE = 0.25  # of the model's context: what one output may take
CHARACTERS_PER_TOKEN = 3.5


class Assembly:
    """The parts of one run, each made when it is first needed, and shared by the agent and its sub-agents."""

    def __init__(
        self, config: Config, options: Options, *, interrupt: Interrupt, listen: Listener, person: Person | None
    ) -> None:
        self.config = _with_options(config, options)
        self.options = options
        self.interrupt = interrupt
        self.listen = listen
        self.person = person
        self.cwd = Path.cwd()
        self.environ = dict(os.environ)
        self.sessions = Sessions(self.config, options, self.cwd, self.warn)
        self._delegation = Delegation(self._sub_agent, lambda: self._outer.turns if self._outer else 0)
        self._outer: Agent | None = None
        self._consent: Consent | None = None
        _refuse_unknown([*options.allow, *options.deny], [*BUILTIN_NAMES, *(entry.name for entry in config.tools)])

    def agent(self) -> Agent:
        """The agent of this run, with the session that was asked for. Raises MMError for what the user can mend."""
        for warning in self.config.warnings:
            self.warn(warning)
        self._outer = self._agent(self.make_model(self.options.model), self.sessions.first())
        return self._outer

    def close(self) -> None:
        """Leave nothing behind, even where one part fails to end."""
        with ExitStack() as ending:
            for part in (self.sessions, self.toolbox, self.servers):  # the last one ends first
                ending.callback(part.close)

    def warn(self, text: str) -> None:
        """Tell whoever watches."""
        self.listen(Notice(cut_long_values(text)))

    def make_model(self, label: str | None) -> Model:
        """A model: `label` is `provider:model`, None for the one that the agent file or the environment names."""
        chosen = providers.resolve(self.config.model, override=label, environ=self.environ, folder=self.config.folder)
        return providers.create(chosen)

    # Tools

    @cached_property
    def toolbox(self) -> Toolbox:
        return Toolbox(
            self.config,
            self.cwd,
            places=lambda: self.places,
            environment=self.environment,
            person=self.person,
            search=self.sessions.search,
            warn=self.warn,
        )

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """What tools, hooks and MCP servers see of the environment."""
        secrets = self.config.secret_variables | PROVIDER_KEYS
        return filter_environment(self.environ, env_pass=self.config.env_pass, secret_variables=secrets)

    @cached_property
    def places(self) -> Places:
        return Places(self.cwd, (self.spill(), *self.config.skills), protected_by(self.config, self.cwd))

    def catalog(self, depth: int) -> Catalog:
        """Every tool of an agent at this depth: sub-agents have their own todo list and may not ask for ever."""
        builtins = self.toolbox.builtins(self._delegation.to(depth + 1))
        return Catalog(map(declared, self.config.tools), (builtin.tool() for builtin in builtins))

    def tools(self, depth: int) -> Sequence[Tool]:
        """The tools as they are now: those of MCP servers only if these were started."""
        catalog = self.catalog(depth)
        self.servers.refresh(catalog)
        return catalog.tools()

    @cached_property
    def servers(self) -> LazyServers:
        rules = self.config.permissions
        return LazyServers(
            self.config,
            self.cwd,
            environment=lambda: self.environment,
            interrupt=self.interrupt,
            warn=self.warn,
            rules=[*rules.deny, *rules.ask, *rules.allow, *self.options.allow, *self.options.deny],
        )

    def executors(self) -> Table:
        """Kind -> how it runs."""

        def command() -> Executor:
            from mm.tools.command import CommandExecutor

            return CommandExecutor(self.environment, self.cwd)

        def wasm() -> Executor:
            from mm.tools.wasm import WasmExecutor

            return WasmExecutor()

        return Table(
            {Kind.COMMAND: command, Kind.WASM: wasm, Kind.BUILTIN: BuiltinExecutor, Kind.MCP: self.servers.executor}
        )

    def spill(self) -> Path:
        """A private folder for long outputs."""
        return folders.private_folder(folders.cache_folder(), "spill")

    # The agent and its sub-agents

    def _sub_agent(self, depth: int) -> Agent:
        """An agent for one task. It asks the very model that the conversation goes on with now."""
        outer = self._outer
        assert outer is not None, "a task comes from an agent"
        agent = self._agent(outer.model, self.sessions.unkept(), depth=depth, outer=outer)
        agent.window.size = outer.window.size
        return agent

    def begin_another(self, agent: Agent, history: History) -> None:
        """Another session begins, or goes on, with the same agent: memory and skills are taken as they are now.

        Skills of a file that mm found by itself stay as they were if they are not those that were trusted.
        """
        changed = changed_since_trusted(self.config, self.options) if self.config.skills else ()
        if not changed:
            self.toolbox.forget_skills()
        elif any(part.startswith("its skills") for part in changed):
            self.warn(_OLD_SKILLS)
        agent.renew(history)

    def _agent(self, model: Model, history: History, *, depth: int = 0, outer: Agent | None = None) -> Agent:
        self.servers.start()
        settings = self.config.model
        window = Window(settings.context if settings else None, settings.max_tokens if settings else None)
        return Agent(
            model=model,
            history=history,
            equip=lambda history: self._equipment(history, depth, window, outer),
            window=window,
            interrupt=self.interrupt,
            listen=self.listen,
            max_rounds=self.config.max_rounds,
        )

    def _equipment(self, history: History, depth: int, window: Window, outer: Agent | None) -> Equipment:
        """What memory and skills say is a snapshot of the session's beginning, so that requests stay the same."""
        catalog = self.catalog(depth)
        system = system_text(
            self.config,
            self.cwd,
            has_tools=bool(catalog.tools()) or self.servers.wanted,
            skills=self.toolbox.skills_text(),
            memory=self.toolbox.memory_text(),
        )
        return Equipment(
            beginning=Beginning(system, Offered(catalog, self.servers.refresh)),
            tools=catalog.tools,
            make_dispatcher=lambda: self._dispatcher(history, catalog, lambda: window.size, outer),
        )

    def _dispatcher(
        self, history: History, catalog: Catalog, context: Callable[[], int | None], outer: Agent | None = None
    ) -> Dispatcher:
        from mm.dispatch.dispatcher import Dispatcher
        from mm.dispatch.hooks import Hooks

        return Dispatcher(
            tools=catalog.tools,
            executors=self.executors(),
            hooks=Hooks(
                self.config.hooks,
                session_id=history.session_id,
                cwd=self.cwd,
                environment=self.environment,
                stop=self.interrupt.stop,
            ),
            consent=self.consent(),
            journal=history,
            interrupt=self.interrupt,
            listen=self.listen,
            spill=self.spill,
            output_limit=lambda: _output_limit(self.config.output_limit, context()),
            outer_loops=outer.dispatcher.loops if outer else None,
        )

    def consent(self) -> Consent:
        """One set of rules, and of what the person has said, for the agent and all its sub-agents."""
        from mm.config.grants import Grants
        from mm.dispatch.consent import Consent

        if self._consent is None:
            self._consent = Consent(
                permissions=self.config.permissions,
                yolo=self.config.yolo,
                person=self.person,
                interrupt=self.interrupt,
                grants=Grants(self.config.file),
                allowed=frozenset(self.options.allow),
                denied=frozenset(self.options.deny),
                warn=self.warn,
            )
        return self._consent

    # One call without a model

    def run_one(self, call: ToolCall) -> ToolResult:
        """Answer one call as if a model had made it."""
        catalog = self.catalog_for(call)
        dispatcher = self._dispatcher(self.sessions.unkept(), catalog, lambda: None)
        return dispatcher.answer([call]).results[0]

    def catalog_for(self, call: ToolCall) -> Catalog:
        """The tools that one call may mean. MCP servers are started only if it is none of the agent file's own."""
        catalog = self.catalog(MOST_DEPTH)
        if all(tool.name != call.name for tool in catalog.tools()):
            self.servers.start()
        self.servers.refresh(catalog)
        return catalog


def _with_options(config: Config, options: Options) -> Config:
    return replace(
        config,
        yolo=config.yolo or options.yolo,
        max_rounds=options.max_rounds or config.max_rounds,
    )


def _refuse_unknown(named: Sequence[str], known: Iterable[str]) -> None:
    """A misspelt `--deny` must not mean that the tool runs."""
    names = set(known)
    for name in named:
        if name not in names and not name.startswith("mcp__"):
            tools = ", ".join(sorted(names)) or "none"
            hint = f"{did_you_mean(name, names)} The tools are: {tools}.".lstrip()
            raise UsageError(f"There is no tool `{name}` to allow or deny.", hint)


def _output_limit(characters: int, context: int | None) -> int:
    """Characters of one output that the model is given: less where its context is small."""
    if context is None:
        return characters
    return min(characters, max(2000, int(context * CONTEXT_SHARE * CHARACTERS_PER_TOKEN)))


_OLD_SKILLS = "The skills have changed since you trusted them: mm uses the old ones until it is started again."
