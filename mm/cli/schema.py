"""`mm schema`: the JSON Schema of the agent file."""

from __future__ import annotations

import json

import click

from mm.config.json_schema import json_schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the agent file, for editors.

    Save it, then start the agent file with: # yaml-language-server: $schema=FILE
    """
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
