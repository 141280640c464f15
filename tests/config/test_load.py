from __future__ import annotations

import os
from pathlib import Path

import pytest

from mm.config.keys import PROVIDERS, ROOT, SECTIONS
from mm.config.schema import DEFAULT_BUILTINS, HookEvent, ModelConfig, OnError
from mm.models import providers
from tests.config.agent_files import read, wrong


def test_every_section_is_read(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    (tmp_path / "skills").mkdir()
    config = read(
        tmp_path,
        """\
        name: ops
        model: local:qwen2.5-coder-1.5b
        instructions: |
          You run tools.
        instructions_files: [AGENTS.md, MISSING.md]
        builtins: [bash, read_file]
        yolo: true
        permissions: {allow: [status], ask: [bash], deny: [write_file]}
        env_pass: [GH_TOKEN]
        hooks:
          preToolCall: [{matcher: "status|bash", command: [./check.py, -v], timeout: 2m, on_error: allow}]
          PostToolUse: [{command: [log]}]
        skills: [./skills]
        mcpServers: {files: {command: npx, args: [-y, x]}, tickets: {url: "https://x.example/mcp"}}
        output_limit: 5000
        max_rounds: 7
        tools:
          - {name: status, description: " Report. ", command: [./status.sh], final: true, repeat: true, readonly: true}
        """,
    )
    assert (config.name, config.model, config.yolo) == ("ops", ModelConfig("local", "qwen2.5-coder-1.5b"), True)
    assert config.instructions == "You run tools.\n\nBe brief."
    assert config.builtins == ("bash", "read_file", "read_skill")
    assert (config.permissions.allow, config.permissions.ask, config.permissions.deny) == (
        {"status"},
        {"bash"},
        {"write_file"},
    )
    first, second = config.hooks
    assert (first.event, first.matcher, first.command) == (
        HookEvent.BEFORE,
        "status|bash",
        (str(tmp_path / "check.py"), "-v"),
    )
    assert (first.timeout, first.on_error) == (120, OnError.ALLOW)
    assert (second.event, second.matcher, second.on_error) == (HookEvent.AFTER, ".*", OnError.BLOCK)
    files, tickets = config.mcp_servers
    assert (files.command, tickets.url) == (("npx", "-y", "x"), "https://x.example/mcp")
    assert (config.output_limit, config.max_rounds) == (5000, 7)
    entry = config.tools[0]
    assert (entry.description, entry.final, entry.repeat, entry.readonly) == ("Report.", True, True, True)
    assert str(entry.place) == f"{tmp_path / 'agent.yaml'}:18:5"


def test_empty_sections_are_as_good_as_none(tmp_path: Path) -> None:
    config = read(tmp_path, "tools:\nhooks:\nmcpServers:\npermissions:\nskills:\nenv_pass: []\nname: x\n")
    assert (config.tools, config.hooks, config.mcp_servers, config.builtins) == ((), (), (), DEFAULT_BUILTINS)


def test_no_builtins_is_a_choice(tmp_path: Path) -> None:
    assert read(tmp_path, "builtins: []\n").builtins == ()


def test_no_key_is_listed_as_a_misspelling_of_another() -> None:
    for section in (ROOT, *SECTIONS):
        names = [name for key in section.keys for name in (key.name, *key.aliases, *key.misspellings)]
        assert len(names) == len(set(names)), section.name


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("instruction: x", "Did you mean `instructions`?"),
        ("system: x", "Did you mean `instructions`?"),
        ("max_iterations: 3", "Did you mean `max_rounds`?"),
        ("mcp_servers: {}", "Did you mean `mcpServers`?"),
        ("Tools: []", "Did you mean `tools`?"),
        ("api_key: x", "It belongs into `model:`"),
        ("zzz: x", "Known keys: name, model,"),
        ("model: {name: x, base_url: 'http://x', top_p: 1}", "Put it into `extra: {top_p: …}`."),
        ("tools: [{name: a, command: [x], args: {}}]", "Did you mean `parameters`?"),
        ("tools: [{name: a, command: [x], working_dir: y}]", "Did you mean `cwd`?"),
        ("hooks: {pretoolcall: []}", "Did you mean `preToolCall`?"),
        ("hooks: {preToolCall: [{command: [x], hooks: []}]}", "Write `{matcher: …, command: [program, argument]}`"),
        ("permissions: {allowed: []}", "Did you mean `allow`?"),
        ("mcpServers: {a: {command: x, alwaysAllow: []}}", "permissions: {allow: [mcp__server__tool]}"),
    ],
)
def test_an_unknown_key_is_answered_with_the_key_that_was_meant(tmp_path: Path, text: str, hint: str) -> None:
    found = wrong(tmp_path, text + "\n")
    assert len(found) == 1
    assert "has no key" in found[0]
    assert hint in found[0]


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("ollama:qwen3:4b", ModelConfig("ollama", "qwen3:4b")),
        ("{name: ollama:qwen3:4b, temperature: 0}", ModelConfig("ollama", "qwen3:4b", temperature=0)),
        ("{provider: openai, name: gpt-x}", ModelConfig("openai", "gpt-x")),
        ("{provider: ollama, name: qwen3:4b, context: 8192}", ModelConfig("ollama", "qwen3:4b", context=8192)),
        (
            "{name: qwen3:4b, base_url: 'http://${H:-localhost}:1/v1', extra: {seed: 1}, max_tokens: 9}",
            ModelConfig("custom", "qwen3:4b", "http://localhost:1/v1", extra={"seed": 1}, max_tokens=9),
        ),
    ],
)
def test_a_model_is_named_in_one_text_or_as_a_mapping(tmp_path: Path, text: str, model: ModelConfig) -> None:
    assert read(tmp_path, f"model: {text}\n").model == model


def test_variables_of_keys_are_remembered_as_secrets_and_never_printed(tmp_path: Path) -> None:
    text = "model: {name: x, base_url: 'http://x', api_key: '${CORP}', headers: {Authorization: 'Bearer ${OTHER}'}}\n"
    config = read(tmp_path, text, {"CORP": "sesame", "OTHER": "mellon"})
    assert config.model is not None
    assert config.model.api_key == "sesame"
    assert config.secret_variables == {"CORP", "OTHER"}
    assert "sesame" not in repr(config)
    assert "mellon" not in repr(config)


def test_a_key_in_the_file_itself_is_warned_about(tmp_path: Path) -> None:
    config = read(tmp_path, "model: {name: x, base_url: 'http://x', api_key: sk-123}\n")
    assert len(config.warnings) == 1
    assert "sk-123" not in config.warnings[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: gpt-4o", "`model: gpt-4o` does not say who serves it; providers are `local:`, `ollama:`"),
        ("model: olama:x", "| Write `model: ollama:x`."),
        ("model: 'ollama:'", "`model: ollama:` names no model"),
        ("model: 'scripted:'", "`model: scripted:` names no script | Write `model: scripted:FILE`."),
        ("model: {name: 'ollama:'}", "`name: ollama:` names no model | Write `name: ollama:NAME`."),
        ("model: ''", "does not say who serves it"),
        ("model: ':'", "| Write `model: ollama:NAME`, or"),
        ("model: ':x'", "| Write `model: ollama:x`, or"),
        ("model: {name: '', base_url: 'http://x'}", "`name` of the model is empty"),
        ("model: {name: x}", "Write `name: ollama:x`, or add `base_url:`."),
        ("model: {base_url: 'http://x'}", "`model` lacks `name`"),
        ("model: {name: x, base_url: localhost:1234}", "`base_url` is no address"),
        ("model: {name: x, provider: azure}", "`provider` must be one of local, ollama"),
        ("model: {name: local:x, temperature: 3}", "`temperature` must be between 0 and 2"),
        ("model: {name: local:x, temperature: warm}", "`temperature` must be a number, and this is text"),
        ("model: {name: local:x, api_key: '${NOPE}'}", "the variable `NOPE` is not set"),
        ("model: [x]", "`model` is a list, not a mapping"),
        ("output_limit: 10", "`output_limit` must be between 1,000 and 1,000,000"),
        ("max_rounds: 0", "`max_rounds` must be between 1 and 1,000"),
        ("max_rounds: many", "`max_rounds` must be a number, and this is text"),
        ("yolo: yes", "`yolo` must be `true` or `false`"),
        ("name: [a]", "`name` must be text, and this is a list"),
        ("instructions:", "`instructions` must be text, and this is empty"),
        ("env_pass: ['${GH_TOKEN}']", "Write the name alone: `GH_TOKEN`."),
        ("env_pass: GH_TOKEN", "Write `env_pass: [GH_TOKEN]`."),
        ("builtins:", "`builtins` has no value | Write `builtins: []` for none, or remove it for the default: bash,"),
        ("builtins:\n  # - bash", "`builtins` has no value"),
        ("builtins: [read-file]", "there is no tool `read-file` | Did you mean `read_file`?"),
        ("builtins: [web_fetch]", "`web_fetch` is planned, and not there yet"),
        ("builtins: [bash, bash]", "`bash` stands twice"),
        ("instructions_files: [.]", "is not a regular file"),
    ],
)
def test_a_wrong_value_says_what_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    found = wrong(tmp_path, text + "\n")
    assert len(found) == 1
    assert message in found[0]


def test_the_value_of_a_variable_never_gets_into_a_message(tmp_path: Path) -> None:
    text = "model: {name: x, base_url: '${SECRET}'}\ntools: [{name: a, wasm: a.wasm, read: ['${SECRET}']}]\n"
    found = wrong(tmp_path, text, {"SECRET": "sesame"})
    assert len(found) == 2
    assert not any("sesame" in one for one in found)


def test_the_instructions_files_that_would_hang_mm_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is not a regular file" in wrong(tmp_path, "instructions_files: [fifo]\n")[0]


def test_known_providers_are_those_that_mm_can_ask() -> None:
    assert set(PROVIDERS) == set(providers.PROVIDERS)
