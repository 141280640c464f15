"""Which variables a tool, a hook or a server gets to see (C73)."""

from __future__ import annotations

import pytest

from mm.tools.environment import filter_environment, held_back, show_variables

SECRET = """
OPENAI_API_KEY openai_api_key GH_TOKEN APIKEY MY_APIKEY_2 AWS_SECRET_ACCESS_KEY DB_PASSWORD DB_PASSWD LDAP_PASS
GITHUB_PAT GOOGLE_CREDENTIALS X_CREDENTIAL Token MYSQL_PWD SSHPASS PGPASSWORD pgpassword
"""
HARMLESS = "PATH HOME PWD MONKEY KEYBOARD PATTERN COMPASS SSH_AUTH_SOCK MAX_TOKENS TOKENIZER LANG"


@pytest.mark.parametrize("name", SECRET.split())
def test_a_name_with_a_secret_word_is_held_back(name: str) -> None:
    assert held_back({name: "x"}) == [name]


@pytest.mark.parametrize("name", HARMLESS.split())
def test_a_name_that_only_looks_a_little_like_it_passes(name: str) -> None:
    assert held_back({name: "x"}) == []


@pytest.mark.parametrize(
    ("value", "held"),
    [
        ("postgres://ann:pw@db/x", True),
        ("see redis://:pw@host:6379/0", True),
        ("http://user:p/w@proxy:8080", True),
        ("https://user@host/x", False),
        ("http://localhost:4873/@scope/x", False),
        ("http://host:80", False),
        ("C:/x@y", False),
    ],
)
def test_a_url_with_a_password_in_it_is_held_back(value: str, held: bool) -> None:
    assert held_back({"SERVICE_URL": value}) == (["SERVICE_URL"] if held else [])


def test_the_variable_of_the_model_s_key_is_held_back_whatever_its_name() -> None:
    assert held_back({"MODEL_LOGIN": "x", "HOME": "/"}, secret_variables={"MODEL_LOGIN"}) == ["MODEL_LOGIN"]


def test_only_named_secrets_are_let_through() -> None:
    environ = {"GH_TOKEN": "a", "NPM_TOKEN": "b", "HOME": "/"}
    assert filter_environment(environ, env_pass=["GH_TOKEN"]) == {"GH_TOKEN": "a", "HOME": "/"}
    assert filter_environment(environ, extra={"NPM_TOKEN": "c"}) == {"NPM_TOKEN": "c", "HOME": "/"}


def test_a_person_is_shown_names_but_no_secrets() -> None:
    shown = list(show_variables({"MODE": "fast", "GH_TOKEN": "abc", "DB": "pg://a:b@c"}))
    assert shown == ["MODE=fast", "GH_TOKEN=(set, not shown)", "DB=(set, not shown)"]
