"""Texts that are kept or shown in passing, without the secrets that can be told by their place."""

from __future__ import annotations

import re

from mm.config.addresses import USER
from mm.tools.environment import names_a_secret

_USER = re.compile(f"(?<=://){USER}")
_QUERY = re.compile(r"(://[^\s?#'\"`]*)\?[^\s'\"`;|<>()]+")
_VALUE = re.compile(r"(?<![\w-])(-{0,2}[A-Za-z_][\w-]*)=('[^']*'|\"[^\"]*\"|[^\s'\"`;|&<>()]+)")
_CREDENTIALS = re.compile(r"\b(Bearer|Basic)\s+[^\s'\"`]+", re.IGNORECASE)


def mask_secrets(text: str) -> str:
    """User, password and query of addresses, values of what is named like a secret, and credentials of a header."""
    text = _QUERY.sub(r"\1?…", _USER.sub("…@", text))
    return _CREDENTIALS.sub(r"\1 …", _VALUE.sub(_masked, text))


def _masked(found: re.Match[str]) -> str:
    name = found[1]
    return f"{name}=…" if names_a_secret(name.lstrip("-").replace("-", "_")) else found[0]
