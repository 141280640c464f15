"""The five tools for files, as one set."""

from __future__ import annotations

from mm.tools.builtin import Builtin
from mm.tools.builtins.edit import edit_file_tool
from mm.tools.builtins.listing import list_files_tool
from mm.tools.builtins.read import read_file_tool
from mm.tools.builtins.search import search_files_tool
from mm.tools.builtins.write import write_file_tool
from mm.tools.places import Places


def file_tools(places: Places, size: int = 30_000) -> list[Builtin]:
    """`size` is the most characters that one reply gives, so that it need not be cut in the middle afterwards."""
    return [
        read_file_tool(places, size),
        write_file_tool(places),
        edit_file_tool(places),
        list_files_tool(places),
        search_files_tool(places, size),
    ]
