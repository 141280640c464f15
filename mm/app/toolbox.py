"""The built-in tools of a run and what they share: places, background commands, memory, skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mm.config.schema import Config
from mm.interrupt import Interrupt
from mm.tools.builtin import Builtin
from mm.tools.builtins.files import file_tools
from mm.tools.places import Places
from mm.tools.spec import Output, Run

if TYPE_CHECKING:
    from mm.dispatch.person import Person


class Toolbox:
    """Makes the built-in tools that the agent file turns on."""

    def __init__(
        self,
        config: Config,
        cwd: Path,
        places: Places,
        environment: Mapping[str, str],
        interrupt: Interrupt,
        person: Person | None,
        spill: Callable[[], Path],
    ) -> None:
        self._config = config
        self._cwd = cwd
        self._places = places
        self._environment = environment
        self._interrupt = interrupt
        self._person = person
        self._spill = spill

    def builtins(self, delegate: Callable[[str, Run], Output] | None) -> list[Builtin]:
        """Those that are on, in the order of the agent file. `delegate` is None where sub-agents end."""
        made = {builtin.name: builtin for builtin in self._make(delegate)}
        return [made[name] for name in self._config.builtins if name in made]

    def skills_text(self) -> str:
        return ""

    def memory_text(self) -> str:
        return ""

    def close(self) -> None:
        """Leave nothing behind: background commands end with mm."""

    def _make(self, delegate: Callable[[str, Run], Output] | None) -> Sequence[Builtin]:
        return file_tools(self._places)
