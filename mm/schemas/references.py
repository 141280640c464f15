"""Local references of a schema: `#` or `#/pointer`, read by RFC 3986 and RFC 6901. Nothing is ever fetched."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

from mm.messages import JSON
from mm.schemas.keywords import Tokens

_INDEX = re.compile(r"0|[1-9][0-9]*")
_BAD_ESCAPE = re.compile(r"~(?![01])")


class BadReferenceError(Exception):
    """A reference that leads nowhere in its document. `hint` is the edit that mends it."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def pointer(tokens: Tokens) -> str:
    """`#/a/b` for the tokens, escaped by RFC 6901 but not percent-encoded."""
    return "#" + "".join("/" + escape(token) for token in tokens)


def escape(token: str | int) -> str:
    return str(token).replace("~", "~0").replace("/", "~1")


def reference(tokens: Tokens) -> str:
    """A `$ref` to the tokens: the pointer, percent-encoded."""
    return "#" + "".join("/" + quote(escape(token), safe="~") for token in tokens)


def find(document: JSON, ref: JSON, own_id: str = "") -> Tokens:
    """The tokens that lead from the root to what a `$ref` means. Raises BadReferenceError.

    `own_id` is the document's `$id`: a reference that starts with it is local after all.
    """
    if not isinstance(ref, str):
        raise BadReferenceError("`$ref` must be a text", 'write it as "#/$defs/Name"')
    fragment = _fragment(ref, own_id)
    if fragment and not fragment.startswith("/"):
        raise BadReferenceError(f"`{ref}` names an anchor, which is not supported", 'write it as "#/$defs/Name"')
    tokens: list[str | int] = []
    node = document
    for raw in fragment.split("/")[1:]:
        if _BAD_ESCAPE.search(raw):
            raise BadReferenceError(
                f"`{ref}` has a `~` that is neither `~0` nor `~1`", "write `~` as `~0` and `/` as `~1`"
            )
        token = _step(node, raw.replace("~1", "/").replace("~0", "~"), ref)
        tokens.append(token)
        node = node[token]
    if not isinstance(node, (dict, bool)):
        raise BadReferenceError(f"`{ref}` points at something that is not a schema", "point it at a schema")
    return tuple(tokens)


def _fragment(ref: str, own_id: str) -> str:
    if own_id and ref.startswith(own_id.rstrip("#") + "#"):
        ref = ref[len(own_id.rstrip("#")) :]
    if ref and not ref.startswith("#"):
        raise BadReferenceError(
            f"`{ref}` is outside of this schema, and nothing is ever fetched",
            "copy what it refers to under `$defs` and refer to that",
        )
    try:
        return unquote_to_bytes(ref[1:]).decode("utf-8")
    except UnicodeDecodeError:
        raise BadReferenceError(f"`{ref}` is not UTF-8 once percent-decoded", "write it as UTF-8") from None


def _step(node: JSON, token: str, ref: str) -> str | int:
    if isinstance(node, dict) and token in node:
        return token
    if isinstance(node, list) and _INDEX.fullmatch(token) and len(token) < 10 and int(token) < len(node):
        return int(token)
    raise BadReferenceError(f"`{ref}` points at nothing: there is no `{token}`", "correct the name, or define it")
