"""Reads `model`: `provider:model`, or a mapping."""

from __future__ import annotations

import re

from mm.config.keys import MODEL, PROVIDERS
from mm.config.near import nearest
from mm.config.nodes import Node, Scalar, to_json
from mm.config.reader import Fields, Reader
from mm.config.schema import ModelConfig
from mm.messages import JSON

CUSTOM = "custom"
"""The provider of a mapping that says only where the server listens."""


def read_model(reader: Reader, node: Node | None) -> ModelConfig | None:
    if node is None:
        return None
    if isinstance(node, Scalar):
        return _from_text(reader, node, reader.text(node, "model"))
    return _from_mapping(reader, node, reader.fields(node, MODEL))


def _from_text(reader: Reader, node: Node, text: str) -> ModelConfig | None:
    provider, name = _split(text)
    if provider and name:
        return ModelConfig(provider, name)
    if isinstance(node, Scalar) and node.is_null:
        return None
    before = text.partition(":")[0]
    if before in PROVIDERS:
        message, hint = _nameless("model", text, before)
    else:
        message = f"`model: {text}` does not say who serves it; providers are {_known()}"
        likely = likely_model(text)
        hint = f"Write `model: {likely}`"
        hint += "." if nearest(before, PROVIDERS) else ", or `model: {name: …, base_url: …}`."
    reader.problem(node, message, hint)
    return None


def likely_model(text: str) -> str:
    """A model as it has to be written: with the provider that is near what stands before it, or that has such names."""
    bare = text.strip(" :") or "NAME"
    before, separator, name = re.sub(r"\s*[:/]\s*", ":", bare, count=1).partition(":")
    near = nearest(before, PROVIDERS)
    if separator and near and name:
        return f"{near}:{name}"
    if bare.startswith(("claude", "gemini")):
        return f"openrouter:{'anthropic' if bare.startswith('claude') else 'google'}/{bare}"
    if "/" in bare:
        return f"openrouter:{bare}"
    if re.match(r"(gpt|chatgpt|o[1-9])\b", bare):
        return f"openai:{bare}"
    return f"local:{bare}" if re.match(r"qwen2\.5-coder-[0-9.]+b$", bare) else f"ollama:{bare}"


def _split(text: str) -> tuple[str, str]:
    provider, _, name = text.partition(":")
    return (provider, name.strip() if name.strip(" :") else "") if provider in PROVIDERS else ("", text)


def _nameless(key: str, text: str, provider: str) -> tuple[str, str]:
    """What is wrong with `provider:` alone, and the edit that mends it."""
    what, wanted = ("script", "FILE") if provider == "scripted" else ("model", "NAME")
    return f"`{key}: {text}` names no {what}", f"Write `{key}: {provider}:{wanted}`."


def _known() -> str:
    return ", ".join(f"`{name}:`" for name in PROVIDERS if name != "scripted")


def _from_mapping(reader: Reader, node: Node, fields: Fields) -> ModelConfig | None:
    written = reader.text(fields.get("name"), "name")
    provider, name = _split(written)
    if "provider" in fields:
        hint = "Remove it, and write `base_url:` with the address of its server, as in `https://host/v1`."
        stated = reader.choice(fields["provider"], "provider", PROVIDERS, provider or CUSTOM, otherwise=hint)
        provider, name = (stated, name) if provider == stated else (stated, written)
    if not name and "name" in fields and not written.strip():
        reader.problem(fields["name"], "`name` of the model is empty", "Write `name: ollama:NAME`.")
    elif not name and provider in PROVIDERS and "name" in fields:
        reader.problem(fields["name"], *_nameless("name", written, provider))
    base_url = read_url(reader, fields.get("base_url"), "base_url")
    if written and not provider and "base_url" not in fields:
        hint = f"Write `name: {likely_model(written)}`, or add `base_url:`."
        reader.problem(fields["name"], f"`{written}` does not say who serves it; providers are {_known()}", hint)
    key, key_variables = reader.expanded(fields.get("api_key"), "api_key")
    if key and not key_variables:
        reader.warn(fields["api_key"], "`api_key` stands in the file itself; write it as `${VARIABLE}`")
    headers, header_variables = reader.expanded_map(fields.get("headers"), "headers")
    return ModelConfig(
        provider=provider or CUSTOM,
        name=name,
        base_url=base_url,
        api_key=key or None,
        key_variables=(*key_variables, *header_variables),  # a header may carry a key as well
        temperature=reader.number(fields.get("temperature"), "temperature", 0, 2),
        max_tokens=reader.integer(fields.get("max_tokens"), "max_tokens", 1, 10_000_000),
        context=reader.integer(fields.get("context"), "context", 512, 100_000_000),
        headers=headers,
        extra=_extra(reader, fields.get("extra")),
    )


def read_url(reader: Reader, node: Node | None, key: str) -> str | None:
    """An http or https address; problems never show what a variable held."""
    if node is None:
        return None
    known = len(reader.problems)
    url, variables = reader.expanded(node, key)
    if not url or (reader.environ is None and variables) or len(reader.problems) > known:
        return url or None
    scheme, separator, rest = url.partition("://")
    if scheme.lower() not in ("http", "https") or not separator or not rest.strip("/") or any(c.isspace() for c in url):
        reader.problem(node, f"`{key}` is no address", f"Write it as `{key}: {_address(node, url, bool(variables))}`.")
    return url


def _address(node: Node, url: str, is_secret: bool) -> str:
    """The address that is meant by one without `https://`; what a variable held is not told."""
    text = node.text if is_secret and isinstance(node, Scalar) else url
    bare = re.sub(r"^\w*:?//", "", "".join(text.split())).strip("/")
    if is_secret or not re.fullmatch(r"[\w.-]+(:[0-9]+)?(/.*)?", bare):
        return "https://host/path"
    is_near = re.match(r"(localhost|127\.|10\.|192\.168\.)", bare) is not None
    return f"{'http' if is_near else 'https'}://{bare}"


def _extra(reader: Reader, node: Node | None) -> dict[str, JSON]:
    return {name: to_json(value) for name, value in reader.mapping(node, "extra").items()}
