"""`mm completion`: the lines that teach a shell to complete commands, options, tools, models and sessions."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from mm.cli.bash_words import register
from mm.cli.streams import show, tell

_SHELLS = {
    "bash": 'eval "$(mm completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(mm completion zsh)"   in ~/.zshrc, behind compinit',
    "fish": "mm completion fish > ~/.config/fish/completions/mm.fish",
}
_VARIABLE = "_MM_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice([*_SHELLS]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    bash:  eval "$(mm completion bash)"   in ~/.bashrc
    zsh:   eval "$(mm completion zsh)"    in ~/.zshrc, behind compinit
    fish:  mm completion fish > ~/.config/fish/completions/mm.fish
    """
    register()
    kind = get_completion_class(shell)
    assert kind is not None, "click knows these shells"
    show(kind(context.find_root().command, {}, "mm", _VARIABLE).source())
    if sys.stdout.isatty():
        tell(f"To have it in every new shell: {_SHELLS[shell]}")
