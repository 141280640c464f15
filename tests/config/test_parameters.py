from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.agent_files import command, tool, wrong, wrong_tool


def document(folder: Path, parameters: str) -> object:
    return tool(folder, f"command: [x]\nstdin: json\nparameters: {parameters}").schema.document


def problems(folder: Path, parameters: str) -> list[str]:
    return wrong_tool(folder, f"command: [x]\nstdin: json\nparameters: {parameters}")


def test_the_short_form_becomes_a_closed_schema(tmp_path: Path) -> None:
    assert document(tmp_path, "{a: {type: integer, minimum: 1}, b: {required: false}, c: {default: x}}") == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 1},
            "b": {"type": "string"},
            "c": {"type": "string", "default": "x"},
        },
        "additionalProperties": False,
        "required": ["a"],
    }


def test_nested_parameters_are_read_the_same_way(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        "{list: {items: {properties: {a: {}, b: {required: false}}}},"
        " map: {type: object, additionalProperties: {type: number}}, any: {type: object}}",
    )
    assert isinstance(found, dict)
    assert found["properties"] == {
        "list": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "additionalProperties": False,
                "required": ["a"],
            },
        },
        "map": {"type": "object", "additionalProperties": {"type": "number"}},
        "any": {"type": "object"},
    }


@pytest.mark.parametrize("parameters", ["", "{}", "~"])
def test_no_parameters_means_none(tmp_path: Path, parameters: str) -> None:
    entry = tool(tmp_path, f"command: [x]\nparameters: {parameters}")
    assert entry.no_parameters
    assert entry.schema.document == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_parameter_may_be_called_type(tmp_path: Path) -> None:
    found = document(tmp_path, "{type: {type: string}, properties: {type: object}, required: {type: boolean}}")
    assert isinstance(found, dict)
    assert list(found["properties"]) == ["type", "properties", "required"]


def test_type_object_as_text_makes_it_a_whole_schema_kept_as_written(tmp_path: Path) -> None:
    text = """{type: object, properties: {a: {$ref: "#/$defs/a"}, b: {type: [string, "null"], enum: [1.10, x]}},
      $defs: {a: {type: string}}, required: [a]}"""
    assert document(tmp_path, text) == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"type": ["string", "null"], "enum": [1.1, "x"]}},
        "$defs": {"a": {"type": "string"}},
        "required": ["a"],
    }


def test_parameters_behind_references_and_unions_count_as_declared(tmp_path: Path) -> None:
    entry = tool(
        tmp_path,
        """
        command: [x, "{{a}}", "{{b}}", {flag: -c, when: c}]
        parameters:
          type: object
          properties: {a: {type: string}}
          allOf: [{$ref: "#/$defs/more"}]
          $defs: {more: {properties: {b: {type: string}, c: {$ref: "#/$defs/yes"}}}, yes: {type: boolean}}
        """,
    )
    assert len(command(entry).arguments) == 3


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ("{type: object, properties: {a: {type: sting}}}", "3:53"),
        ('{type: object, properties: {a: {pattern: "("}}}', "3:56"),
        ('{type: object, properties: {a: {$ref: "#/$defs/nope"}}}', "3:53"),
        ('{type: object, properties: {a: {$ref: "https://x.example/s"}}}', "3:53"),
        ("{type: object, properties: {a: {type: integer, default: x}}}", "3:71"),
    ],
)
def test_what_is_wrong_in_a_whole_schema_is_said_at_its_place(tmp_path: Path, schema: str, place: str) -> None:
    text = f"tools:\n- {{name: it, command: [x], stdin: json,\n  parameters: {schema}}}\n"
    assert [one.rsplit(": `parameters`")[0] for one in wrong(tmp_path, text)] == [place]


def test_allow_dash_belongs_to_mm_and_not_to_the_schema(tmp_path: Path) -> None:
    short = tool(tmp_path, 'command: [x, "{{a}}", "{{b}}"]\nparameters: {a: {allow_dash: true}, b: {}}')
    assert command(short).allow_dash == {"a"}
    whole = tool(
        tmp_path,
        'command: [x, "{{a}}"]\nparameters: {type: object, properties: {a: {type: string, allow_dash: true}}}',
    )
    assert command(whole).allow_dash == {"a"}
    for entry in (short, whole):
        assert entry.schema.document["properties"]["a"] == {"type": "string"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            "{a: {type: str}}",
            "`type: str` is no type; there are string, integer, number, boolean, array, object | Write",
        ),
        ("{a: {type: int}}", "Write `type: integer`."),
        ("{a: {type: strin}}", "Write `type: string`."),
        ('{a: {type: [string, "null"]}}', "`type` must be one type"),
        ("{a: {desc: x}}", "a parameter has no key `desc` | Did you mean `description`?"),
        ("{a: {choices: [x]}}", "Did you mean `enum`?"),
        ("{a: {minimum: 1}}", "`minimum` says nothing about `a`, whose type is `string` | Write `type: integer`"),
        ("{a: {type: integer, pattern: x}}", "`pattern` says nothing about `a`"),
        ("{a: {type: integer, enum: [1, x]}}", "this value of `enum` is text, and the type is `integer`"),
        ("{a: {type: integer, enum: [1, 1.5]}}", "this value of `enum` is a number, and the type is `integer`"),
        ("{a: {type: boolean, enum: [true, yes]}}", "this value of `enum` is text, and the type is `boolean`"),
        ("{a: {enum: []}}", "`enum` of `a` is empty"),
        ("{a: {enum: [x, x]}}", "`enum` of `a` has a value twice"),
        ("{a: {enum: x}}", "`enum` must be a list, and this is text | Write `enum: [x]`."),
        ("{a: {type: integer, default: x}}", "this value of `default` is text, and the type is `integer`"),
        ("{a: {type: array, default: x}}", "this value of `default` is text, and the type is `array`"),
        ("{a: {default: ~}}", "this value of `default` is empty"),
        ("{a: {enum: [x], default: y}}", "the default of `a` is not in `enum`"),
        ("{a: {type: integer, minimum: 3, default: 1}}", "the default of `a` is below `minimum`"),
        ("{a: {maxLength: 2, default: abc}}", "the default of `a` is longer than `maxLength`"),
        ("{a: {required: true, default: x}}", "its default is never used"),
        ("{a: {required: yes}}", "`required` must be `true` or `false`"),
        ("{a: {type: object, required: [b]}}", "`required` of `a` must be `true` or `false`"),
        ("{a: {type: integer, minimum: 3, maximum: 1}}", "`minimum` of `a` is larger than `maximum`"),
        ("{a: {minLength: 1.5}}", "`minLength` must be a whole number"),
        ("{a: {minLength: -1}}", "`minLength` must be between 0"),
        ("{a: {type: number, multipleOf: 0}}", "`multipleOf` must be above 0 | Write `multipleOf: 1`, or remove it."),
        ("{a: {type: number, multipleOf: -0.5}}", "`multipleOf` must be above 0 | Write `multipleOf: 0.5`"),
        (
            "{a: {pattern: '^[a-z+$'}}",
            "`pattern` is no regular expression: unterminated character set at character 2, `[a-z+$`"
            " | Close it with `]`, or write `\\[` if that character is meant.",
        ),
        ("{a: {pattern: '('}}", "at character 1, `(` | Close it with `)`, or write `\\(`"),
        ("{a: {pattern: '*.md'}}", "nothing to repeat at character 1, `*.md` | Write `\\*` if that character is meant"),
        ("{a: {pattern: '" + "(" * 5000 + "'}}", "`pattern` is no regular expression"),
        ("{a: {pattern: '^[0-9.]+$', default: latest}}", "the default of `a` does not fit `pattern`"),
        ("{a: {type: integer, multipleOf: 5, default: 7}}", "the default of `a` does not fit `multipleOf`"),
        ("{a: {type: array, uniqueItems: true, default: [x, x]}}", "the default of `a` does not fit `uniqueItems`"),
        ("{a: {items: {type: integer}, default: [1, b]}}", "the default of `a` does not fit `items.type`"),
        ("{a: {properties: {b: {maxLength: 1}}, default: {b: xx}}}", "does not fit `properties.b.maxLength`"),
        ("{a: {properties: {b: {}}, default: {}}}", "the default of `a` does not fit `required`"),
        ("{a: {type: integer, minimum: 5, enum: [7, 1]}}", "`1` in `enum` of `a` is below `minimum` | Remove it, or"),
        ("{a: {pattern: ^v, enum: [v1, 2]}}", "`2` in `enum` of `a` does not fit `pattern`"),
        ("{a: {pattern: '\\A[a-z]'}}", "is not known to JSON Schema"),
        ("{a: {items: {allow_dash: true}}}", "`allow_dash` in items of a has no effect"),
        ("{a: string}", "the parameter `a` must be a mapping, and this is text | Write `a: {type: string, desc"),
        ("{a: {}, b: {}, required: [a]}", "Remove it, and write `required: false` in `b`"),
        ("{properties: {a: {}}, type: array}", "write `type: object` at the top of `parameters`"),
        ("[a]", "`parameters` must be a mapping, and this is a list"),
        ("{'': {}}", "cannot be the name of a parameter"),
    ],
)
def test_each_key_of_a_parameter_is_checked(tmp_path: Path, parameters: str, message: str) -> None:
    found = problems(tmp_path, parameters)
    assert any(message in one for one in found), found


def test_values_that_fit_their_schema_are_kept(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        "{a: {pattern: '^[0-9.]+$', enum: [1.10, 2], default: 1.10}, b: {items: {type: integer}, default: [1, 2]},"
        " c: {type: number, multipleOf: 0.5, default: 1.5}, d: {properties: {e: {default: x}}, default: {}}}",
    )
    assert isinstance(found, dict)
    assert {name: schema["default"] for name, schema in found["properties"].items()} == {
        "a": "1.10",
        "b": [1, 2],
        "c": 1.5,
        "d": {},
    }


def test_a_pattern_that_only_json_schema_knows_is_a_pattern(tmp_path: Path) -> None:
    found = document(tmp_path, "{a: {pattern: '^(?<year>[0-9]{4})$', default: 2026}}")
    assert isinstance(found, dict)
    assert found["properties"]["a"] == {"type": "string", "pattern": "^(?<year>[0-9]{4})$", "default": "2026"}
    assert "does not fit `pattern`" in problems(tmp_path, "{a: {pattern: '^(?<year>[0-9]{4})$', default: x}}")[0]


@pytest.mark.parametrize("word", ["optional ", "maybe ", "x?"])
def test_a_type_of_endless_words_is_an_error_and_no_crash(tmp_path: Path, word: str) -> None:
    text = f"x{'?' * 3_000}" if word == "x?" else word * 3_000 + "string"
    assert "is no type" in problems(tmp_path, f"{{a: {{type: '{text}'}}}}")[0]


def test_unicode_classes_are_known_patterns(tmp_path: Path) -> None:
    found = document(tmp_path, "{a: {pattern: '^[\\p{L}\\d]+$'}}")
    assert isinstance(found, dict)
    assert found["properties"]["a"]["pattern"] == "^[\\p{L}\\d]+$"


def test_the_short_form_loads_no_validator(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        'tools: [{name: a, command: [x, "{{a}}", "{{b}}"],\n'
        " parameters: {a: {pattern: ^a}, b: {enum: [c], default: c}}}]\n"
    )
    code = (
        "import sys; from pathlib import Path; from mm.config.load import load;"
        "load(Path(sys.argv[1]), environ={});"
        "print([m for m in sys.modules if m.split('.')[0] in ('jsonschema_rs', 'platformdirs', 'click', 'httpx')])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "agent.yaml")], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
