"""Step 2 of the journey: which tool does a call mean? A near name is suggested, never run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from mm.errors import ToolError
from mm.tools.spec import Tool


class Names:
    """The tools of one run by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._exact = {tool.name: tool for tool in tools}
        self._loose: dict[str, list[Tool]] = {}
        for tool in self._exact.values():
            self._loose.setdefault(_loosened(tool.name), []).append(tool)

    def find(self, name: str) -> Tool:
        """The tool of this name, or the one that equals it up to case, `-`, `_`, blank and a `functions.` prefix.

        Raises ToolError, which lists the offered names and the nearest one, for any other name.
        """
        found = self._find(name)
        if found is None:
            raise ToolError(self._unknown(name))
        return found

    def is_offered(self, name: str) -> bool:
        """Whether `find` would find it."""
        return self._find(name) is not None

    def _find(self, name: str) -> Tool | None:
        if name in self._exact:
            return self._exact[name]
        alike = self._loose.get(_loosened(name), [])
        return alike[0] if len(alike) == 1 else None

    def _unknown(self, name: str) -> str:
        shown = name[:100]
        if not self._exact:
            return f"There is no tool `{shown}`: no tools are offered. Answer in words."
        offered = ", ".join(sorted(self._exact))
        near = difflib.get_close_matches(_loosened(name), list(self._loose), n=1, cutoff=0.6)
        nearest = f" The nearest name is `{self._loose[near[0]][0].name}`." if near else ""
        said = f"There is no tool `{shown}`" if shown else "The call names no tool"
        return f"{said}; nothing was run. The tools are: {offered}.{nearest} Call one of these by its exact name."


def _loosened(name: str) -> str:
    name = name.strip().lower()
    if name.startswith("functions."):
        name = name.removeprefix("functions.")
    return name.replace("-", "_").replace(" ", "_")
