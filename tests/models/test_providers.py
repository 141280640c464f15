"""Which model a run asks, and where."""

import pytest

from mm.config.schema import ModelConfig
from mm.errors import MMError, UsageError
from mm.models import providers
from mm.models.providers import ollama_url, resolve


def chosen(config=None, override=None, **environ) -> ModelConfig:
    return resolve(config, override=override, environ=environ)


def test_without_a_choice_the_embedded_default_is_used_whatever_keys_exist():
    environ = {"OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k", "OLLAMA_HOST": "h", "OPENAI_BASE_URL": "http://x/v1"}
    assert str(chosen(**environ)) == "local:qwen2.5-coder-1.5b"


def test_the_flag_beats_the_variable_and_the_variable_beats_the_file():
    file = ModelConfig("ollama", "a")
    assert str(chosen(file)) == "ollama:a"
    assert str(chosen(file, MM_MODEL="ollama:b")) == "ollama:b"
    assert str(chosen(file, "ollama:c", MM_MODEL="ollama:b")) == "ollama:c"


def test_another_model_of_the_same_provider_keeps_its_address_and_settings():
    file = ModelConfig("custom", "a", base_url="http://h/v1", api_key="k", temperature=0.3, context=99)
    other = chosen(file, "custom:b")
    assert (other.name, other.base_url, other.api_key, other.temperature) == ("b", "http://h/v1", "k", 0.3)
    assert other.context is None


def test_another_provider_takes_nothing_over_from_the_file():
    other = chosen(ModelConfig("custom", "a", base_url="http://h/v1", api_key="secret"), "ollama:b")
    assert (other.base_url, other.api_key) == ("http://127.0.0.1:11434/v1", None)


def test_a_name_of_the_catalogue_needs_no_provider():
    assert str(chosen(None, "qwen2.5-coder-0.5b")) == "local:qwen2.5-coder-0.5b"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("olama:llama3", "Did you mean `ollama:llama3`?"),
        ("llama3.2:3b", "Such as `ollama:llama3.2:3b`."),
        ("gpt-4o", "Such as `ollama:gpt-4o`."),
        ("ollama:", "`-m` names no model: `ollama:`.\nWrite `ollama:MODEL`."),
        ("ollama::", "`-m` names no model: `ollama::`.\nWrite `ollama:MODEL`."),
        ("ollama", "`-m` names no model: `ollama`.\nWrite `ollama:MODEL`."),
        ("scripted:", "`-m` names no script: `scripted:`.\nWrite `scripted:FILE`."),
        (":", "`-m` names no provider: `:`; known are `local:`, "),
        (":", "\nSuch as `ollama:MODEL`."),
        ("  ", "\nSuch as `ollama:MODEL`."),
        (":x", "`-m` names no provider: `:x`; known are "),
        (":x", "\nSuch as `ollama:x`."),
        ("gpt-4o:", "\nSuch as `ollama:gpt-4o`."),
        ("Ollama:", "\nDid you mean `ollama:MODEL`?"),
    ],
)
def test_a_wrong_name_is_a_usage_error_with_the_nearest(text, words):
    with pytest.raises(UsageError) as caught:
        chosen(None, text)
    assert words in str(caught.value)
    assert "`-m`" in str(caught.value)


def test_a_model_name_may_hold_colons_and_slashes():
    assert chosen(None, "ollama:qwen2.5-coder:7b").name == "qwen2.5-coder:7b"
    assert chosen(None, "openrouter:a/b:free", OPENROUTER_API_KEY="k").name == "a/b:free"


@pytest.mark.parametrize(
    ("provider", "url"), [("llamacpp", "http://127.0.0.1:8080/v1"), ("lmstudio", "http://127.0.0.1:1234/v1")]
)
def test_local_servers_are_found_where_they_listen_by_default(provider, url):
    assert chosen(None, f"{provider}:m").base_url == url


def test_openai_takes_its_address_and_key_from_the_environment():
    model = chosen(None, "openai:m", OPENAI_API_KEY=" k ", OPENAI_BASE_URL="http://proxy/v1")
    assert (model.base_url, model.api_key, model.key_variables) == ("http://proxy/v1", "k", ("OPENAI_API_KEY",))


def test_a_key_of_the_environment_is_not_sent_to_an_address_of_the_agent_file():
    model = chosen(ModelConfig("openai", "m", base_url="http://elsewhere/v1"), OPENAI_API_KEY="k")
    assert model.api_key is None


@pytest.mark.parametrize(("name", "variable"), [("openai:m", "OPENAI_API_KEY"), ("openrouter:m", "OPENROUTER_API_KEY")])
def test_a_missing_key_is_told_with_its_variable(name, variable):
    with pytest.raises(MMError) as caught:
        chosen(None, name)
    assert f"Set {variable}" in caught.value.hint


def test_a_script_of_the_agent_file_starts_at_its_folder(tmp_path):
    model = resolve(ModelConfig("scripted", "a.yaml"), override=None, environ={}, folder=tmp_path)
    assert model.name == str(tmp_path / "a.yaml")


def test_weights_of_the_agent_file_start_at_its_folder_and_those_of_a_flag_where_mm_was_started(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")

    def name(written, override=None):
        return resolve(ModelConfig("local", written), override=override, environ={}, folder=tmp_path).name

    assert name("./models/m.gguf") == str(tmp_path / "models/m.gguf")
    assert name("~/m.gguf") == "/home/me/m.gguf"
    assert name("qwen2.5-coder-0.5b") == "qwen2.5-coder-0.5b"
    assert name("./m.gguf", override="local:./other.gguf") == "./other.gguf"
    assert name("./m.gguf", override="local:./m.gguf") == "./m.gguf"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("example.com", "http://example.com:11434/v1"),
        ("example.com:80", "http://example.com:80/v1"),
        (":5000", "http://127.0.0.1:5000/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:5000", "http://127.0.0.1:5000/v1"),
        ("http://example.com", "http://example.com:80/v1"),
        ("https://example.com", "https://example.com:443/v1"),
        ("https://example.com:99/ollama/", "https://example.com:99/ollama/v1"),
        ("http://example.com:1/v1", "http://example.com:1/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("[::]:5000", "http://[::1]:5000/v1"),
        ("::1", "http://[::1]:11434/v1"),
        (' "example.com:7" ', "http://example.com:7/v1"),
        ("example.com:notaport", "http://example.com:11434/v1"),
        ("example.com:99999", "http://example.com:11434/v1"),
    ],
)
def test_ollama_host_is_read_in_all_its_forms(host, url):
    assert ollama_url(host) == url


def test_each_provider_has_a_class_and_only_that_is_loaded(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("- hello\n")
    assert providers.create(ModelConfig("scripted", str(script))).label == f"scripted:{script}"
    model = providers.create(ModelConfig("custom", "m", base_url="http://127.0.0.1:1/v1"))
    assert model.label == "custom:m"
    model.close()
