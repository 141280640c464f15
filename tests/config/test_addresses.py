"""Addresses as a person is shown them."""

from __future__ import annotations

import pytest

from mm.config.addresses import plain_address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/mcp", "https://host/mcp"),
        ("https://host:8080/@scope/mcp", "https://host:8080/@scope/mcp"),
        ("http://[::1]:8080/a:b@c", "http://[::1]:8080/a:b@c"),
        ("https://ann:sesame@host/mcp", "https://host/mcp"),
        ("https://sesame@host/mcp", "https://host/mcp"),
        ("https://:sesame@host", "https://host"),
        ("https://ann:se/sa?me#@host/mcp", "https://host/mcp"),
        ("https://ann:ses@me@host/mcp", "https://host/mcp"),
        ("https://ann:sesame@[::1]:80/mcp", "https://[::1]:80/mcp"),
        ("https://host/mcp?key=sesame&a=b", "https://host/mcp"),
        ("https://host/mcp#token=sesame", "https://host/mcp"),
        ("https://${HOST}/mcp?key=${KEY}", "https://${HOST}/mcp"),
        ("host/mcp?key=sesame", "host/mcp"),
    ],
)
def test_neither_user_nor_password_nor_query_of_an_address_is_shown(url: str, shown: str) -> None:
    assert plain_address(url) == shown
