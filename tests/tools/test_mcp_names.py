"""Names of MCP tools are legal, short and never mean two tools."""

from __future__ import annotations

import re

import pytest

from mm.tools.mcp_names import server_prefixes, tool_names

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_a_legal_name_is_kept() -> None:
    assert server_prefixes(["files"]) == {"files": "mcp__files__"}
    assert tool_names("mcp__files__", ["read_file", "read-file"]) == {
        "read_file": "mcp__files__read_file",
        "read-file": "mcp__files__read-file",
    }


@pytest.mark.parametrize(
    "names",
    [
        ["read.file", "read_file", "read-file", "read file", "READ.FILE"],
        ["x" * 70 + end for end in "abc"],
        ["工具", "天气", "__", ""],
        ["a" * 64, "a" * 51, "a" * 50 + "_"],
    ],
    ids=["characters", "length", "no letters", "about the limit"],
)
def test_names_that_must_be_changed_stay_distinct(names: list[str]) -> None:
    """(C36) Never last-wins: each tool of a server has a name of its own, and the way back is known."""
    made = tool_names("mcp__s__", names)
    assert list(made) == names
    assert len(set(made.values())) == len(names)
    assert all(LEGAL.fullmatch(name) for name in made.values())


def test_a_name_does_not_depend_on_the_order_of_the_list() -> None:
    names = ["read.file", "read_file", "b c"]
    assert tool_names("mcp__s__", names) == tool_names("mcp__s__", names[::-1])


def test_a_rule_about_a_legal_name_never_comes_to_mean_another_tool() -> None:
    alone = tool_names("mcp__s__", ["delete_all"])
    beside = tool_names("mcp__s__", ["delete.all", "delete_all"])
    assert beside["delete_all"] == alone["delete_all"]


def test_servers_that_look_alike_have_prefixes_of_their_own() -> None:
    prefixes = server_prefixes(["a b", "a_b", "a.b", "s" * 64, "s" * 63])
    assert len(set(prefixes.values())) == 5
    assert all(len(prefix) <= 35 and LEGAL.fullmatch(prefix) for prefix in prefixes.values())
