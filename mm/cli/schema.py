"""`mm schema`: the JSON Schema of the agent file."""

from __future__ import annotations

import click

from mm.cli.streams import show_json
from mm.config.json_schema import json_schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the agent file, for editors.

    Save it, then start the agent file with: # yaml-language-server: $schema=FILE
    """
    show_json(json_schema(), indent=2)
