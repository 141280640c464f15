"""How the parts may depend on each other, held by reading every import of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "mm"
LAYERS = (
    {"errors", "visible", "folders", "interrupt", "workers", "counts"},
    {"messages", "events", "options"},
    {"schemas"},
    {"config"},
    {"tools", "models", "prompt"},
    {"dispatch"},
    {"session", "turn", "asking", "agent"},
    {"terminal"},
    {"app"},
    {"cli"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
HEAVY = {"httpx", "wasmtime", "prompt_toolkit", "mcp", "xllamacpp", "rich"}
MODULES = sorted(ROOT.rglob("*.py"))


def part(name: str) -> str:
    """The part of mm that a dotted module name belongs to."""
    return name.split(".")[1] if name.startswith("mm.") else ""


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "mm":
                yield from ((f"mm.{alias.name}", node) for alias in node.names if alias.name[0] != "_")
            else:
                yield node.module, node


def checked_only(tree: ast.Module) -> set[ast.AST]:
    """The imports that stand under `if TYPE_CHECKING`: they cost nothing at run time but are dependencies still."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            found.update(ast.walk(node))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    if own.startswith("__"):
        return
    for name, node in imports(ast.parse(path.read_text(encoding="utf-8"))):
        other = part(name)
        if not other:
            continue
        assert other in LEVEL, f"{name} belongs to no layer"
        where = f"{path}:{getattr(node, 'lineno', 0)} imports {name}"
        assert LEVEL[other] <= LEVEL[own], f"{where}: upwards"
        assert {own, other} != {"tools", "models"}, f"{where}: tools and models do not know each other"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_assembly_and_the_command_line_import_inside_functions(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    if own in ("app", "cli"):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
            assert not inside, f"{path}:{inside[0].lineno}: an import inside `{function.name}`"


def test_no_import_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        name = ".".join(("mm", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = checked_only(tree)
        graph[name] = {target for target, node in imports(tree) if target.startswith("mm.") and node not in skipped}
    known = set(graph)
    state: dict[str, int] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert state.get(name) != 1, f"a cycle: {' -> '.join([*trail, name])}"
        if state.get(name) == 2:
            return
        state[name] = 1
        for target in graph[name] & known:
            visit(target, (*trail, name))
        state[name] = 2

    for name in graph:
        visit(name, ())


def test_only_consent_makes_an_approved_call() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ApprovedCall":
                assert path == ROOT / "dispatch" / "consent.py", f"{path}:{node.lineno} approves a call"


RUN_WITH_TWO = {
    ("dispatch/schedule.py", "executor.run"),
    ("tools/builtin.py", "_builtin(call.tool).run"),  # the inside of an executor
    ("terminal/commands/table.py", "command.run"),  # a slash command
}


def test_only_the_runner_runs_an_executor() -> None:
    """One way to run a call: of all that is called `run` and takes two values, as executors do, one is an executor's.

    Whatever the executor is called there.
    """
    found = {
        (str(path.relative_to(ROOT)), ast.unparse(node.func))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run"
        if len(node.args) + len(node.keywords) == 2 and ast.unparse(node.func) != "subprocess.run"
    }
    assert found == RUN_WITH_TWO


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300, "a file of more than 300 lines holds more than one idea"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= 45, f"`{node.name}` has {size} lines"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
