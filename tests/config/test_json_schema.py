from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from mm.config.json_schema import json_schema
from mm.config.keys import ROOT, SECTIONS
from mm.errors import UsageError
from tests.config.agent_files import read

EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/**/agent.yaml"))
GOOD = """\
name: ops
model: {name: ollama:x, temperature: 0}
hooks: {PreToolUse: [{matcher: "*", command: [./check.py], timeout: 2m}]}
mcpServers: {files: {command: npx, args: [-y]}, tickets: {type: http, url: "https://x.example"}}
permissions: {allow: [a]}
tools:
  - name: a
    command: [git, log, -1, ["--limit", "{{limit}}"], {flag: -v, when: v}]
    timeout: 90s
    parameters: {limit: {type: integer, minimum: 1, enum: [1, 2]}, v: {type: boolean, default: false}}
    stdin: json
  - name: b
    wasm: b.wasm
    memory: 64MiB
    parameters: {type: object, properties: {x: {type: [string, "null"]}}}
  - {name: c, command: [x], parameters: {}}
"""


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Validator:
    jsonschema_rs.meta.validate(json_schema())
    return jsonschema_rs.validator_for(json_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_examples_are_valid(validator: jsonschema_rs.Validator, path: Path) -> None:
    validator.validate(yaml.safe_load(path.read_text()))


def test_a_file_that_loads_is_valid(validator: jsonschema_rs.Validator, tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    validator.validate(yaml.safe_load(GOOD))


@pytest.mark.parametrize(
    "text",
    [
        "nmae: x",
        "yolo: maybe",
        "builtins: [nope]",
        "max_rounds: 0",
        "model: {base_url: 'http://x'}",
        "hooks: {before: []}",
        "hooks: {preToolCall: [{matcher: x}]}",
        "mcpServers: {a: {}}",
        "mcpServers: {a: {command: x, url: y}}",
        "tools: [{name: a}]",
        "tools: [{name: a b, command: [x]}]",
        "tools: [{name: a, command: [x], wasm: y}]",
        "tools: [{name: a, command: x}]",
        "tools: [{name: a, command: []}]",
        "tools: [{name: a, command: [x, {flag: -v}]}]",
        "tools: [{name: a, command: [x], timeout: soon}]",
        "tools: [{name: a, command: [x], timeout: '90'}]",
        "tools: [{name: a, command: [x], timeout: 0.001}]",
        "tools: [{name: a, command: [x], timeout: 100000}]",
        "tools: [{name: a, wasm: x, memory: 64}]",
        "tools: [{name: bash, command: [x]}]",
        "tools: [{name: web_search, command: [x]}]",
        "tools: [{name: a, command: [x], parameters: {b: {type: str}}}]",
        "tools: [{name: a, command: [x], parameters: {b: {typ: string}}}]",
        "tools: [{name: a, wasm: x, memory: lots}]",
        "tools: [{name: a, command: [x], stdin: true}]",
        "tools: [{name: a, command: [x], parameters: {b: {type: integer, default: 'x'}}}]",
        "tools: [{name: a, command: [x], parameters: {b: {type: boolean, enum: ['a']}}}]",
        "model: gpt-5",
    ],
)
def test_a_wrong_file_is_not_valid(validator: jsonschema_rs.Validator, text: str) -> None:
    assert not validator.is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    "value",
    [
        "timeout: '90'",
        "timeout: 90",
        "timeout: 90s",
        "timeout: 0.001",
        "timeout: '1.5 m'",
        "timeout: 86400",
        "timeout: 1d",
    ],
)
def test_the_schema_and_the_loader_agree_about_times(
    validator: jsonschema_rs.Validator, tmp_path: Path, value: str
) -> None:
    text = f"tools: [{{name: a, command: [x], {value}}}]\n"
    try:
        read(tmp_path, text)
        loads = True
    except UsageError:
        loads = False
    assert validator.is_valid(yaml.safe_load(text)) == loads


def test_every_key_of_the_table_is_described() -> None:
    for section in (ROOT, *SECTIONS):
        for key in section.keys:
            assert key.says.endswith("."), (section.name, key.name)
