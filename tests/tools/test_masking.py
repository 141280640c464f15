"""What is left of a text that is kept or shown in passing."""

from __future__ import annotations

import pytest

from mm.tools.masking import mask_secrets


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("npx -y server /srv/papers", "npx -y server /srv/papers"),
        ("pg postgres://ann:sesame@db/x?sslkey=sesame", "pg postgres://…@db/x?…"),
        ("curl 'https://h/x?a=sesame' -o y", "curl 'https://h/x?…' -o y"),
        ("curl https://h/x?a=1;rm y && cat <z", "curl https://h/x?…;rm y && cat <z"),
        ("curl http://localhost:80/@a/b", "curl http://localhost:80/@a/b"),
        ("export GH_TOKEN=sesame MODE=fast", "export GH_TOKEN=… MODE=fast"),
        ("PASSWORD='open sesame' run", "PASSWORD=… run"),
        ("run --api-key=sesame --level=3", "run --api-key=… --level=3"),
        ('curl -H "Authorization: Bearer sesame"', 'curl -H "Authorization: Bearer …"'),
        ("make keyboard=1 pattern=x", "make keyboard=1 pattern=x"),
        ("", ""),
    ],
)
def test_what_stands_where_secrets_stand_is_left_out_and_nothing_else(text: str, left: str) -> None:
    assert mask_secrets(text) == left
