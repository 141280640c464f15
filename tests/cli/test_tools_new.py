"""`mm tools new`: one more tool, everything else byte for byte, and modules that build, run and pass their own test."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mm.cli.main import run
from mm.cli.scaffold import LANGUAGES, TEMPLATES
from mm.config.load import load
from mm.config.schema import CommandTool
from mm.config.trust import is_trusted
from tests.cli.running import MM, Place

Output = pytest.CaptureFixture[str]
SOUND = "name: ops  # mine\ntools:\n  - name: first\n    command: [ls]  # all of it\n\n# the end\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    here = tmp_path / "ops"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def write(folder: Path, text: str) -> Path:
    path = folder / "agent.yaml"
    path.write_bytes(text.encode())
    return path


def kept(before: str, after: str) -> bool:
    """Whether `after` is `before` with something put in at one place."""
    places = range(len(before) + 1)
    return len(after) > len(before) and any(
        after.startswith(before[:place]) and after.endswith(before[place:]) for place in places
    )


def test_a_program_becomes_a_tool_with_its_placeholders_as_parameters(folder: Path, capsys: Output) -> None:
    path = write(folder, SOUND)
    assert run(["tools", "new", "log", "--command", "git", "log", "-n{{count}}", "--", "{{file}}"]) == 0
    text = path.read_text()
    assert kept(SOUND, text)
    assert text.endswith("\n# the end\n")
    entry = load(path, environ={}).tools[1]
    assert list(entry.schema.document["properties"]) == ["count", "file"]
    out = capsys.readouterr().out
    assert "Added `log`: agent.yaml:6" in out
    assert "warning: `log`: the description is empty" in out
    assert "mm tools run log count=… file=…" in out


@pytest.mark.parametrize("tools", ["", "tools: [{name: a, description: Say what it is., command: [ls]}]\n"])
def test_a_description_that_was_not_given_is_asked_for_where_it_stands(
    folder: Path, tools: str, capsys: Output
) -> None:
    path = write(folder, f"name: x\n{tools}")
    assert run(["tools", "new", "hello", "--command", "echo", "hello"]) == 0
    assert "next time: -d TEXT" in capsys.readouterr().out
    assert run(["tools", "check"]) == 0
    first, hint, _ = capsys.readouterr().out.splitlines()
    line, column = map(int, first.split(":")[1:3])
    assert path.read_text().splitlines()[line - 1][column - 1 :].startswith('""')
    assert "`hello`: the description is empty" in first
    assert hint == '  Write `description: "…"`: one sentence, what it does and when to use it.'
    path.write_text(path.read_text().replace('description: ""', 'description: "Say hello to all."'))
    assert run(["tools", "check"]) == 0
    assert "no problems" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("behind", "named"),
    [
        (["{{x}}", "--param", "x=A word"], "`--param`"),
        (["{{x}}", "--param=x=A word", "--description", "Say a word."], "`--param`, `--description`"),
        (["-d", "Say a word."], "`-d`"),
        (["-a", "agent.yaml"], "`-a`"),
    ],
)
def test_options_behind_the_command_are_said_to_be_a_part_of_it(
    folder: Path, behind: list[str], named: str, capsys: Output
) -> None:
    path = write(folder, "name: x\n")
    assert run(["tools", "new", "say", "--command", "echo", *behind]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"warning: {named}, behind --command, became a part of the command."
    assert second.startswith("  Options of `mm tools new` stand before --command.")
    assert len(to_run(path).arguments) == len(behind)


@pytest.mark.parametrize("behind", [["-a", "{{x}}"], ["-d", "1"], ["--all", "-a"], ["--params=1"]])
def test_options_of_the_program_itself_are_no_cause_for_a_warning(
    folder: Path, behind: list[str], capsys: Output
) -> None:
    path = write(folder, "name: x\n")
    assert run(["tools", "new", "say", "--param", "y=A word", "--command", "ls", "{{y}}", *behind]) == 0
    assert capsys.readouterr().err == ""
    assert len(to_run(path).arguments) == len(behind) + 1


def to_run(path: Path) -> CommandTool:
    """What the last tool of a file runs."""
    tool = load(path, environ={}).tools[-1].run
    assert isinstance(tool, CommandTool)
    return tool


def test_what_is_described_leaves_nothing_to_mend(folder: Path, capsys: Output) -> None:
    path = write(folder, "tools: []\n")
    line = ["tools", "new", "log", "-d", "Show the latest changes: who, when.", "--param"]
    assert run([*line, "count:integer=Number of changes", "--command", "git", "log", "-n{{count}}"]) == 0
    assert "warning" not in capsys.readouterr().out
    (entry,) = load(path, environ={}).tools
    assert entry.description == "Show the latest changes: who, when."
    assert entry.schema.document["properties"]["count"] == {"type": "integer", "description": "Number of changes"}
    assert run(["tools", "check"]) == 0
    assert capsys.readouterr().out == "1 tool, no problems\n"


def test_a_parameter_may_be_optional_or_one_of_some_values(folder: Path) -> None:
    path = write(folder, "name: x\n")
    described = ["--param", "to?: stable | beta=Where to", "--param", "n?:integer=How many", "--param", "why?=Reason"]
    assert run(["tools", "new", "go", *described, "--command", "echo", "--to={{to}}", "-n{{n}}", "-w{{why}}"]) == 0
    document = load(path, environ={}).tools[0].schema.document
    assert document["properties"] == {
        "to": {"type": "string", "enum": ["stable", "beta"], "description": "Where to"},
        "n": {"type": "integer", "description": "How many"},
        "why": {"type": "string", "description": "Reason"},
    }
    assert document.get("required", []) == []


@pytest.mark.parametrize("trusted", [True, False])
def test_the_lines_that_are_printed_next_run_as_they_stand(place: Place, trusted: bool) -> None:
    place.write("agent.yaml", "name: x\n")
    if trusted:
        assert place.mm("trust").code == 0
    described = [
        "version=Version number, such as 1.4.2.",
        "city=A town, such as New York, or a village",
        "days:integer=How many, such as 30",
        "least:number=At least so much",
        "all:boolean=Whether all",
        "to:stable|beta=Where to",
        "note?=A remark",
        "rest:object=Anything else",
        "names:array=Names",
    ]
    options = [word for text in described for word in ("--param", text)]
    slots = [f"{{{{{name}}}}}" for name in ("version", "city", "days", "least", "all", "to", "rest", "word", "names")]
    made = place.mm("tools", "new", "say", *options, "--command", "echo", "note: {{note}}", *slots)
    *before, line = [one.strip() for one in made.out.partition("Next:")[2].strip().splitlines()]
    assert before == ([] if trusted else ["mm trust"])
    environment = _environment(place)
    for one in (*before, f"{line} --allow say"):
        ran = _shell(one, place, environment)
        assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("1.4.2 New York 30 1 true stable {} … …\n")


def test_the_line_to_type_names_the_file_that_was_named(folder: Path, capsys: Output) -> None:
    write(folder, "name: x\n")
    assert run(["-a", "agent.yaml", "tools", "new", "ls", "--command", "ls"]) == 0
    assert "  mm tools run ls -a agent.yaml\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "name: x\n",
        "name: x",
        "name: x\ntools:\n",
        "tools: ~\nname: x\n",
        "tools: []  # none yet\nname: x\n",
        "tools: [{name: first, command: [ls]}]  # flow\nname: x\n",
        "tools: [\n  {name: first, command: [ls]},  # one\n]\n",
        "tools:\n- name: first\n  command: [ls]\nname: x\n",
        "tools:\n      - name: first\n        command:\n        - ls\n        # the end of it\nname: x\n",
        "tools:\n  - name: first\n    command:\n      - ls\n      - |\n        # text\n        x\n\n# tail\nname: x\n",
        "tools:\n  - name: first\n    command: [ls]\n    description: |+\n      kept\n\n\n# tail\n",
        "tools:\r\n  - name: first\r\n    command: [ls]\r\nname: x\r\n",
        "\ufefftools:\n  - {name: first, command: [ls]}\n  - {name: second, command: [ls]}\n",
        "  name: x\n  tools:\n  - name: first\n    command: [ls]",
        "tools:\n  - name: first\n    command: [ls]\n    description: several\n      lines\n...\n",
        "name: 'tools:'\ninstructions: |\n  tools: []\ntools: &t\n",
    ],
)
def test_every_way_to_write_tools_is_added_to_and_the_rest_stays(folder: Path, text: str, capsys: Output) -> None:
    path = write(folder, text)
    before = [entry.name for entry in load(path, environ={}).tools]
    code = run(["tools", "new", "more", "--command", "echo", "{{what}}"])
    after = path.read_bytes().decode()
    if code:
        assert after == text
        assert "Add this by hand:" in capsys.readouterr().err
        assert text.endswith("&t\n"), "only what is anchored may be left to the author"
        return
    assert [entry.name for entry in load(path, environ={}).tools] == [*before, "more"]
    if "tools: []" not in text and "~" not in text:
        assert kept(text, after)
    assert after.count("\r\n") in (0, after.count("\n"))


@pytest.mark.parametrize("text", ["{name: x}\n", "a: 1\n", "tools: [\n  # none yet\n]\n", "tools:\n  - *x\n"])
def test_what_cannot_be_added_to_stays_and_it_is_said_what_to_add(folder: Path, text: str, capsys: Output) -> None:
    path = write(folder, text)
    assert run(["tools", "new", "more", "--command", "ls"]) == 2
    assert path.read_text() == text
    error = capsys.readouterr().err
    assert "Add this by hand:" in error or "Mend these first" in error


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["bash", "--command", "ls"], "Write `my_bash`."),
        (["web_search", "--command", "ls"], "planned"),
        (["two words", "--command", "ls"], "Write `two_words`."),
        (["first", "--command", "ls"], "There is a tool `first` already, in line 3."),
        (["x"], "one of --command and --wasm"),
        (["x", "--wasm", "go", "--command", "ls"], "one of --command and --wasm"),
        (["x", "--command"], "names no program"),
        (["x", "--command", "git log {{n}}"], "each argument is a word of its own"),
        (["x", "--command", "{{program}}"], "the program may not hold a placeholder"),
        (["x", "--command", "docker", "{{.Names}}"], "double its opening braces"),
        (["x", "--param", "b=Text", "--command", "ls", "{{a}}"], "The placeholders are: `a`."),
        (["x", "--param", "a:int=Text", "--command", "ls", "{{a}}"], "The types are: string"),
        (["x", "--param", "a", "--command", "ls", "{{a}}"], "is no NAME[?][:TYPE]=TEXT"),
        (["x", "--param", "?=Text", "--command", "ls", "{{a}}"], "is no NAME[?][:TYPE]=TEXT"),
        (["x", "--param", "a:integer|string=Text", "--command", "ls", "{{a}}"], "`integer|string` is no type"),
        (["x", "--param", "a:b||=Text", "--command", "ls", "{{a}}"], "`b||` is no type"),
        (["x", "./x", "{{y}}", "-n"], "Write: mm tools new x --command ./x '{{y}}' -n"),
        (["x", "--parm", "a=b", "./x"], "No such option '--parm'"),
        (["x", "--param", "a=Text", "--wasm", "c"], "--param belongs to --command"),
        (["x", "--wasm", "java"], "'go', 'c', 'rust', 'zig'"),
        (["taken", "--wasm", "c"], "taken` is there already"),
        (["x", "-a", "nope.yaml", "--command", "ls"], "mm init"),
    ],
)
def test_a_wrong_line_changes_nothing_and_says_what_to_type(
    folder: Path, line: list[str], says: str, capsys: Output
) -> None:
    path = write(folder, SOUND)
    (folder / "taken").mkdir()
    assert run(["tools", "new", *line]) == 2
    assert says in capsys.readouterr().err
    assert path.read_text() == SOUND
    assert sorted(one.name for one in folder.iterdir()) == ["agent.yaml", "taken"]


def test_a_broken_file_is_mended_first(folder: Path, capsys: Output) -> None:
    path = write(folder, "nmae: x\n")
    assert run(["tools", "new", "x", "--command", "ls"]) == 2
    error = capsys.readouterr().err
    assert "Did you mean `name`?" in error
    assert "Nothing was changed." in error
    assert path.read_text() == "nmae: x\n"


def test_a_program_that_is_not_there_yet_is_written_down_and_said_to_be_missing(folder: Path, capsys: Output) -> None:
    write(folder, "name: x\n")
    assert run(["tools", "new", "go", "-d", "Go.", "--command", "./missing.sh"]) == 0
    added, *lines = capsys.readouterr().out.splitlines()
    assert added == "Added `go`: agent.yaml:4. The entry is written, but it cannot run yet:"
    assert f"  error: `go`: there is no program `{folder}/missing.sh`" in lines
    assert not any("next time" in line for line in lines)
    assert lines[-3:] == ["Next, once that is mended:", "  mm trust", "  mm tools run go"]


@pytest.mark.parametrize("line", [["--command", "ls"], ["--wasm", "c"]])
def test_a_read_only_folder_is_said_with_what_to_add_by_hand(folder: Path, line: list[str], capsys: Output) -> None:
    path = write(folder, SOUND)
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write anywhere")
    assert run(["tools", "new", "x", *line]) == 2
    error = capsys.readouterr().err
    assert "Nothing was changed." in error
    assert "- name: x" in error
    assert path.read_text() == SOUND


def test_a_script_is_named_as_the_agent_file_has_to_name_it(folder: Path) -> None:
    path = write(folder, "name: x\n")
    (folder / "sub").mkdir()
    (folder / "sub/go.sh").write_text("#!/bin/sh\n")
    os.chdir(folder / "sub")
    assert run(["tools", "new", "x", "--command", "./go.sh"]) == 0
    (entry,) = load(path, environ={}).tools
    assert isinstance(entry.run, CommandTool)
    assert Path(entry.run.program) == folder / "sub/go.sh"


def test_the_mode_of_the_file_and_a_link_to_it_stay(folder: Path) -> None:
    target = folder / "real.yaml"
    target.write_text("name: x\n")
    target.chmod(0o640)
    (folder / "agent.yaml").symlink_to("real.yaml")
    assert run(["tools", "new", "x", "--command", "ls"]) == 0
    assert (folder / "agent.yaml").is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert "- name: x" in target.read_text()


def test_what_lies_beside_a_link_is_what_a_linked_file_names(folder: Path, capsys: Output) -> None:
    """Its relative paths start where the link stands, and so it is trusted: the real file is another agent."""
    real = folder.parent / "shared/real.yaml"
    real.parent.mkdir()
    real.write_text("name: x\n")
    (folder / "agent.yaml").symlink_to(real)
    (folder / "go.sh").write_text("#!/bin/sh\n")
    (folder / "go.sh").chmod(0o755)
    assert run(["trust"]) == 0
    assert run(["tools", "new", "go", "-d", "Go there.", "--command", "./go.sh"]) == 0
    assert run(["tools", "new", "count_words", "--wasm", "c"]) == 0
    assert "mm trust" not in capsys.readouterr().out
    config = load(folder / "agent.yaml", environ={})
    assert is_trusted(config)
    assert (folder / "agent.yaml").is_symlink()
    assert "wasm: count_words/count_words.wasm" in real.read_text() and "command: [./go.sh]" in real.read_text()
    assert sorted(one.name for one in folder.iterdir()) == ["agent.yaml", "count_words", "go.sh"]
    assert [one.name for one in real.parent.iterdir()] == ["real.yaml"]


def test_bytes_that_are_no_text_are_refused_and_nothing_is_changed(place: Place) -> None:
    path = place.write("agent.yaml", "name: x\n")
    for line in (
        ["x", "-d", b"caf\xe9", "--command", "ls"],
        ["x", "--param", b"a=caf\xe9", "--command", "ls", "{{a}}"],
        ["x", "--command", "ls", b"caf\xe9"],
        ["x", "-d", b"caf\xe9", "--wasm", "c"],
    ):
        ran = place.mm("tools", "new", *map(os.fsdecode, line))
        assert (ran.code, ran.out) == (2, "")
        assert "caf\\udce9` is not text in UTF-8." in ran.err
    assert path.read_text() == "name: x\n"


@pytest.mark.parametrize("language", ["c", "zig"])
def test_a_python_below_a_folder_with_a_blank_brings_its_compiler(place: Place, language: str) -> None:
    """As in the line that mm prints where the compiler is a package of the Python that runs mm."""
    place.write("agent.yaml", "name: x\n")
    assert place.mm("tools", "new", "w", "--wasm", language).code == 0
    python = place.write("my venv/python", '#!/bin/sh\necho "$1 $2" >> "$LOG"\n', 0o755)
    (place.folder / "bin").mkdir()
    for name in ("sh", "dirname"):
        (place.folder / "bin" / name).symlink_to(str(shutil.which(name)))
    log = place.folder / "log"
    environment = {"PATH": str(place.folder / "bin"), "PYTHON": str(python), "LOG": str(log)}
    built = subprocess.run(["sh", "w/build.sh"], cwd=place.folder, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert log.read_text().splitlines() == ["-c import ziglang", "-m ziglang"]


def test_the_first_build_of_a_c_module_says_that_it_takes_a_while_and_the_next_does_not(place: Place) -> None:
    """The compiler stands in for one that has to build its C library first, which is what takes so long."""
    place.write("agent.yaml", "name: x\n")
    assert place.mm("tools", "new", "w", "--wasm", "c").code == 0
    compiler = '#!/bin/sh\n[ "$1" = -c ] || echo made > w.wasm\n'
    python = place.write("python", compiler, 0o755)
    (place.folder / "bin").mkdir()
    for name in ("sh", "dirname"):
        (place.folder / "bin" / name).symlink_to(str(shutil.which(name)))
    environment = {"PATH": str(place.folder / "bin"), "PYTHON": str(python)}
    said = [
        subprocess.run(["sh", "w/build.sh"], cwd=place.folder, env=environment, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said[0].splitlines()[0] == "Building; the first time, this can take a while."
    assert said[0].splitlines()[1:] == said[1].splitlines() == [f"Built {place.folder}/w/w.wasm"]


@pytest.mark.parametrize("trusted", [True, False])
def test_a_trusted_file_stays_trusted_and_no_other_becomes_so(folder: Path, trusted: bool) -> None:
    path = write(folder, SOUND)
    if trusted:
        assert run(["trust"]) == 0
    assert run(["tools", "new", "x", "--command", "ls"]) == 0
    assert is_trusted(load(path, environ={})) is trusted


def test_the_reader_of_the_c_scaffold_is_that_of_the_example() -> None:
    example = Path(__file__).parents[2] / "wasm-modules/word_count"
    for name in ("arguments.c", "arguments.h"):
        assert (TEMPLATES / "c" / f"{name}.tmpl").read_bytes() == (example / name).read_bytes()


@pytest.mark.parametrize("language", [*LANGUAGES])
def test_a_module_is_built_tested_and_run_with_the_lines_that_are_printed(place: Place, language: str) -> None:
    """From nothing to an answer: init, new, build, test, run. Also with a second module beside it."""
    place.mm("init")
    printed = place.mm("tools", "new", "count_words", "--wasm", language)
    assert (printed.code, printed.err) == (0, "")
    build, test, again = [line.strip() for line in printed.out.partition("Next:")[2].strip().splitlines()]
    environment = _environment(place)
    built = _shell(build, place, environment)
    if built.returncode:
        assert "Run: " in built.stderr or "run: " in built.stderr
        assert language == "rust" or importlib.util.find_spec(LANGUAGES[language].import_name) is None
        pytest.skip(built.stderr.strip())
    checked = place.mm("tools", "check")
    assert (checked.code, checked.out) == (0, "2 tools, no problems\n")
    tested = _shell(test, place, environment)
    assert (tested.returncode, tested.stdout) == (0, "ok: count_words answers, and fails in words\n"), tested.stderr
    ran = _shell(f"{again} --allow count_words", place, environment)
    assert ran.stdout == "3 words\n"
    assert place.mm("tools", "new", "second", "--wasm", language).code == 0
    assert "# It sees no files" in (place.folder / "agent.yaml").read_text().partition("- name: second")[0]


def test_the_test_of_a_scaffold_fails_for_a_wrong_answer_and_without_a_module(place: Place) -> None:
    place.mm("init")
    place.mm("tools", "new", "count_words", "--wasm", "c")
    environment = _environment(place)
    unbuilt = _shell("sh count_words/test.sh", place, environment)
    assert unbuilt.returncode != 0
    assert "count_words.wasm` does not exist" in unbuilt.stderr
    assert "FAILED: expected `3 words`, got: exit code 1" in unbuilt.stderr
    wrong = _shell("MM=echo sh count_words/test.sh", place, environment)
    assert wrong.returncode == 1
    assert "FAILED: expected `3 words`" in wrong.stderr


def _environment(place: Place) -> dict[str, str]:
    """`mm` on the path, as it is for a stranger; compilers keep what they have compiled of their own library."""
    programs = place.folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    script = programs / "mm"
    script.write_text(f'#!/bin/sh\nexec {" ".join(MM)} "$@"\n')
    script.chmod(0o755)
    environment = place.environment(PYTHONPATH=str(Path(__file__).parents[2]))
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    return {
        **environment,
        "GOCACHE": os.environ.get("GOCACHE", str(home / ".cache/go-build")),
        "ZIG_GLOBAL_CACHE_DIR": os.environ.get("ZIG_GLOBAL_CACHE_DIR", str(home / ".cache/zig")),
        "PYTHON": sys.executable,
    }


def _shell(line: str, place: Place, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", line], cwd=place.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler of this machine's own")
def test_the_reader_of_the_c_scaffold_finds_numbers_booleans_and_texts(folder: Path) -> None:
    example = Path(__file__).parents[2] / "wasm-modules/word_count"
    source = folder / "main.c"
    source.write_text(
        '#include <stdio.h>\n#include "arguments.h"\n'
        "int main(void) { static char json[4096]; json[fread(json, 1, 4095, stdin)] = 0;\n"
        '  double n = 0; bool b = false; char t[9] = "";\n'
        '  bool found[] = {read_number_argument(json, "n", &n), read_boolean_argument(json, "b", &b),\n'
        '    read_text_argument(json, "t", t, sizeof t)};\n'
        '  printf("%d %g %d %d %d %s", found[0], n, found[1], b, found[2], t); return 0; }\n'
    )
    line = ["cc", "-Wall", "-Wextra", "-Werror", "-I", str(example), "-o", "reader", "main.c"]
    subprocess.run([*line, str(example / "arguments.c")], cwd=folder, check=True, capture_output=True)

    def read(json: str) -> str:
        return subprocess.run([folder / "reader"], input=json, capture_output=True, text=True, check=True).stdout

    assert read('{"a": {"n": 1, "b": ["}"]}, "n": -2.5e1, "b" : true, "t": "\\u00e9"}') == "1 -25 1 1 1 é"
    assert read('{"n": "1", "b": 1, "t": null}') == "0 0 0 0 0 "
    assert read('{"n": 1') == "1 1 0 0 0 "
    assert read("[]") == "0 0 0 0 0 "
