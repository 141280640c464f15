"""Which model a run asks, and the class that asks it."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mm.config.schema import ModelConfig
from mm.errors import MMError, UsageError
from mm.folders import with_home
from mm.models.model import Model

DEFAULT = ModelConfig("local", "qwen2.5-coder-1.5b")

_HTTP = "mm.models.openai:OpenAIModel"
_CLASSES = {
    "local": "mm.models.local:LocalModel",
    "ollama": _HTTP,
    "llamacpp": _HTTP,
    "lmstudio": _HTTP,
    "openai": _HTTP,
    "openrouter": _HTTP,
    "scripted": "mm.models.scripted:ScriptedModel",
}
PROVIDERS = tuple(_CLASSES)
_BASE_URLS = {
    "llamacpp": "http://127.0.0.1:8080/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
_URL_VARIABLES = {"openai": "OPENAI_BASE_URL", "openrouter": "OPENROUTER_BASE_URL"}
_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
_LOCAL_NAMES = re.compile(r"qwen2\.5-coder-[\w.]+\Z")


def resolve(
    config: ModelConfig | None,
    *,
    override: str | None,
    environ: Mapping[str, str],
    folder: Path | None = None,
) -> ModelConfig:
    """The model to ask, with its address and key: `override` (-m), else MM_MODEL, else the agent file, else DEFAULT.

    A key in the environment goes only to its provider's own address (or the one in the provider's own variable),
    never to a `base_url` of an agent file: that one gets the `api_key` that stands beside it. A path in the
    agent file starts at `folder`. Raises UsageError for a wrong name, MMError for a missing key.
    """
    wanted = override or environ.get("MM_MODEL", "").strip()
    if wanted:
        source = "`-m`" if override else "`MM_MODEL`"
        chosen = _overridden(config, parse(wanted, source, own=config.provider if config else ""))
    else:
        chosen = _anchored(config, folder) if config is not None else DEFAULT
    if chosen.provider not in PROVIDERS and not chosen.base_url:
        raise _unknown(chosen.provider, str(chosen), "`model`")
    return _with_key(_with_address(chosen, environ), environ)


def create(config: ModelConfig) -> Model:
    """The model itself. `config` comes from `resolve`."""
    # httpx has a command line of its own that loads rich and pygments, which takes longer than httpx itself.
    # It does without where these are not installed, and so it does here.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    module, _, name = _CLASSES.get(config.provider, _HTTP).partition(":")
    made: Model = getattr(importlib.import_module(module), name)(config)
    return made


def parse(text: str, source: str, *, own: str = "") -> ModelConfig:
    """`provider:model` as the user wrote it; `source` names where, for the error. `own` is one more known provider."""
    provider, colon, name = text.strip().partition(":")
    if not colon and _LOCAL_NAMES.match(provider):
        return ModelConfig("local", provider)
    if provider not in (*PROVIDERS, own or DEFAULT.provider):
        raise _unknown(provider, text.strip(), source)
    if not name.strip(" :"):
        what, wanted = ("script", "FILE") if provider == "scripted" else ("model", "MODEL")
        raise UsageError(f"{source} names no {what}: `{text}`.", f"Write `{provider}:{wanted}`.")
    return ModelConfig(provider, name.strip())


def ollama_url(host: str) -> str:
    """OLLAMA_HOST in all its forms (host, host:port, :port, URL, 0.0.0.0, IPv6) → base URL."""
    text = host.strip().strip("\"'").strip()
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    port = {"http": "80", "https": "443"}.get(scheme.lower(), "11434") if separator else "11434"
    address, _, path = rest.partition("/")
    name, given = _split_port(address)
    if given.isdecimal() and int(given) <= 65535:
        port = given
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    base = f"{scheme.lower()}://{f'[{name}]' if ':' in name else name}:{port}/{path}".rstrip("/")
    return base if base.endswith("/v1") else f"{base}/v1"


def _split_port(address: str) -> tuple[str, str]:
    """Host and port ("" if there is none) of an address; an IPv6 host may stand bare or in brackets."""
    if address.startswith("["):
        name, _, rest = address[1:].partition("]")
        return name, rest.removeprefix(":")
    if address.count(":") > 1:
        return address, ""
    name, _, port = address.partition(":")
    return name, port


def _overridden(config: ModelConfig | None, chosen: ModelConfig) -> ModelConfig:
    """Another model of the same provider keeps the address, key and settings of the agent file."""
    if config is None or config.provider != chosen.provider:
        return chosen
    return config if config.name == chosen.name else replace(config, name=chosen.name, context=None)


def _anchored(config: ModelConfig, folder: Path | None) -> ModelConfig:
    is_path = config.provider == "scripted" or (config.provider == "local" and config.name.endswith(".gguf"))
    if not is_path or folder is None:
        return config
    return replace(config, name=str(folder / with_home(config.name)))


def _with_address(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    if config.base_url or config.provider in ("local", "scripted"):
        return config
    if config.provider == "ollama":
        return replace(config, base_url=ollama_url(environ.get("OLLAMA_HOST", "")))
    variable = _URL_VARIABLES.get(config.provider, "")
    url = environ.get(variable, "").strip() or _BASE_URLS[config.provider]
    return _with_environment_key(replace(config, base_url=url), environ)


def _with_environment_key(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    variable = _KEY_VARIABLES.get(config.provider, "")
    key = environ.get(variable, "").strip()
    if config.api_key or not key:
        return config
    return replace(config, api_key=key, key_variables=(*config.key_variables, variable))


def _with_key(config: ModelConfig, environ: Mapping[str, str]) -> ModelConfig:
    variable = _KEY_VARIABLES.get(config.provider)
    if variable and not config.api_key and config.base_url == _BASE_URLS[config.provider]:
        hint = f"Set {variable}, or another model with -m (such as `{DEFAULT}`)."
        raise MMError(f"`{config}` needs a key, and {variable} is not set.", hint)
    return config


def _unknown(provider: str, text: str, source: str) -> UsageError:
    known = ", ".join(f"`{name}:`" for name in PROVIDERS if name != "scripted")
    near = difflib.get_close_matches(provider.lower(), PROVIDERS, n=1, cutoff=0.75)
    if near:
        hint = f"Did you mean `{near[0]}:{text.partition(':')[2].strip(' :') or 'MODEL'}`?"
    else:
        hint = f"Such as `ollama:{text.strip(' :') or 'MODEL'}`."
    wrong = f"{source}: `{provider}` is not a provider" if provider else f"{source} names no provider: `{text}`"
    return UsageError(f"{wrong}; known are {known}.", hint)
