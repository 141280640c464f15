from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.load import load
from mm.config.problems import ConfigProblems
from mm.config.schema import Grant, ToolEntry, WasmTool
from tests.config.agent_files import HOME, read, tool, write, wrong, wrong_tool


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("notes", "notes/inner", "data", "modules/data", "skills", "with:colon"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "link").symlink_to("notes/inner")
    (tmp_path / "kernel").symlink_to("/sys")
    (tmp_path / "notes/out").symlink_to("../data")
    monkeypatch.setenv("MM_HOME", str(tmp_path / "own"))


def wasm(entry: ToolEntry) -> WasmTool:
    assert isinstance(entry.run, WasmTool)
    return entry.run


def test_a_module_starts_with_nothing(tmp_path: Path) -> None:
    entry = tool(tmp_path, "wasm: modules/x.wasm")
    assert wasm(entry) == WasmTool(tmp_path / "modules/x.wasm")
    assert entry.readonly


def test_grants_are_folders_beside_the_agent_file_under_a_name(tmp_path: Path) -> None:
    """(C85)"""
    (tmp_path / "h/out").mkdir(parents=True)
    text = 'wasm: x.wasm\nread: [notes/, "${D:-data}:docs"]\nwrite: [~/out]'
    entry = tool(tmp_path, text, {"HOME": str(tmp_path / "h")})
    assert wasm(entry).grants == (
        Grant(tmp_path / "notes", "notes", False),
        Grant(tmp_path / "data", "docs", False),
        Grant(tmp_path / "h/out", "out", True),
    )
    assert not entry.readonly


@pytest.mark.parametrize(
    ("grants", "message"),
    [
        ("read: [nope]", "`read`: there is no folder `nope`"),
        ("read: [my notes]", "Make it (`mkdir -p 'my notes'` in the folder of the agent file), or mend the path."),
        ("read: [~/my notes]", "Make it (`mkdir -p ~/'my notes'` in the folder of the agent file), or mend the path."),
        ("write: [file.txt]", "`write`: `file.txt` is a file, and a grant is a folder | Grant its folder: `.`."),
        ('read: ["notes:"]', "`notes:` gives the folder no name"),
        ('read: ["notes:.."]', "`notes:..` gives the folder no name"),
        ("read: [/]", "`/` has no name that a module could use | Name it: `/:files`."),
        ('read: [notes, "data:notes"]', "`data:notes` is mounted at `/notes`, as is `notes`"),
        ("read: [notes]\nwrite: [notes]", "Remove one of them: `write` includes reading."),
        ('read: [notes]\nwrite: ["data:notes"]', "`data:notes` is mounted at `/notes`, as is `notes` (line 4)"),
        ("read: [notes]\nwrite: [notes/inner]", "`write: notes/inner` and `read: notes` overlap"),
        ("read: [notes]\nwrite: [link]", "`write: link` and `read: notes` overlap"),
        ("read: [notes/inner]\nwrite: [notes]", "`write: notes` and `read: notes/inner` overlap"),
        ("write: [notes/inner, notes]", "`write: notes` and `write: notes/inner` overlap"),
        ("read: notes", "`read` must be a list, and this is text | Write `read: [notes]`."),
        ('read: ["a\\0b"]', "NUL"),
        ('write: [""]', "a folder of `write` is empty | Name one: `write: [notes]`"),
        ('read: ["${EMPTY:-}"]', "a folder of `read` is empty"),
        ("read: [/proc]", "`/proc` holds `/proc`, through which the whole machine can be reached"),
        ("write: [/dev/shm]", "`/dev/shm` holds `/dev`"),
        ("read: [kernel]", "`kernel` holds `/sys`"),
        ('read: ["/:all"]', "`/:all` holds `/proc`"),
    ],
)
def test_a_grant_that_cannot_be_meant_is_a_load_error(tmp_path: Path, grants: str, message: str) -> None:
    """(C85)"""
    found = wrong_tool(tmp_path, f"wasm: x.wasm\n{grants}")
    assert any(message in one for one in found), found


def test_folders_that_are_only_read_may_lie_in_each_other(tmp_path: Path) -> None:
    assert len(wasm(tool(tmp_path, "wasm: x.wasm\nread: [notes, notes/inner]")).grants) == 2


TWO = "tools:\n  - {{name: one, wasm: a.wasm, {0}}}\n  - {{name: two, wasm: a.wasm, {1}}}\n"


@pytest.mark.parametrize(
    ("writer", "other"),
    [
        ("write: [notes]", "read: [notes/inner]"),
        ("write: [notes]", "write: [notes/inner]"),
        ("write: [notes]", "read: [link]"),
        ("write: [notes]", "read: [notes/out]"),
        ("write: [notes]", "read: [notes/out/../data]"),
    ],
)
def test_a_folder_that_another_tool_could_replace_is_a_load_error(tmp_path: Path, writer: str, other: str) -> None:
    for line, text in ((3, TWO.format(writer, other)), (3, TWO.format(other, writer))):
        (found,) = wrong(tmp_path, text)
        assert found.startswith(f"{line}:")
        assert f"`{other.replace('[', '').replace(']', '')}` (line" in found
        assert "of another tool, which could put a link in its place | Grant both the same folder" in found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("write: [notes]", "read: [notes]"),
        ("write: [notes]", "write: [notes]"),
        ("write: [notes/inner]", "read: [link]"),
        ("write: [notes/inner]", "read: [notes]"),
        ("write: [notes]", "read: [data]"),
        ("read: [notes]", "read: [notes/inner]"),
    ],
)
def test_tools_may_share_a_folder_that_none_can_replace(tmp_path: Path, one: str, other: str) -> None:
    assert len(read(tmp_path, TWO.format(one, other)).tools) == 2
    assert len(read(tmp_path, TWO.format(other, one)).tools) == 2


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        (".", "contains the agent file"),
        ("modules", "contains the module of `it`"),
        ("modules/data", "lies in the folder of the module of `it`"),
        ("hooks", "contains the program of a hook"),
        ("hooks/data", "lies in the folder of the program of a hook"),
        ("scripts", "contains a file that a hook runs"),
        ("bin", "contains the program of `other`"),
        ("skills", "contains skills"),
        ("skills/one", "lies in the folder of skills"),
        ("own/data/x", "lies in the folder of a folder of mm's own"),
        ("python", "contains what `third` runs"),
    ],
)
def test_a_module_may_not_write_where_the_agent_keeps_what_it_trusts(tmp_path: Path, grant: str, message: str) -> None:
    (tmp_path / "agent.yaml").touch()
    for name in ("hooks", "scripts", "bin", "python"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text("")
    (tmp_path / grant).mkdir(parents=True, exist_ok=True)
    found = wrong(
        tmp_path,
        f"""\
        skills: [skills]
        hooks: {{preToolCall: [{{command: [hooks/x.py]}}, {{command: [python3, scripts/x.py]}}]}}
        tools:
          - {{name: it, wasm: modules/x.wasm, write: [{grant}]}}
          - {{name: other, command: [bin/x.py]}}
          - {{name: third, command: [python3, python/x.py]}}
        """,
    )
    assert len(found) == 1
    assert message in found[0]


STARTS = [
    ("hook", "[python3, data/guard.py]", "a file that a hook runs"),
    ("hook", "[sh, -c, 'python3 data/guard.py']", "a file that a hook runs"),
    ("hook", "[./check.sh, data/rules.txt]", "a file that a hook runs"),
    ("hook", "[./data/guard.py]", "the program of a hook"),
    ("hook", "[./link/guard.py]", "the program of a hook"),
    ("tool", "[python3, data/x.py]", "what `other` runs"),
    ("tool", "[python3, ./data/../data/x.py]", "what `other` runs"),
    ("tool", "[python3, data]", "what `other` runs"),
    ("tool", "[nice, python3, data/x.py]", "what `other` runs"),
    ("tool", "[unknown, data/x.py]", "what `other` may run"),
    ("tool", "[make, -f, data/x]", "what `other` runs"),
    ("tool", "[make, -fdata/x]", "what `other` runs"),
    ("tool", "[make, '--file=data/x']", "what `other` runs"),
    ("tool", "[awk, -f, data/x.awk]", "what `other` runs"),
    ("tool", "[sh, -c, 'cd data && ./x']", "what `other` runs"),
    ("tool", "[sh, -c, '. ./data/env; date']", "what `other` runs"),
    ("tool", "[python3, -c, \"exec(open('data/x.py').read())\"]", "what `other` runs"),
    ("tool", "[curl, '@data/x']", "what `other` may run"),
    ("tool", "[.venv/bin/python3, data/x.py]", "what `other` runs"),
    ("tool", "[find, ., -exec, data/x, ';']", "what `other` may run"),
    ("tool", "[rg, --pre, data/x]", "what `other` may run"),
    ("tool", "[data/x, --all]", "the program of `other`"),
    ("tool", "[python3, -m, x]\n    env: {PYTHONPATH: 'lib:data'}", "`PYTHONPATH` of `other`"),
    ("tool", "[make]\n    cwd: data", "the working folder of `other`"),
    ("tool", "[python3, x.py]\n    cwd: data", "what `other` runs"),
    ("server", "{command: python3, args: [data/x.py]}", "what the MCP server `s` may run"),
    ("server", "{command: ./data/x.py}", "the program of the MCP server `s`"),
    ("server", "{command: uvx, args: [--from, ./data, x]}", "what the MCP server `s` may run"),
    ("server", "{command: npx, args: [./data]}", "what the MCP server `s` may run"),
    ("server", "{command: npx, args: [-y, server, ./data/x.js]}", "what the MCP server `s` may run"),
    ("server", "{command: node, args: [server.js], cwd: data}", "what the MCP server `s` may run"),
]

DATA = [
    ("tool", "[wc, -l, data/notes.txt]"),
    ("tool", "[rg, -n, x, data]"),
    ("tool", "[find, data, -name, '*.md']"),
    ("tool", "[./count.sh, data/notes.txt]"),
    ("tool", "[./count.sh]\n    env: {NOTES: data}"),
    ("tool", "[python3, x.py, database/x, -d, other]"),
    ("server", "{command: npx, args: [-y, '@scope/server', ./data]}"),
    ("server", "{command: uvx, args: [server, --repository, ./data, --db, data/notes.db]}"),
    ("server", "{url: 'https://x.example/data/x.py'}"),
]


def _starting(kind: str, text: str) -> str:
    tools = "tools:\n  - {name: it, wasm: modules/x.wasm, write: [data]}\n"
    match kind:
        case "hook":
            return f"hooks:\n  preToolCall:\n  - command: {text}\n{tools}"
        case "server":
            return f"mcpServers:\n  s: {text}\n{tools}"
    return f"{tools}  - name: other\n    command: {text}\n"


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(("kind", "text", "what"), STARTS)
def test_a_module_may_not_write_what_mm_starts(tmp_path: Path, kind: str, text: str, what: str, there: bool) -> None:
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("data")
    for name in ("guard.py", "x.py", "x", "x.js", "x.awk", "env", "rules.txt") if there else ():
        (tmp_path / "data" / name).touch()
    (found,) = wrong(tmp_path, _starting(kind, text))
    assert f"`write: data` contains {what} | Grant a folder of its own for data" in found


@pytest.mark.parametrize(("kind", "text"), DATA)
def test_a_module_may_write_what_is_plainly_data(tmp_path: Path, kind: str, text: str) -> None:
    (tmp_path / "data/notes.txt").touch()
    assert read(tmp_path, _starting(kind, text)).tools


def test_a_module_may_not_write_where_another_name_of_a_program_lies(tmp_path: Path) -> None:
    (tmp_path / "modules/x.wasm").write_bytes(b"x")
    (tmp_path / "data/deep").mkdir()
    (tmp_path / "data/deep/y").hardlink_to(tmp_path / "modules/x.wasm")
    (found,) = wrong(tmp_path, "tools:\n  - {name: it, wasm: modules/x.wasm, write: [data]}\n")
    assert "`write: data` contains the module of `it`, under the name `deep/y` (a hard link)" in found
    (tmp_path / "data/deep/y").rename(tmp_path / "y")
    assert read(tmp_path, "tools:\n  - {name: it, wasm: modules/x.wasm, write: [data]}\n").tools


def test_a_module_may_not_write_where_the_way_to_a_program_leads_through(tmp_path: Path) -> None:
    (tmp_path / "x.sh").touch()
    (tmp_path / "data/run").symlink_to("../x.sh")
    (tmp_path / "run").symlink_to("data/run")
    (found,) = wrong(tmp_path, _starting("tool", "[./run]"))
    assert "`write: data` contains the program of `other`" in found


@pytest.mark.parametrize("name", ["data/AGENTS.md", "data/not-there-yet.md", "link.md"])
def test_a_module_may_not_write_what_the_model_is_told_next_time(tmp_path: Path, name: str) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data/AGENTS.md").write_text("Be kind.")
    (tmp_path / "link.md").symlink_to("data/AGENTS.md")
    entry = "  - {name: it, wasm: modules/x.wasm, write: [data]}"
    (found,) = wrong(tmp_path, f"instructions_files: [{name}]\ntools:\n{entry}\n")
    assert found.startswith(f"3:46: `write: data` contains `{Path(name).name}` of `instructions_files` | ")
    assert "keep programs and instructions elsewhere" in found


def test_a_module_may_not_write_where_the_way_to_the_agent_file_leads_through(tmp_path: Path) -> None:
    """It could put another agent file behind the name that is given with -a."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "data/link").symlink_to("../agents")
    write(tmp_path / "agents", "tools:\n  - {name: it, wasm: x.wasm, write: [../data]}\n")
    assert load(tmp_path / "agents/agent.yaml", environ=HOME).tools
    with pytest.raises(ConfigProblems, match="contains the agent file"):
        load(tmp_path / "data/link/agent.yaml", environ=HOME)


def test_a_module_may_write_beside_the_agent_file(tmp_path: Path) -> None:
    text = "tools:\n  - {name: a, wasm: a.wasm, write: [notes]}\n  - {name: b, command: [./b.sh]}\n"
    assert len(read(tmp_path, text).tools) == 2


@pytest.mark.parametrize(
    ("written", "size"),
    [("64MiB", 2**26), ("64 MB", 2**26), ("1g", 2**30), ("67108864", 2**26), ("0.5GiB", 2**29)],
)
def test_memory_is_written_as_people_write_it(tmp_path: Path, written: str, size: int) -> None:
    assert wasm(tool(tmp_path, f"wasm: x.wasm\nmemory: {written}")).memory == size


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90), ("2m", 120), ("1.5", 1.5), ("500ms", 0.5), ("1h", 3600), ("'5 s'", 5)]
)
def test_timeouts_are_written_as_people_write_them(tmp_path: Path, written: str, seconds: float) -> None:
    for kind in ("wasm: x.wasm", "command: [x]"):
        assert tool(tmp_path, f"{kind}\ntimeout: {written}").run.timeout == seconds


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("timeout: 1:30", "`timeout: 1:30` is no time"),
        ("timeout: 0", "must be between"),
        ("timeout: 600000", "must be between"),
        ("timeout: -5s", "is no time"),
        ("timeout: true", "is no time"),
        ("timeout: [1]", "is no time"),
        ("memory: 64", "a number without a unit is counted in bytes"),
        ("memory: 64TiB", "is no size"),
        ("memory: 8GiB", "must be between"),
        ("env: {A: b}", "`env` belongs to a tool with `command`"),
        ("stdin: json", "`stdin` belongs to a tool with `command`"),
        ("command: [x]", "has both `command` and `wasm`"),
        ("readonly: true\nwrite: [notes]", "`it` may write, so it is not `readonly`"),
        ("final: yes", "`final` must be `true` or `false`"),
    ],
)
def test_amounts_and_keys_that_do_not_fit_are_load_errors(tmp_path: Path, entry: str, message: str) -> None:
    found = wrong_tool(tmp_path, f"wasm: x.wasm\n{entry}", HOME)
    assert any(message in one for one in found), found


def test_wasm_keys_do_not_belong_to_a_command(tmp_path: Path) -> None:
    assert "`read` belongs to a tool with `wasm`" in wrong_tool(tmp_path, "command: [x]\nread: [notes]")[0]


def test_an_entry_needs_something_to_run(tmp_path: Path) -> None:
    assert "has neither `command` nor `wasm`" in wrong_tool(tmp_path, "description: x")[0]
