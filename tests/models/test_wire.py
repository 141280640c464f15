"""What comes over the wire, and the one reading that each of its many forms has."""

import json
import time

import pytest

from mm.messages import Finish, Reply, ToolCall, Usage
from mm.models.model import Delta
from mm.models.sse import EventReader
from mm.models.wire import DeadStreamError, ReplyReader, WireError

DONE = b"data: [DONE]\n\n"


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: object, finish: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def tools(*entries: object) -> bytes:
    return chunk({"tool_calls": list(entries)})


def piece(index=None, id=None, name=None, arguments=None) -> dict:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**entry, "function": function}


def read(*parts: bytes, names=("f", "g"), end: bytes = chunk({}, "stop") + DONE) -> Reply:
    """The reply, which must be the same in one piece and byte by byte."""
    data = b"".join(parts) + end
    whole, single = ReplyReader(names), ReplyReader(names)
    shown = whole.feed(data)
    last, reply = whole.end()
    bits = [delta for position in range(len(data)) for delta in single.feed(data[position : position + 1])]
    more, again = single.end()
    assert shape(again) == shape(reply)
    assert gather(bits + more) == gather(shown + last)
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    assert all(call.id for call in reply.calls)
    return reply


def gather(deltas: list[Delta]) -> tuple[str, str]:
    return tuple("".join(delta.text for delta in deltas if delta.reasoning is kind) for kind in (False, True))


def shape(reply: Reply) -> tuple:
    return reply.text, reply.reasoning, calls(reply), reply.finish, reply.usage


def calls(reply: Reply) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in reply.calls]


def fail(*parts: bytes) -> WireError:
    reader = ReplyReader()
    with pytest.raises(WireError) as caught:
        reader.feed(b"".join(parts))
        reader.end()
    return caught.value


# --- text


def test_pieces_of_text_make_one_text_and_the_usage_is_kept():
    end = chunk({}, "stop") + event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}) + DONE
    assert read(chunk({"role": "assistant", "content": "Hel"}), chunk({"content": "lo"}), end=end) == Reply(
        text="Hello", usage=Usage(7, 2)
    )


@pytest.mark.parametrize(
    "odd",
    [
        event({"choices": [], "usage": {"prompt_tokens": 1}}),
        event({"usage": {"prompt_tokens": 1}}),
        event({"choices": None}),
        event({}),
        event([]),
        event(None),
        event({"choices": [{"delta": None}]}),
        event({"choices": [None]}),
        event({"choices": [{"index": 0}]}),
        chunk({"content": None, "tool_calls": None}),
        chunk({"role": "assistant", "content": ""}),
        b": keep-alive\n\n",
        b"event: ping\ndata: {}\n\n",
        b"id: 3\nretry: 10\n\n",
        b"data:\n\n",
        b"\n\n\n",
    ],
)
def test_a_chunk_without_anything_in_it_is_skipped(odd):
    """(C50)"""
    assert read(odd, chunk({"content": "a"}), odd, chunk({"content": "b"})).text == "ab"


def test_crlf_lines_no_space_after_the_colon_and_no_blank_lines_are_read():
    body = b'data:{"choices":[{"delta":{"content":"a"}}]}\r\ndata: {"choices":[{"delta":{"content":"b"}}]}\r\n'
    assert read(body).text == "ab"
    assert read(body.replace(b"\r\n", b"\r")).text == "ab"


def test_an_event_in_several_data_lines_is_one_event():
    assert read(b'data: {"choices":\ndata: [{"delta":{"content":"a"}}]}\n\n').text == "a"


def test_characters_split_between_chunks_are_whole():
    assert read(b'data: {"choices":[{"delta":{"content":"\xe2\x82\xac \xf0\x9f\xa6\x8a"}}]}\n\n').text == "€ 🦊"
    assert read(chunk({"content": "\ud83e"}), chunk({"content": "\udd8a!"})).text == "🦊!"


def test_half_a_character_is_replaced():
    assert read(chunk({"content": "a\ud83e"})).text == "a\ufffd"


def test_content_as_a_list_of_parts_is_its_text():
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}]
    reply = read(chunk({"content": parts}))
    assert (reply.text, reply.reasoning) == ("ab", "hm")


def test_a_stream_without_done_or_without_finish_reason_is_whole():
    assert read(chunk({"content": "a"}), end=chunk({}, "stop")).text == "a"
    assert read(chunk({"content": "a"}), end=DONE).text == "a"
    assert read(chunk({"content": "a"}), end=chunk({}, "stop").rstrip()).text == "a"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MODEL_LENGTH"])
def test_a_reply_cut_by_the_token_limit_says_so(reason):
    assert read(chunk({"content": "a"}), end=chunk({}, reason) + DONE).finish is Finish.LENGTH


# --- reasoning


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_content_is_not_part_of_the_answer(key):
    reply = read(chunk({key: "Let me "}), chunk({key: "see."}), chunk({"content": "42"}))
    assert (reply.text, reply.reasoning) == ("42", "Let me see.")


def test_reasoning_sent_in_both_fields_is_taken_once():
    assert read(chunk({"reasoning_content": "hm", "reasoning": "hm"})).reasoning == "hm"


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>\nhm\n</think>\n\nanswer", "answer", "hm"),
        ("\n <think>hm</think>answer", "answer", "hm"),
        ("<think></think>answer", "answer", ""),
        ("<think>a</think>\n<think>b</think>c", "c", "ab"),
        ("<think>never closed <tool_call>{}", "", "never closed <tool_call>{}"),
        ("<think>a </thin b</think>c", "c", "a </thin b"),
        ("hm, so\n</think>\n\nanswer", "answer", "hm, so"),
        ("the tag <think>x</think> in prose", "the tag <think>x</think> in prose", ""),
        ("`</think>` ends it", "`</think>` ends it", ""),
        ("<thin", "<thin", ""),
        ("<b>x", "<b>x", ""),
        ("  indented", "  indented", ""),
    ],
)
def test_a_leading_think_block_is_reasoning_however_it_is_cut(text, answer, reasoning):
    """(C56)"""
    for size in (1, 3, 100):
        pieces = [chunk({"content": text[start : start + size]}) for start in range(0, len(text), size)]
        reply = read(*pieces)
        assert (reply.text, reply.reasoning.strip()) == (answer, reasoning)


# --- calls


def test_a_call_in_pieces_is_one_call():
    reply = read(tools(piece(0, "a", "f", "")), tools(piece(0, arguments='{"x"')), tools(piece(0, arguments=":1}")))
    assert reply.calls == (ToolCall("a", "f", '{"x":1}'),)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # without index: (C39)
        ([tools(piece(None, "a", "f", "{}"), piece(None, "b", "g", "{}"))], [("f", "{}"), ("g", "{}")]),
        ([tools(piece(None, "a", "f", "{}")), tools(piece(None, "b", "g", "{}"))], [("f", "{}"), ("g", "{}")]),
        ([tools(piece(None, "a", "f", '{"x"')), tools(piece(arguments=":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(None, None, "f", "{}"), piece(None, None, "f", "{}"))], [("f", "{}"), ("f", "{}")]),
        (
            [
                tools(piece(None, None, "f", '{"a"'), piece(None, None, "g", '{"b"')),
                tools(piece(arguments=":1}"), piece(arguments=":2}")),
            ],
            [("f", '{"a":1}'), ("g", '{"b":2}')],
        ),
        # ids that repeat, are empty, change, or never come: (C41)
        ([tools(piece(0, "a", "f", '{"x"')), tools(piece(0, "a", None, ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "f", '{"x"')), tools(piece(0, "", "", ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "f", '{"x"')), tools(piece(0, "zz", None, ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(None, "a", "f", '{"x"')), tools(piece(None, "zz", None, ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, None, "f", '{"x"')), tools(piece(0, None, None, ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "f", '{"x"')), tools(piece(1, "a", None, ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "f", "{}")), tools(piece(1, "a", "g", "{}"))], [("f", "{}"), ("g", "{}")]),
        # fields in any order, names again and in fragments: (C42)
        (
            [tools(piece(0, "a")), tools(piece(0, arguments='{"a"')), tools(piece(0, name="f", arguments=":1}"))],
            [("f", '{"a":1}')],
        ),
        ([tools(piece(0, "a", "f", '{"x"')), tools(piece(0, "a", "f", ":1}"))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "f", '{"x":1}')), tools(piece(0, "a", "f", ""))], [("f", '{"x":1}')]),
        ([tools(piece(0, "a", "get_", "")), tools(piece(0, name="wea")), tools(piece(0, name="ther", arguments="{}"))],
         [("get_weather", "{}")]),
        ([tools(piece(0, "a", "get_", "")), tools(piece(0, name="get_weather", arguments="{}"))],
         [("get_weather", "{}")]),
        ([tools(piece(0, "a", "go", "")), tools(piece(0, name="go", arguments="{}"))], [("gogo", "{}")]),
        ([tools(piece(0, "a", "x", "")), tools(piece(0, name="x", arguments="{}"))], [("x", "{}")]),
        # arguments as an object, null, absent: (C44, C45)
        ([tools(piece(0, "a", "f", {"city": "Zürich"}))], [("f", '{"city": "Zürich"}')]),
        ([tools(piece(0, "a", "f", {"x": 1})), tools(piece(0, "a", "f", {"x": 1}))], [("f", '{"x": 1}')]),
        ([chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}]})], [("f", "")]),
        ([tools(piece(0, "a", "f", ""))], [("f", "")]),
        ([tools(piece(0, "a", "f"))], [("f", "")]),
        ([tools(piece(0, "a", "f", "[1]"))], [("f", "[1]")]),
        # several calls at index 0
        ([tools(piece(0, "a", "f", "{}")), tools(piece(0, "b", "g", "{}"))], [("f", "{}"), ("g", "{}")]),
        ([tools(piece(0, "a", "f", "{}"), piece(0, "b", "f", "{}"))], [("f", "{}"), ("f", "{}")]),
        ([tools(piece(0, None, "f", '{"x":1}')), tools(piece(0, None, "f", '{"x":2}'))],
         [("f", '{"x":1}'), ("f", '{"x":2}')]),
        ([tools(piece(0, None, "f", {"x": 1})), tools(piece(0, None, "f", {"x": 1}))],
         [("f", '{"x": 1}'), ("f", '{"x": 1}')]),
        ([tools(piece(0, "a", "f", "")), tools(piece(0, "b", "g", "")), tools(piece(0, None, None, "{}"))],
         [("f", ""), ("g", "{}")]),
        ([tools(piece(0, None, "f", "")), tools(piece(0, None, "g", ""))], [("f", ""), ("g", "")]),
        # interleaved: (C59)
        (
            [
                tools(piece(0, "a", "f", "")),
                tools(piece(1, "b", "g", "")),
                tools(piece(0, arguments='{"a":')),
                tools(piece(1, arguments='{"b":')),
                tools(piece(0, arguments="1}")),
                tools(piece(1, arguments="2}")),
            ],
            [("f", '{"a":1}'), ("g", '{"b":2}')],
        ),
        # other shapes
        ([chunk({"tool_calls": piece(0, "a", "f", "{}")})], [("f", "{}")]),
        ([chunk({"tool_calls": [None, piece("0", "a", "f", "{}")]})], [("f", "{}")]),
        ([chunk({"tool_calls": [{"id": "a", "name": "f", "arguments": "{}"}]})], [("f", "{}")]),
        ([chunk({"function_call": {"name": "f", "arguments": '{"x"'}}), chunk({"function_call": {"arguments": ":1}"}})],
         [("f", '{"x":1}')]),
        ([tools({"index": 0})], []),
        # doubled arguments are for a later step to judge
        ([tools(piece(0, "a", "f", '{"x":1}')), tools(piece(0, "a", None, '{"x":1}'))], [("f", '{"x":1}{"x":1}')]),
    ],
)  # fmt: skip
def test_calls_have_one_reading_however_they_are_numbered_and_cut(parts, expected):
    assert calls(read(*parts, names=("f", "g", "get_weather", "gogo"))) == expected


@pytest.mark.parametrize(
    "given",
    [
        '{"version": 1.10, "big": 12345678901234567890.0, "minus": -0, "e": 1E3}',
        '{"a": 1, "a": 2}',
        '{"a": {"arguments": {"b": 1.10}, "c": [1.0, "\\"arguments\\":{2.0"]}}',
        "[1.10]",
        "1.10",
        "true",
        f'{{"n": {"9" * 5000}}}',
    ],
)
def test_arguments_sent_as_a_value_keep_their_own_text(given: str):
    """(C44) Only the schema tells whether 1.10 is a number, and a key that is there twice is to be answered."""
    entry = f'{{"index": 0, "id": "a", "function": {{"name": "f", "arguments" : {given}}}}}'
    event = f'data: {{"choices": [{{"delta": {{"tool_calls": [{entry}]}}}}]}}\n\n'.encode()
    assert calls(read(event)) == [("f", given)]
    assert calls(read(event, event)) == [("f", given)], "sent again with its id it is the same call"
    whole = f'{{"choices": [{{"message": {{"tool_calls": [{entry}]}}, "finish_reason": "stop"}}], "created": 1.5}}'
    assert calls(read(whole.encode(), end=b"")) == [("f", given)]


def test_line_breaks_and_escapes_of_a_server_that_sends_arguments_as_a_value_are_not_the_models():
    given = '{\n  "a" :[1.10,\t"Z\\u00fcrich\\n:  ,"],\n  "b": {}\n}'
    body = f'{{"choices": [{{"message": {{"tool_calls": [{{"function": {{"name": "f", "arguments": {given}}}}}]}}}}]}}'
    assert calls(read(body.encode(), end=b"")) == [("f", '{"a": [1.10, "Zürich\\n:  ,"], "b": {}}')]


def test_the_first_id_wins_and_a_number_is_one_too():
    """(C41)"""
    reply = read(tools(piece(0, "", "f", '{"x"')), tools(piece(0, "real", None, ":1}")), tools(piece(0, "late")))
    assert [call.id for call in reply.calls] == ["real"]
    assert read(tools(piece(0, 17, "f", "{}"))).calls[0].id == "17"


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call", "something_new"])
def test_calls_count_whatever_the_finish_reason_says(reason):
    """(C46)"""
    reply = read(tools(piece(0, "a", "f", "{}"), piece(1, "b", "g", "{}")), end=chunk({}, reason) + DONE)
    assert len(reply.calls) == 2
    assert reply.finish is Finish.DONE


def test_finish_tool_calls_without_calls_is_an_empty_reply():
    """(C46)"""
    assert read(end=chunk({}, "tool_calls") + DONE) == Reply()


# --- whole completions in place of a stream


def test_a_completion_that_is_not_streamed_is_a_whole_reply():
    message = {"role": "assistant", "content": None, "tool_calls": [piece(None, "a", "f", {"x": 1})]}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message}], "usage": {"prompt_tokens": 3}}
    reply = read(json.dumps(body, indent=2).encode(), end=b"")
    assert calls(reply) == [("f", '{"x": 1}')]
    assert reply.usage == Usage(3, None)


def test_bare_json_lines_are_read():
    lines = [{"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    assert read("\n".join(map(json.dumps, lines)).encode(), end=b"\n").text == "a"


# --- failures


@pytest.mark.parametrize(
    "body",
    [
        event({"error": {"message": "quota exceeded", "code": 429}}) + DONE,
        event({"error": "quota exceeded"}) + DONE,
        event("quota exceeded"),
        event({"error": {"error": {"message": "quota exceeded"}}}),
        event({"object": "error", "message": "quota exceeded"}),
        event({"detail": [{"msg": "quota exceeded"}]}),
        event({"choices": [{"delta": {}, "error": {"message": "quota exceeded"}, "finish_reason": "error"}]}),
        b'event: error\ndata: {"message": "quota exceeded", "code": 429}\n\n',
        b'{"error": {"message": "quota exceeded"}}',
        b'\n{"error":\n "quota exceeded"}\n',
        b"data: quota exceeded\n\n",
    ],
)
def test_an_error_inside_a_200_answer_is_an_error_with_its_message(body):
    """(C48)"""
    assert "quota exceeded" in fail(body).message


def test_an_error_after_text_keeps_the_text_as_partial():
    """(C48)"""
    error = fail(chunk({"content": "half"}), event({"error": {"message": "gone", "code": "503"}}))
    assert (error.partial, error.code) == ("half", 503)


@pytest.mark.parametrize(
    "body",
    [
        chunk({"content": "half"}),
        tools(piece(0, "a", "f", "")),
        tools(piece(0, "a", "f", "{}")),
        tools(piece(0, "a", "f", '{"path": "/tm')),
        chunk({"content": "half"}) + b'data: {"choices": [{"del',
        b"",
    ],
)
def test_a_stream_that_dies_gives_no_reply_and_no_call(body):
    """(C45)"""
    assert isinstance(fail(body), DeadStreamError)


def test_a_damaged_piece_in_the_middle_is_never_skipped_over():
    broken = tools(piece(0, "a", "f", '{"a": 1')) + b'data: {"choices": [{"delta": {"tool\n\n'
    fail(broken, tools(piece(0, arguments="}")), chunk({}, "tool_calls"), DONE)


def test_a_web_page_is_not_an_answer():
    assert "web page" in fail(b"<!doctype html><html>Sign in</html>").message


def test_a_content_filter_is_told():
    assert "content filter" in fail(chunk({"content": "a"}), chunk({}, "content_filter"), DONE).message


def test_absurd_nesting_is_an_error_and_no_crash():
    fail(b"data: " + b"[" * 100_000 + b"\n\n")


CUT = {
    "one line of events": b"data: " + b"x" * 4_000_000,
    "a plain body": b'{"a": "' + b"x" * 4_000_000,
    "many lines of one event": b"data: {\ndata: x}\n" * 100_000,
    "only blanks": b"\n" * 1_000_000,
}


@pytest.mark.parametrize("body", CUT.values(), ids=CUT.keys())
def test_a_long_answer_in_small_pieces_costs_linear_time(body: bytes):
    reader = EventReader()
    start = time.process_time()
    for place in range(0, len(body), 1_000):
        reader.feed(body[place : place + 1_000])
    reader.end()
    assert time.process_time() - start < 4


def test_many_deltas_with_reasoning_and_repeated_names_cost_linear_time():
    start = time.process_time()
    reader = ReplyReader(("f",))
    argument = "word " * 20
    reader.feed(tools(piece(0, "1", "f", '{"a": "')))
    for _ in range(4_000):
        reader.feed(chunk({"content": argument}) + chunk({"reasoning_content": argument}))
        reader.feed(tools(piece(0, "1", "f", argument)))
    reader.feed(tools(piece(0, "1", "f", '"}')) + chunk({}, "stop") + DONE)
    _, reply = reader.end()
    assert reply.text == argument * 4_000
    assert json.loads(reply.calls[0].arguments) == {"a": argument * 4_000}
    assert time.process_time() - start < 4


def test_a_line_without_an_end_is_refused_in_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("mm.models.sse.MAX_LINE", 1_000)
    for body in (b"data: " + b"x" * 2_000, b'{"a": "' + b"x" * 2_000):
        assert "without an end of line" in fail(chunk({"content": "x"}) if body[:1] == b"d" else b"", body).message


def test_line_ends_that_are_cut_between_chunks_end_one_line():
    body = b'data: {"a":\r\ndata: 1}\r\n\r\n: comment\rdata: [2]\r'
    for size in range(1, 9):
        reader = EventReader()
        values = [value for at in range(0, len(body), size) for value in reader.feed(body[at : at + size])]
        assert values + reader.end() == [{"a": 1}, [2]]
