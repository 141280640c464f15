"""The embedded model: its process, and real weights where they are on this machine."""

import os
import threading
from collections.abc import Iterator

import pytest

from mm.config.schema import ModelConfig
from mm.errors import MMError, ModelError
from mm.interrupt import Interrupted
from mm.messages import Message, Role, ToolOffer
from mm.models import local, weights
from mm.models.local import LocalModel, count_threads
from tests.weights import SMALL, needs_small

pytest.importorskip("xllamacpp", reason='needs the extra: pip install "mm-agent[local]"')


def ask(model: LocalModel, text: str, *, offers=(), on_delta=None, stop=None):
    return model.ask(
        [Message(Role.USER, text)],
        offers,
        on_delta=on_delta or (lambda delta: None),
        on_notice=lambda note: None,
        on_sent=lambda: None,
        stop=stop or threading.Event(),
    )


def test_missing_weights_name_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("MM_HOME", str(tmp_path))
    with pytest.raises(MMError) as caught:
        LocalModel(ModelConfig("local", "qwen2.5-coder-1.5b"))
    assert caught.value.hint == "Run: mm model pull qwen2.5-coder-1.5b"


def test_weights_that_are_here_are_named_where_others_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("MM_HOME", str(tmp_path))
    small = weights.lookup("qwen2.5-coder-0.5b")
    with small.path.open("wb") as file:
        file.truncate(small.bytes)
    with pytest.raises(MMError) as caught:
        LocalModel(ModelConfig("local", "qwen2.5-coder-1.5b"))
    use = "or use what is here: -m local:qwen2.5-coder-0.5b"
    assert caught.value.hint == f"Run: mm model pull qwen2.5-coder-1.5b   {use}"


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MMError) as caught:
        LocalModel(ModelConfig("local", "qwen2.5-coder-1.5b"))
    assert 'pip install "mm-agent[local]"' in caught.value.hint


def test_a_file_that_is_no_model_is_told_and_leaves_nothing_on_the_terminal(tmp_path, capfd):
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"not a model" * 100)
    model = LocalModel(ModelConfig("local", str(path)))
    with pytest.raises(ModelError, match="cannot be loaded"):
        ask(model, "hi")
    model.close()
    assert capfd.readouterr() == ("", "")


def test_a_model_that_could_not_be_loaded_is_told_as_often_as_it_is_asked_and_can_be_mended(tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"not a model" * 100)
    model = LocalModel(ModelConfig("local", str(path)))
    for _ in range(2):
        with pytest.raises(ModelError, match="cannot be loaded"):
            ask(model, "hi")
    model.close()


def test_threads_are_at_least_one_and_no_more_than_allowed():
    assert 1 <= count_threads() <= len(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    made = LocalModel(ModelConfig("local", str(SMALL), max_tokens=60, context=2048))
    yield made
    made.close()


@pytest.mark.weights
@needs_small
def test_a_small_model_writes_its_call_as_text(model):
    word = {"type": "string", "description": "Version number (required)"}
    offer = ToolOffer("release", "Publish a release.", {"type": "object", "properties": {"version": word}})
    reply = ask(model, "Publish version 1.4.2.", offers=[offer])
    assert '"release"' in reply.text
    assert reply.calls == ()
    assert reply.usage.prompt_tokens is not None


@pytest.mark.weights
@needs_small
def test_a_dropped_answer_leaves_the_model_free_for_the_next(model):
    stop = threading.Event()
    with pytest.raises(Interrupted):
        ask(model, "Count from 1 to 500.", on_delta=lambda delta: stop.set(), stop=stop)
    assert ask(model, "Say yes.").text


@pytest.mark.weights
@needs_small
def test_a_closed_model_leaves_no_process():
    made = LocalModel(ModelConfig("local", str(SMALL), context=512))
    server = made._server
    assert server is not None
    made.close()
    assert server.obituary() == "The process of the local model ended (killed by signal 9)."
