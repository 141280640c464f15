"""What an MCP tool gives back, as the model is told it."""

from __future__ import annotations

from typing import Any

import pytest

from mm.messages import Outcome
from mm.tools.mcp_results import as_output


def told(result: Any) -> str:
    return as_output("s", result).stdout.head.decode()


def block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_texts_are_given_as_they_are() -> None:
    assert told({"content": [block("one"), block("two")]}) == "one\ntwo"


def test_structured_content_alone_is_given_as_json() -> None:
    """(C91)"""
    assert told({"content": [], "structuredContent": {"answer": 42}}) == '{"answer": 42}'
    assert told({"structuredContent": {"answer": "é"}}) == '{"answer": "é"}'
    assert told({"content": [block("  ")], "structuredContent": {"a": 1}}) == '  \n{"a": 1}'


@pytest.mark.parametrize(
    "text, structured",
    [
        ('{\n  "answer": 42\n}', {"answer": 42}),
        ("sunny", {"result": "sunny"}),
        ("a\nb", {"result": ["a", "b"]}),
        ('{"said": "a \\"b\\"", "fine": true}', {"said": 'a "b"', "fine": True}),
    ],
)
def test_what_the_text_says_already_is_not_said_twice(text: str, structured: Any) -> None:
    assert told({"content": [block(text)], "structuredContent": structured}) == text


def test_what_only_the_structured_content_says_is_not_lost() -> None:
    assert told({"content": [block("created")], "structuredContent": {"id": 5}}) == 'created\n{"id": 5}'


def test_what_cannot_be_shown_is_named() -> None:
    """(C92)"""
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert told({"content": [image]}) == "[1 image/png block, not shown]"
    assert told({"content": [block("here"), image, image]}) == "here\n[2 image/png block, not shown]"
    assert told({"content": [{"type": "audio", "data": "", "mimeType": 3}]}) == "[1 audio block, not shown]"
    assert "unknown type 'hologram'" in told({"content": [{"type": "hologram"}]})
    assert "unknown type None" in told({"content": ["text"]})


def test_resources_are_shown_if_they_are_text_and_named_if_not() -> None:
    link = {"type": "resource_link", "name": "notes", "uri": "file:///n.txt"}
    assert told({"content": [link]}) == "[resource: notes file:///n.txt]"
    inside = {"type": "resource", "resource": {"uri": "file:///n.txt", "text": "buy milk"}}
    assert told({"content": [inside]}) == "[resource: file:///n.txt]\nbuy milk"
    blob = {"type": "resource", "resource": {"uri": "file:///n.pdf", "blob": "AA", "mimeType": "application/pdf"}}
    assert told({"content": [blob]}) == "[1 application/pdf block (file:///n.pdf), not shown]"


def test_an_error_of_the_tool_is_a_failure_even_without_a_word() -> None:
    failed = as_output("s", {"content": [block("no such city")], "isError": True})
    assert failed.outcome is Outcome.FAILED and failed.stdout.head == b"no such city"
    silent = as_output("s", {"content": [], "isError": True})
    assert silent.outcome is Outcome.FAILED and b"failed" in silent.stdout.head


@pytest.mark.parametrize("result", [None, [], "text", {"content": "text"}, {"content": {}}])
def test_an_answer_that_is_no_result_is_told_and_no_success(result: Any) -> None:
    output = as_output("s", result)
    assert output.outcome is Outcome.FAILED
    assert b"`s`" in output.stdout.head
