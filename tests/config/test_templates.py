from __future__ import annotations

from pathlib import Path

import pytest

from mm.config.schema import Flag, Group, Literal, Slot, Template
from mm.config.templates import parse_template
from tests.config.agent_files import command, tool, wrong_tool

X = Slot("x")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("plain", ["plain"]),
        ("{{x}}", [X]),
        ("{{ x }}", [X]),
        ("{{x}}{{x}}", [X, X]),
        ("--out=/data/tool-{{x}}.txt", ["--out=/data/tool-", X, ".txt"]),
        ("{{first name}}", [Slot("first name")]),
        ("{x}", ["{x}"]),
        ('{"a":{"b":1}}', ['{"a":{"b":1}}']),
        ('{"a":{{x}}}', ['{"a":', X, "}"]),
        ("{{{x}}}", ["{", X, "}"]),
        ("{{{{.Names}}", ["{{.Names}}"]),
        ("{{{{x}}{{x}}", ["{{x}}", X]),
        ("{{{{{{x}}", ["{{", X]),
        ("a}}b", ["a}}b"]),
    ],
)
def test_a_placeholder_is_replaced_in_place_and_braces_can_be_written(text: str, pieces: list[str | Slot]) -> None:
    """(C63)"""
    expected = tuple(Literal(piece) if isinstance(piece, str) else piece for piece in pieces)
    assert parse_template(text, ["x", "first name"]) == (Template(expected), [])


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("{{tagret}}", "`{{tagret}}` is not a parameter; declared: `target`", "Did you mean `target`?"),
        ("{{other}}", "`{{other}}` is not a parameter", "Add `other:` to `parameters`."),
        ("{{.Names}}", "looks like another program's template", "`{{{{.Names}}`"),
        ("{{range .}}", "looks like another program's template", "`{{{{range .}}`"),
        ("{{}}", "looks like another program's template", "`{{{{}}`"),
        ("{{target", "`{{` is not closed", "Write `{{target}}`"),
        ("{{target}", "`{{` is not closed", "Write `{{target}}`"),
        ("{{target} {{target}}", "`{{` is not closed", "Write `{{target}}`"),
        ("{target}}", "one opening brace and two closing ones", "Write `{{target}}`."),
        ("{{{{.Names}}}}", "`}}}}` stays four braces", "only the opening braces are doubled"),
    ],
)
def test_a_wrong_placeholder_says_how_to_write_it(tmp_path: Path, text: str, message: str, hint: str) -> None:
    """(C63)"""
    found = wrong_tool(
        tmp_path, f'command: [x, "{text}"]\nstdin: "{{{{target}}}}"\nparameters: {{target: {{type: string}}}}'
    )
    assert len(found) == 1
    assert message in found[0]
    assert hint in found[0]


def test_groups_and_flags_are_read(tmp_path: Path) -> None:
    entry = tool(
        tmp_path,
        """
        command: [x, ["--limit", "{{limit}}"], {flag: --verbose, when: verbose}, "{{tags}}"]
        parameters:
          limit: {type: integer, required: false}
          verbose: {type: boolean, default: false}
          tags: {type: array, items: {type: string}}
        """,
    )
    assert command(entry).arguments == (
        Group((Template((Literal("--limit"),)), Template((Slot("limit"),)))),
        Flag("--verbose", "verbose"),
        Template((Slot("tags"),)),
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('["{{a}}", x]', "the program may not hold a placeholder"),
        ('["./{{a}}.sh"]', "the program may not hold a placeholder"),
        ("[\"{{ a | default('ls') }}\"]", "the program may not hold a placeholder"),
        ('["{{a"]', "the program may not hold a placeholder"),
        ("[[x], a]", "the program must be text, and this is a list"),
        ('[x, "{{a}}", [b, c]]', "a group without a placeholder is never dropped or repeated"),
        ('[x, [b, ["{{a}}"]]]', "a group holds texts only, and this is a list"),
        ('[x, [b, {flag: c, when: d}, "{{a}}"]]', "a group holds texts only, and this is a mapping"),
        ('[x, "{{a}}{{l}}{{m}}"]', "two lists stand together: `l` and `m`"),
        ('[x, "{{a}}", ["{{l}}", "{{m}}"]]', "two lists stand together: `l` and `m`"),
        ("[x, {flag: -v, when: a}]", "`when: a` is not a boolean parameter"),
        ('[x, "{{a}}", {flag: -v, when: vv}]', "`when: vv` is not a parameter"),
        ('[x, "{{a}}", {flag: "-{{a}}", when: v}]', "a flag is a literal text"),
        ('[x, "{{a}}", {flags: -v}]', "a flag has no key `flags` | Did you mean `flag`?"),
        ('[x, "{{a}}", ~]', "an entry of `command` is empty"),
        ('[x, "{{a}}", "b\\0c"]', "holds a NUL character"),
        ("[x]", 'the parameter `a` is used nowhere | Put "{{a}}" into `command`, or remove the parameter.'),
        ("[]", "`command` is empty"),
        ("{a: b}", "`command` must be a list, and this is a mapping"),
        ("./x.sh {{a}}", "`command` must be a list: it is run without a shell | "),
    ],
)
def test_a_command_that_cannot_work_is_a_load_error(tmp_path: Path, entry: str, message: str) -> None:
    found = wrong_tool(
        tmp_path,
        f"""
        command: {entry}
        parameters: {{a: {{}}, l: {{type: array}}, m: {{type: array}}, v: {{type: boolean}}, d: {{type: boolean}}}}
        """,
    )
    assert any(message in one for one in found), found


def test_a_command_written_as_one_text_is_answered_with_the_list(tmp_path: Path) -> None:
    found = wrong_tool(tmp_path, "command: ./x.sh 'a b' {{x}}\nparameters: {x: {}}")
    assert found[0].endswith('Write each argument as its own entry: command: [./x.sh, "a b", "{{x}}"]')


def test_stdin_json_uses_every_parameter(tmp_path: Path) -> None:
    entry = tool(tmp_path, "command: [x]\nstdin: json\nparameters: {a: {}, b: {type: integer}}")
    assert command(entry).stdin_json
    assert command(entry).stdin is None


def test_a_template_on_stdin_uses_its_parameter(tmp_path: Path) -> None:
    entry = tool(tmp_path, 'command: [x]\nstdin: "{{a}}\\n"\nparameters: {a: {}}')
    assert command(entry).stdin == Template((Slot("a"), Literal("\n")))


@pytest.mark.parametrize("place", ['env: {A: "{{a}}"}', 'cwd: "{{a}}"'])
def test_a_placeholder_reaches_neither_environment_nor_folder(tmp_path: Path, place: str) -> None:
    found = wrong_tool(tmp_path, f"command: [x]\n{place}\nparameters: {{a: {{}}}}")
    assert any("`{{a}}` stands in `env` or `cwd`" in one for one in found)


def test_paths_start_at_the_folder_of_the_file_and_names_stay_names(tmp_path: Path) -> None:
    entry = tool(tmp_path, "command: [./bin/x.sh, ./y]\ncwd: sub\nenv: {A: '${B}-${C:-c}', D: '$${B}'}", {"B": "b"})
    run = command(entry)
    assert (run.program, run.cwd) == (str(tmp_path / "bin/x.sh"), tmp_path / "sub")
    assert run.env == {"A": "b-c", "D": "${B}"}
    assert run.arguments == (Template((Literal("./y"),)),)
    assert command(tool(tmp_path, "command: [git]")).program == "git"
    assert command(tool(tmp_path, "command: [~/x]", {"HOME": "/home/me"})).program == "/home/me/x"


def test_nothing_is_expanded_in_arguments(tmp_path: Path) -> None:
    entry = tool(tmp_path, 'command: [x, "${HOME}", ~/y, $HOME]')
    assert [one.pieces[0] for one in command(entry).arguments if isinstance(one, Template)] == [
        *(Literal("${HOME}"), Literal("~/y"), Literal("$HOME"))
    ]


def test_an_unset_variable_is_a_load_error_that_names_it_alone(tmp_path: Path) -> None:
    found = wrong_tool(tmp_path, 'command: [x]\nenv: {A: "${OTHER}${NOPE}"}', {"OTHER": "sesame"})
    assert found == ["`env.A`: the variable `NOPE` is not set | Set it, or write `${NOPE:-default}`."]


def test_a_default_stands_in_for_an_empty_variable(tmp_path: Path) -> None:
    entry = tool(tmp_path, 'command: [x]\nenv: {A: "${E:-d}", B: "${E}"}', {"E": ""})
    assert command(entry).env == {"A": "d", "B": ""}


def test_other_forms_of_variables_are_not_guessed(tmp_path: Path) -> None:
    found = wrong_tool(tmp_path, 'command: [x]\nenv: {A: "${B:?no}"}', {"B": "b"})
    assert "`${B:?no}` is not understood" in found[0]
