"""Addresses as a person is shown them: without user, password, query and fragment, which may hold secrets."""

from __future__ import annotations

import re

USER = r"(?:[^\s/?#:@'\"\[]*:(?!\d+[/?#])[^\s@'\"]+@|[^\s/?#@'\"]*@)+"
"""User and password, behind `://`. A password may hold a `/`; a port with a path behind it is no password."""

_USER = re.compile(USER)
_BEHIND_PATH = re.compile(r"[?#].*", re.DOTALL)


def plain_address(url: str) -> str:
    """`https://host/path` of an address."""
    scheme, slashes, rest = url.partition("://")
    user = _USER.match(rest)
    return _BEHIND_PATH.sub("", scheme + slashes + rest[user.end() if user else 0 :])
