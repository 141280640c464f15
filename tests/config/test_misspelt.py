"""A key that is misspelt or broken is told once, without what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.agent_files import read, wrong, wrong_tool

USES = """\
command: [./x.sh, "{{version}}", ["--channel", "{{channel}}"], {flag: --dry, when: dry}]
stdin: "{{notes}}"
"""
PARAMETERS = "{version: {type: string}, channel: {type: string}, dry: {type: boolean}, notes: {type: string}}"


@pytest.mark.parametrize("key", ["params", "paramters", "input_schema", "Parameters"])
def test_misspelt_parameters_are_told_once(tmp_path: Path, key: str) -> None:
    found = wrong_tool(tmp_path, f"{USES}{key}: {PARAMETERS}")
    assert found == [f"a tool entry has no key `{key}` | Did you mean `parameters`?"]


def test_what_is_wrong_in_misspelt_parameters_is_told_as_well(tmp_path: Path) -> None:
    text = 'command: [./x.sh, "{{version}}", "{{chanel}}"]\nparams: {version: {type: strin}, channel: {type: string}}'
    found = wrong_tool(tmp_path, text)
    assert len(found) == 4
    assert any("Did you mean `channel`?" in one for one in found)
    assert any("Write `type: string`." in one for one in found)
    assert any("the parameter `channel` is used nowhere" in one for one in found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("comand: [./x.sh]", "a tool entry has no key `comand` | Did you mean `command`?"),
        ("argv: [./x.sh]", "a tool entry has no key `argv` | Did you mean `command`?"),
        ("module: x.wasm", "a tool entry has no key `module` | Did you mean `wasm`?"),
        ("command: [./x.sh, {flag: --dry, if: dry}]\nparameters: {dry: {type: boolean}}", "Did you mean `when`?"),
        ('command: [./x.sh, "{{x}}"]\nparameters: [x]', "`parameters` must be a mapping, and this is a list"),
        (f"{USES}parameters: text", "`parameters` must be a mapping, and this is text"),
        ('command: [./x.sh, "{{x}}"]\nparameters: {x: integer}', "the parameter `x` must be a mapping"),
        ("command: [./x.sh, {flag: --dry, when: dry}]\nparameters: {dry: boolean}", "`dry` must be a mapping"),
    ],
)
def test_a_mistake_is_told_without_its_consequences(tmp_path: Path, text: str, says: str) -> None:
    (found,) = wrong_tool(tmp_path, text)
    assert says in found


def test_a_guess_that_cannot_be_meant_is_not_read(tmp_path: Path) -> None:
    """`args` is what other programs call the arguments of a program, too."""
    (found,) = wrong_tool(tmp_path, "command: [./x.sh]\nargs: [--fast]")
    assert found.startswith("a tool entry has no key `args` | ")


def test_a_key_that_is_there_is_not_replaced_by_a_misspelt_one(tmp_path: Path) -> None:
    for first, second in (("parameters", "params"), ("params", "parameters")):
        names = {"parameters": "{x: {type: string}}", "params": "{y: {type: string}}"}
        text = f'command: [./x.sh, "{{{{x}}}}"]\n{first}: {names[first]}\n{second}: {names[second]}'
        assert len(wrong_tool(tmp_path, text)) == 1


def test_rules_are_not_said_to_name_no_tool_where_the_tools_are_misspelt(tmp_path: Path) -> None:
    text = """\
    permissions: {allow: [release]}
    hooks: {preToolCall: [{matcher: release, command: [./check.sh]}]}
    tool:
      - {name: release, description: Publish., command: [./release.sh]}
    """
    assert wrong(tmp_path, text) == ["3:1: the agent file has no key `tool` | Did you mean `tools`?"]


def mended(folder: Path, text: str, found: list[str], edits: list[tuple[str, str]]) -> None:
    """Exactly these problems; with the edits in it, the file loads."""
    assert wrong(folder, text) == found
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    read(folder, text)


def test_tools_as_a_mapping_are_read_on_and_mended_with_a_name_each(tmp_path: Path) -> None:
    mended(
        tmp_path,
        'tools:\n  spend:\n    command: [./x, "{{a}}"]\n    parameters: {a: {}}\n    finall: true\n',
        [
            "2:3: `tools` must be a list, and this is a mapping"
            " | Write `- name: spend` in place of `spend:`, with its keys beneath `name`.",
            "5:5: a tool entry has no key `finall` | Did you mean `final`?",
        ],
        [("  spend:", "  - name: spend"), ("finall", "final")],
    )


def test_one_tool_without_its_dash_is_mended_by_the_dash(tmp_path: Path) -> None:
    mended(
        tmp_path,
        "tools:\n  name: a\n  command: [./x]\n",
        [
            "2:3: `tools` must be a list, and this is a mapping"
            " | Put `- ` before `name`, and two more blanks before its other keys."
        ],
        [("  name", "  - name"), ("  command", "    command")],
    )


@pytest.mark.parametrize(
    ("entry", "hint", "new"),
    [
        ("- spend:\n      command: [x]\n", ", with its other keys beneath `name`.", "- name: spend"),
        ("- spend:\n    command: [x]\n", ".", "- name: spend"),
    ],
)
def test_a_name_in_the_place_of_a_key_is_told_once(tmp_path: Path, entry: str, hint: str, new: str) -> None:
    text = f"tools:\n  {entry}"
    found = f"2:5: a tool entry has no key `spend` | Write `- name: spend`{hint}"
    edits = [("- spend:", new), *([("      command", "    command")] if "      command" in text else [])]
    mended(tmp_path, text, [found], edits)


@pytest.mark.parametrize(
    ("text", "found", "edits"),
    [
        (
            'tools:\n- name: a\n  command: [x, "{{b}}", "{{c}}"]\n  parameters:\n  b: {enum: [x]}\n  c: {default: x}\n',
            "5:3: `b` and `c` stand beside `parameters`, which is empty"
            " | Indent `b` and `c` under `parameters:`, by two more blanks.",
            [("  b:", "    b:"), ("  c:", "    c:")],
        ),
        (
            "permissions:\nallow: [bash]\n",
            "2:1: `allow` stands beside `permissions`, which is empty"
            " | Indent `allow` under `permissions:`, by two more blanks.",
            [("allow", "  allow")],
        ),
        (
            "hooks:\npreToolCall: [{command: [x]}]\n",
            "2:1: `preToolCall` stands beside `hooks`, which is empty"
            " | Indent `preToolCall` under `hooks:`, by two more blanks.",
            [("preTool", "  preTool")],
        ),
        (
            "mcpServers:\nfiles: {command: x}\n",
            "2:1: `files` stands beside `mcpServers`, which is empty"
            " | Indent `files` under `mcpServers:`, by two more blanks.",
            [("files", "  files")],
        ),
        (
            "tools:\n- name: a\n  command: [x]\n  env:\n  LANG: C\n",
            "5:3: `LANG` stands beside `env`, which is empty | Indent `LANG` under `env:`, by two more blanks.",
            [("  LANG", "    LANG")],
        ),
    ],
)
def test_keys_whose_indentation_was_forgotten_are_told_once(
    tmp_path: Path, text: str, found: str, edits: list[tuple[str, str]]
) -> None:
    mended(tmp_path, text, [found], edits)


@pytest.mark.parametrize(
    ("text", "found", "edits"),
    [
        (
            "tools: [{name: a, command: [x], shell: true}]\n",
            "1:33: a tool entry has no key `shell`"
            " | Remove it: mm has no shell, each entry of `command` is one argument as it stands.",
            [(", shell: true", "")],
        ),
        (
            "tools: [{name: a, command: [x], allow: true}]\n",
            "1:33: a tool entry has no key `allow`"
            " | Remove it, and write `permissions: {allow: [a]}` at the top of the file.",
            [(", allow: true", ""), ("tools:", "permissions: {allow: [a]}\ntools:")],
        ),
        (
            "tools: [{name: a, command: [x], cmd: [y]}]\n",
            "1:33: a tool entry has no key `cmd` | Remove it: `command` is there, in line 1.",
            [(", cmd: [y]", "")],
        ),
        (
            "model: ollama:x\ntemperature: 0\n",
            "2:1: the agent file has no key `temperature`"
            ' | Remove it, and write `model: {name: "ollama:x", temperature: 0}`.',
            [("model: ollama:x\ntemperature: 0", 'model: {name: "ollama:x", temperature: 0}')],
        ),
        (
            "model: x\nprovider: Ollama\n",
            "2:1: the agent file has no key `provider` | Remove it, and write `model: ollama:x`.",
            [("model: x\nprovider: Ollama", "model: ollama:x")],
        ),
        (
            'tools: [{name: a, command: [x, "{{b}}"], parameters: {b: {description: Title, example: My day}}}]\n',
            '1:79: a parameter has no key `example` | Remove it, and write `description: "Title, such as My day"`.',
            [("description: Title, example: My day", 'description: "Title, such as My day"')],
        ),
    ],
)
def test_a_key_of_other_programs_is_answered_with_what_mm_has(
    tmp_path: Path, text: str, found: str, edits: list[tuple[str, str]]
) -> None:
    if "provider" in text:
        assert wrong(tmp_path, text)[1] == found
        text, found = text.replace("model: x", "model: ollama:x"), found.replace("ollama:x", "ollama:ollama:x")
        edits = [("\nprovider: Ollama", "")]
    mended(tmp_path, text, [found], edits)


def test_a_key_for_the_model_is_never_shown(tmp_path: Path) -> None:
    (found,) = wrong(tmp_path, "model: ollama:x\napi_key: sesame\n")
    assert "sesame" not in found
    (found,) = wrong(tmp_path, "tools: [{name: a, command: [x], env: [A_TOKEN=sesame, B=1]}]\n")
    assert "sesame" not in found
    assert 'Write `env: {A_TOKEN: "…", B: "1"}`.'.replace('"…"', "…") in found


def test_servers_as_a_list_are_read_by_their_names(tmp_path: Path) -> None:
    found = wrong(tmp_path, "mcpServers:\n  - name: files\n    command: x\n    arg: [y]\n")
    assert found == [
        "2:3: `mcpServers` must be a mapping, and this is a list"
        " | Write each under its name: `files:` in place of `- name: files`, its other keys beneath it.",
        "4:5: an MCP server has no key `arg` | Did you mean `args`?",
    ]


def test_a_schema_without_its_type_is_read_as_one(tmp_path: Path) -> None:
    text = (
        "tools: [{name: a, command: [x], stdin: json, parameters: {properties: {b: {type: string}}, required: [b]}}]\n"
    )
    found = "1:59: `properties` belongs to a whole JSON Schema"
    hint = "Write `type: object` beside it: then all of `parameters` is one."
    mended(tmp_path, text, [f"{found} | {hint}"], [("{properties", "{type: object, properties")])


def test_several_bounds_of_the_wrong_type_are_one_mistake(tmp_path: Path) -> None:
    (found,) = wrong_tool(tmp_path, "command: [x]\nstdin: json\nparameters: {b: {minimum: 1, maximum: 3}}")
    assert found == (
        "`minimum` and `maximum` say nothing about `b`, whose type is `string`"
        " | Write `type: integer`, or remove `minimum` and `maximum`."
    )


def test_a_type_of_two_keys_is_written_on_two_lines_outside_of_braces(tmp_path: Path) -> None:
    text = 'tools:\n- name: a\n  command: [x, "{{b}}"]\n  parameters:\n    b:\n      type: date\n'
    (found,) = wrong(tmp_path, text)
    assert found.endswith("| Write `type: string` and, on the next line, `format: date`.")
    read(tmp_path, text.replace("type: date", "type: string\n      format: date"))
