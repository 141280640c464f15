"""The built-in tools of a run and what they share: places, background commands, memory, skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mm.config.schema import Config
from mm.errors import MMError
from mm.tools.builtin import Builtin
from mm.tools.places import Places
from mm.tools.spec import Output, Run

if TYPE_CHECKING:
    from mm.dispatch.person import Person
    from mm.tools.background import Background
    from mm.tools.memory import Memory
    from mm.tools.skills import Skill

_FILES = frozenset({"read_file", "write_file", "edit_file", "list_files", "search_files"})


class Toolbox:
    """Makes the built-in tools that the agent file turns on. Only what is on is loaded."""

    def __init__(
        self,
        config: Config,
        cwd: Path,
        *,
        places: Callable[[], Places],
        environment: Mapping[str, str],
        person: Person | None,
        search: Callable[[str, int], str],
        warn: Callable[[str], None],
    ) -> None:
        self._config = config
        self._cwd = cwd
        self._places = places
        self._environment = environment
        self._person = person
        self._search = search
        self._warn = warn
        self._on = frozenset(config.builtins)

    def builtins(self, delegate: Callable[[str, Run], Output] | None) -> list[Builtin]:
        """Those that are on, in the order of the agent file. `delegate` is None where sub-agents end."""
        made = {builtin.name: builtin for builtin in [*self._working(), *self._talking(delegate)]}
        return [made[name] for name in self._config.builtins if name in made]

    def skills_text(self) -> str:
        """The catalogue for the system text."""
        if not self._config.skills:
            return ""
        from mm.tools.skills import catalogue

        return catalogue(self.skills)

    def forget_skills(self) -> None:
        """Read the skills anew when they are next needed."""
        self.__dict__.pop("skills", None)

    def memory_text(self) -> str:
        """What was remembered, as it is when the session starts."""
        if "memory" not in self._on:
            return ""
        try:
            return self._memory.snapshot()
        except MMError as error:
            self._warn(str(error))
            return ""

    @cached_property
    def skills(self) -> Sequence[Skill]:
        from mm.tools.skills import load_skills

        skills, warnings = load_skills(self._config.skills)
        for warning in warnings:
            self._warn(warning)
        return skills

    def close(self) -> None:
        """Leave nothing behind: background commands end with mm."""
        if "_background" in self.__dict__:
            self._background.close()

    @cached_property
    def _background(self) -> Background:
        from mm.tools.background import Background

        return Background()

    @cached_property
    def _memory(self) -> Memory:
        from mm.tools.memory import Memory, memory_file

        return Memory(memory_file(self._config.file))

    def _working(self) -> list[Builtin]:
        """The tools that act: files, shell, memory, skills."""
        made: list[Builtin] = []
        if self._on & _FILES:
            from mm.tools.builtins.files import file_tools

            made += file_tools(self._places(), self._config.output_limit)
        if "bash" in self._on:
            from mm.tools.builtins.shell import bash_tool, read_terminal_tool

            reads = "read_terminal" in self._on
            made.append(bash_tool(self._environment, self._cwd, self._background if reads else None))
            if reads:
                made.append(read_terminal_tool(self._background))
        if "memory" in self._on:
            from mm.tools.builtins.memory import memory_tools

            made += memory_tools(lambda: self._memory)
        if "read_skill" in self._on:
            from mm.tools.builtins.skills import skill_tools

            made += skill_tools(self.skills, self._config.output_limit)
        return made

    def _talking(self, delegate: Callable[[str, Run], Output] | None) -> list[Builtin]:
        """The tools that ask, plan, look back and hand over."""
        made: list[Builtin] = []
        if "clarify" in self._on:
            from mm.tools.builtins.clarify import clarify_tools

            made += clarify_tools(self._person.clarify if self._person else None)
        if "todo_list" in self._on:
            from mm.tools.builtins.todo import TodoState, todo_tools

            made += todo_tools(TodoState())
        if "session_search" in self._on:
            from mm.tools.builtins.sessions import session_tools

            made += session_tools(self._search)
        if "delegate_task" in self._on and delegate is not None:
            from mm.tools.builtins.delegate import delegate_tools

            made += delegate_tools(delegate)
        return made
