"""What bash makes of a line: `local:name` and `key=value` are three words to it; mm's completion is to see one."""

from __future__ import annotations

from typing import Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

_RETURN = "    return 0\n}\n"
_NO_BLANK = "    [[ ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2> /dev/null\n"


class BashWords(BashComplete):
    """Completion for bash: words are put together again around `:` and `=`, and no blank follows `KEY=`."""

    source_template = BashComplete.source_template.replace(_RETURN, _NO_BLANK + _RETURN)
    _behind = 0  # characters of the word that bash takes for words before it

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is completed, and that word."""
        args, incomplete = super().get_completion_args()
        words: list[str] = []
        joins = False
        for word in [*args, incomplete]:
            splits = bool(words) and word in (":", "=")
            if splits or joins:
                words[-1] += word
            else:
                words.append(word)
            joins = splits
        last = words.pop()
        value = last.partition("=")[2] if last.startswith("-") else last
        self._behind = max(value.rfind(":"), value.rfind("=")) + 1 if last != incomplete else 0
        return words, last

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """One line for the script: the part that bash puts in place of its last word."""
        behind = self._behind if item.type == "plain" else 0
        return f"{item.type},{item.value[behind:]}"


def register() -> None:
    """Take the place of click's own completion for bash."""
    add_completion_class(BashWords)
