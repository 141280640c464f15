"""The result of an MCP tool as output in words: text as it is, everything else named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from mm.messages import JSON, Outcome
from mm.tools.spec import Output

_NO_RESULT = "The MCP server `{}` answered with something that is no result of a tool: {}"
_FAILED = "(the tool says that it failed, and not why)"
_LONGEST_COMPARED = 200_000  # characters of structured content that are looked for in the text


def as_output(server: str, result: JSON) -> Output:
    """What the server's answer to `tools/call` says. Blocks that are no text are counted by kind, not shown."""
    content = result.get("content", []) if isinstance(result, dict) else None
    if not isinstance(content, list):
        return Output.reply(Outcome.FAILED, _NO_RESULT.format(server, json.dumps(result)[:500]))
    texts = [text for block in content for text in _texts(block)]
    named = [f"[{count} {kind}, not shown]" for kind, count in Counter(_unshown(content)).items()]
    structured = result.get("structuredContent")
    if structured is not None and not _is_told(structured, "\n".join(texts)):
        texts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join([*texts, *named])
    if result.get("isError") is True:
        return Output.text(Outcome.FAILED, text or _FAILED)
    return Output.text(Outcome.OK, text)


def _texts(block: JSON) -> Iterator[str]:
    """What of a block is text."""
    if not isinstance(block, dict):
        return
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        yield block["text"]
    elif block.get("type") == "resource_link":
        yield " ".join(["[resource:", *_words(block, "title", "name", "uri", "description")]) + "]"
    elif block.get("type") == "resource" and isinstance(_resource(block).get("text"), str):
        yield f"[resource: {_resource(block).get('uri', '')}]\n{_resource(block)['text']}"


def _unshown(content: list[JSON]) -> Iterator[str]:
    """The kinds of the blocks that `_texts` gives nothing for."""
    for block in content:
        if any(True for _ in _texts(block)):
            continue
        kind = block.get("type") if isinstance(block, dict) else None
        media = block.get("mimeType") if isinstance(block, dict) else None
        if kind in ("image", "audio"):
            yield f"{media if isinstance(media, str) and media else kind} block"
        elif kind == "resource":
            where = " ".join(_words(_resource(block), "uri"))
            yield f"{' '.join(_words(_resource(block), 'mimeType')) or 'resource'} block ({where})"
        else:
            yield f"block of the unknown type {kind!r}"


def _resource(block: Mapping[str, JSON]) -> Mapping[str, JSON]:
    resource = block.get("resource")
    return resource if isinstance(resource, dict) else {}


def _words(record: Mapping[str, JSON], *keys: str) -> list[str]:
    found = dict.fromkeys(record[key] for key in keys if isinstance(record.get(key), str) and record[key])
    return [str(text) for text in found]


def _is_told(structured: JSON, text: str) -> bool:
    """Whether the text already says all that the structured content does, in whatever form."""
    if not text.strip():
        return False
    if len(json.dumps(structured)) > _LONGEST_COMPARED:
        return True
    return all(leaf in text or json.dumps(leaf)[1:-1] in text for leaf in _leaves(structured))


def _leaves(value: JSON) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif isinstance(value, bool):
        yield from ()  # True, true, yes: said in too many ways to look for
    elif value is not None:
        yield value if isinstance(value, str) else json.dumps(value)
