"""Every tool of this run, in one order, with no two of one name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mm.config.schema import BUILTIN_NAMES, ToolEntry, WasmTool
from mm.tools.spec import Kind, Tool


def declared(entry: ToolEntry) -> Tool:
    """The tool of one entry of `tools:`. A module that may write nothing counts as `readonly`."""
    wasm = isinstance(entry.run, WasmTool)
    writes = isinstance(entry.run, WasmTool) and any(grant.writable for grant in entry.run.grants)
    return Tool(
        name=entry.name,
        kind=Kind.WASM if wasm else Kind.COMMAND,
        description=entry.description,
        schema=entry.schema,
        spec=entry.run,
        readonly=entry.readonly or (wasm and not writes),
        repeat=entry.repeat,
        final=entry.final,
        drops_extras=entry.no_parameters,
        place=f"{entry.place.file}:{entry.place.line}",
    )


class Catalog:
    """The tools of a run: declared ones first, then built-in ones, then those of MCP servers."""

    def __init__(self, declared_tools: Iterable[Tool], builtins: Iterable[Tool]) -> None:
        self._own = [*declared_tools, *builtins]
        self._served: dict[str, list[Tool]] = {}
        taken = [tool.name for tool in self._own]
        assert len(taken) == len(set(taken)), "clashing names are refused when the agent file is loaded"

    def tools(self) -> Sequence[Tool]:
        """All tools, in an order that stays the same from request to request."""
        return [*self._own, *(tool for server in sorted(self._served) for tool in self._served[server])]

    def serve(self, server: str, tools: Iterable[Tool]) -> list[str]:
        """Take the tools of an MCP server, instead of those it had before. Gives warnings about clashing names."""
        self._served.pop(server, None)
        taken = {tool.name for tool in self.tools()} | set(BUILTIN_NAMES)
        kept: list[Tool] = []
        warnings: list[str] = []
        for tool in tools:
            if tool.name in taken:
                warnings.append(f"`{tool.name}` of the MCP server `{server}` is left out: another tool has that name.")
                continue
            taken.add(tool.name)
            kept.append(tool)
        self._served[server] = kept
        return warnings
