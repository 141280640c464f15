"""How much fits into one request: asked of the server, and seen in what it counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx

from mm.config.schema import ModelConfig
from mm.messages import JSON
from mm.models.model import OnNotice

_PATIENCE = httpx.Timeout(3.0)
_SIZES = ("context_length", "max_model_len", "loaded_context_length", "max_context_length", "n_ctx")
_REMEDY = {
    "ollama": (
        "Give it more: `OLLAMA_CONTEXT_LENGTH=16384 ollama serve`, "
        "or `PARAMETER num_ctx 16384` in a Modelfile and `ollama create`."
    ),
    "llamacpp": "Give it more: `llama-server -c 16384 …`.",
    "lmstudio": "Load the model with a larger context: `lms load MODEL --context-length 16384`.",
}
_STARTING = 503  # what llama.cpp answers while it loads the weights
_ENOUGH_WORDS = 800  # below this, templates and odd tokenizers say more than the count does


class CutWatch:
    """Notices a server that silently drops the front of a long prompt, and with it the system text and the tools.

    A token count below the number of words sent is one sign; a count that does not grow while the conversation does
    is the other. Said once.
    """

    def __init__(self, provider: str, name: str) -> None:
        self._provider = provider
        self._name = name
        self._said = False
        self._before = (0, 0)  # words sent and tokens counted last time

    def look(self, tokens: int | None, words: int, on_notice: OnNotice) -> None:
        if not tokens:
            return
        words_before, tokens_before = self._before
        self._before = (words, tokens)
        if self._said or words < _ENOUGH_WORDS:
            return
        stuck = words_before >= _ENOUGH_WORDS and words > words_before + 100 and tokens <= tokens_before
        if tokens < words * 0.7 or stuck:
            self._said = True
            on_notice(
                f"The server read {tokens} tokens of a prompt of at least {words} words: it seems to cut long prompts, "
                "and the tools may be lost to the model. "
                + _REMEDY.get(self._provider, f"Give `{self._name}` a larger context on its server.")
            )


class NotThereError(Exception):
    """The server was down, or is just starting: it may tell later."""


def ask_context_size(
    client: httpx.Client, config: ModelConfig, base_url: str, headers: Mapping[str, str]
) -> int | None:
    """Tokens that the server gives this model; None if it does not tell. Raises NotThereError."""
    ask = _ASK.get(config.provider, _from_models)
    try:
        return ask(_Asker(client, headers, base_url), config.name)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise NotThereError from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        return None


class _Asker:
    """Small JSON requests beside the completions, each with a short time limit."""

    def __init__(self, client: httpx.Client, headers: Mapping[str, str], base_url: str) -> None:
        self._client = client
        self._headers = dict(headers)
        self.base_url = base_url
        self.root = base_url.removesuffix("/v1")

    def get(self, url: str) -> JSON:
        return self._read(self._client.get(url, headers=self._headers, timeout=_PATIENCE))

    def post(self, url: str, body: JSON) -> JSON:
        return self._read(self._client.post(url, json=body, headers=self._headers, timeout=_PATIENCE))

    def _read(self, response: httpx.Response) -> JSON:
        if response.status_code == _STARTING:
            raise NotThereError
        return response.json() if response.status_code == 200 else None


def _from_llamacpp(asker: _Asker, name: str) -> int | None:
    settings = _at(asker.get(f"{asker.root}/props"), "default_generation_settings")
    return _size(_at(settings, "n_ctx"))


def _from_ollama(asker: _Asker, name: str) -> int | None:
    """What a loaded model really has, else the `num_ctx` of its Modelfile. The model's own maximum is not used."""
    for entry in _items(_at(asker.get(f"{asker.root}/api/ps"), "models")):
        if name in (entry.get("name"), entry.get("model")) or f"{name}:latest" == entry.get("name"):
            return _size(entry.get("context_length"))
    parameters = _at(asker.post(f"{asker.root}/api/show", {"model": name}), "parameters")
    found = re.search(r"^\s*num_ctx\s+(\d{1,9})\s*$", parameters, re.MULTILINE) if isinstance(parameters, str) else None
    return int(found.group(1)) if found else None


def _from_lmstudio(asker: _Asker, name: str) -> int | None:
    for entry in _items(_at(asker.get(f"{asker.root}/api/v0/models"), "data")):
        if entry.get("id") == name:
            return _size(entry.get("loaded_context_length")) or _size(entry.get("max_context_length"))
    return None


def _from_models(asker: _Asker, name: str) -> int | None:
    """From the list of models, where many servers add it."""
    for entry in _items(_at(asker.get(f"{asker.base_url}/models"), "data")):
        if entry.get("id") == name:
            places = (entry, _at(entry, "meta") or {})
            return next((size for place in places for key in _SIZES if (size := _size(place.get(key)))), None)
    return None


_ASK = {
    "llamacpp": _from_llamacpp,
    "ollama": _from_ollama,
    "lmstudio": _from_lmstudio,
    "openai": _from_models,
}


def _at(value: JSON, key: str) -> JSON:
    return value.get(key) if isinstance(value, dict) else None


def _items(value: JSON) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _size(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
