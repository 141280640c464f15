"""What is offered while a message is typed."""

from __future__ import annotations

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from mm.terminal.completion import ChatCompleter


def offered(typed: str) -> list[str]:
    return [found.text for found in ChatCompleter().get_completions(Document(typed), CompleteEvent())]


def test_a_command_is_offered_by_its_name_before_others_by_another_name() -> None:
    assert offered("/c") == ["/clear", "/compact", "/cost"]


def test_what_follows_a_command_is_offered_behind_it_alone() -> None:
    completer = ChatCompleter(lambda command: [("local:a", "here"), ("ollama:", "")] if command == "model" else ())

    def after(typed: str) -> list[str]:
        return [found.text for found in completer.get_completions(Document(typed), CompleteEvent())]

    assert after("/model ") == ["local:a", "ollama:"]
    assert after("/model o") == ["ollama:"]
    assert after("/clear ") == after("/model ollama: o") == after("a /model o") == []


def test_a_command_is_offered_once() -> None:
    everything = offered("/")
    assert len(everything) == len(set(everything)) and "/help" in everything and "/cost" not in everything
