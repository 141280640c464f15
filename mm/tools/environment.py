"""The environment that a program gets: mm's own, less what looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

PROVIDER_KEYS = frozenset({"OPENAI_API_KEY", "OPENROUTER_API_KEY"})
"""Variables that mm itself uses as keys."""

_SECRET_WORDS = frozenset(
    {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PAT", "CREDENTIAL", "CREDENTIALS"}
)
_SECRET_NAMES = frozenset({"MYSQL_PWD", "SSHPASS", "PGPASSWORD"})

# scheme://user:password@host. A port with a path behind it is no password.
_URL_WITH_PASSWORD = re.compile(r"://[^\s/?#:@]*:(?!\d+[/?#])[^\s@]+@")


def filter_environment(
    environ: Mapping[str, str],
    *,
    env_pass: Collection[str] = (),
    secret_variables: Collection[str] = (),
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What a tool, a hook or an MCP server may see: `environ` less secrets, but with those named in `env_pass`.

    `secret_variables` are the variables used as `api_key`; `extra` is an entry's own `env`, set on top.
    """
    held = set(held_back(environ, env_pass=env_pass, secret_variables=secret_variables))
    kept = {name: value for name, value in environ.items() if name not in held}
    return {**kept, **(extra or {})}


def held_back(
    environ: Mapping[str, str], *, env_pass: Collection[str] = (), secret_variables: Collection[str] = ()
) -> list[str]:
    """The names of `environ` that are kept from tools, sorted."""
    secret = {name.upper() for name in secret_variables}
    return sorted(
        name
        for name, value in environ.items()
        if name not in env_pass and (name.upper() in secret or names_a_secret(name) or _URL_WITH_PASSWORD.search(value))
    )


def names_a_secret(name: str) -> bool:
    """Whether a variable of this name is taken for a secret, whatever it holds."""
    upper = name.upper()
    return upper in _SECRET_NAMES or not _SECRET_WORDS.isdisjoint(upper.split("_"))


def show_variables(variables: Mapping[str, str]) -> Iterable[str]:
    """`NAME=value` for a person to read; the value of a secret is not printed."""
    for name, value in variables.items():
        hidden = names_a_secret(name) or _URL_WITH_PASSWORD.search(value)
        yield f"{name}={'(set, not shown)' if hidden else value}"
