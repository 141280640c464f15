"""An argv template as words, for those who look for what is wrong in it."""

from __future__ import annotations

from pathlib import Path

from mm.config.schema import CommandTool, Group, Literal, Template


def templates_of(tool: CommandTool) -> list[Template]:
    """Every text of `command` behind the program, groups opened, in order."""
    found: list[Template] = []
    for argument in tool.arguments:
        if isinstance(argument, Template):
            found.append(argument)
        elif isinstance(argument, Group):
            found.extend(argument.entries)
    return found


def words_of(tool: CommandTool) -> list[str]:
    """Program and arguments as texts, placeholders as `{{x}}`."""
    return [Path(tool.program).name, *map(text_of, templates_of(tool))]


def text_of(template: Template) -> str:
    return "".join(
        piece.text if isinstance(piece, Literal) else f"{{{{{piece.parameter}}}}}" for piece in template.pieces
    )
