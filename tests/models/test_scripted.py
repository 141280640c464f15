"""The model whose replies are written down."""

import os
import threading

import pytest

from mm.config.schema import ModelConfig
from mm.errors import MMError, ModelError, UsageError
from mm.interrupt import Interrupted
from mm.messages import Finish, Message, Reply, Role, ToolCall
from mm.models.scripted import ScriptedModel, Step


def ask(model, text="hi", stop=None, shown=None) -> Reply:
    return model.ask(
        [Message(Role.USER, text)],
        [],
        on_delta=(shown if shown is not None else []).append,
        on_notice=lambda note: None,
        on_sent=lambda: None,
        stop=stop or threading.Event(),
    )


def written(tmp_path, text: str) -> ScriptedModel:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    return ScriptedModel(ModelConfig("scripted", str(path)))


def test_a_script_file_answers_request_after_request(tmp_path):
    model = written(
        tmp_path,
        """
- Hello.
- pieces: [Let me, " see."]
  reasoning: hm
  calls:
    - {name: release, arguments: {version: 1.4.2}}
    - {name: broken, arguments: '{"x": ', id: mine}
- {text: cut, finish: length}
""",
    )
    assert ask(model).text == "Hello."
    shown = []
    second = ask(model, shown=shown)
    assert (second.text, second.reasoning) == ("Let me see.", "hm")
    assert second.calls == (
        ToolCall("call_2_1", "release", '{"version": "1.4.2"}'),
        ToolCall("mine", "broken", '{"x": '),
    )
    assert [delta.text for delta in shown] == ["hm", "Let me", " see."]
    assert ask(model).finish is Finish.LENGTH


def test_a_script_at_its_end_says_so():
    model = ScriptedModel(["one"])
    ask(model)
    with pytest.raises(ModelError, match="it has 1 reply, and 2 were asked"):
        ask(model)


def test_a_step_may_expect_what_the_request_says(tmp_path):
    model = written(tmp_path, "- {text: a, expect: [blue]}\n- {text: b, expect: red}\n")
    assert ask(model, "a blue one").text == "a"
    with pytest.raises(ModelError, match="expects 'red'"):
        ask(model, "a blue one")


def test_a_step_may_fail_after_some_text(tmp_path):
    model = written(tmp_path, "- {text: half, error: the server is gone}\n")
    with pytest.raises(ModelError, match="the server is gone") as caught:
        ask(model)
    assert caught.value.partial == "half"


def test_a_list_of_texts_steps_and_replies_is_a_script_too():
    model = ScriptedModel(["a", Step.calling("f", {"x": 1}), Reply(text="c", reasoning="r")])
    assert ask(model).text == "a"
    assert ask(model).calls == (ToolCall("call_2_1", "f", '{"x": 1}'),)
    assert ask(model) == Reply(text="c", reasoning="r")
    assert [messages[0].content for messages, _ in model.requests] == ["hi", "hi", "hi"]


def test_the_stop_event_ends_a_slow_step():
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        ask(ScriptedModel([Step(("a",), delay=60)]), stop=stop)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text: a", "is not a list"),
        ("- {txt: a}", "`txt` is not a key"),
        ("- 3", "neither a text nor a mapping"),
        ("- {calls: [{arguments: {}}]}", "Step 1"),
        ("- {finish: never}", "`finish` is `done` or `length`"),
        ("- [", "cannot be read"),
    ],
)
def test_a_wrong_script_is_told_with_its_step(tmp_path, text, words):
    with pytest.raises(MMError) as caught:
        written(tmp_path, text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no.yaml", "There is no script `{}`.\nA relative path behind `-m` starts at the working directory, "),
        ("folder", "The script `{}` is a folder.\nName a file: `scripted:FILE`."),
        ("fifo", "The script `{}` is not a regular file.\nName a file: `scripted:FILE`."),
        ("file.yaml/x", "The script `{}` cannot be read: Not a directory.\nName a file: `scripted:FILE`."),
    ],
)
def test_what_is_no_script_is_told_in_words(tmp_path, name, words):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file.yaml").touch()
    with pytest.raises(UsageError) as caught:
        ScriptedModel(ModelConfig("scripted", str(tmp_path / name)))
    assert str(caught.value).startswith(words.format(tmp_path / name))
