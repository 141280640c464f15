"""A conversation that would not fit the model's context is cut in a fixed order, and says so."""

from __future__ import annotations

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from mm.agent import Agent
from mm.errors import MMError
from mm.messages import Message, Outcome, Role, ToolCall, ToolOffer, ToolResult, Usage
from mm.session.fit import OLD_OUTPUT, Fitted, fit
from mm.session.history import History
from mm.session.window import Window
from tests.session.strict import assert_strict

SYSTEM = Message(Role.SYSTEM, "You run the tools of the ops team.")


def estimate(message: Message) -> int:
    return 4 + (len(message.content) + sum(len(call.arguments) for call in message.tool_calls)) // 4


def add_turn(history: History, number: int, outputs: Sequence[int] = ()) -> None:
    """A prompt, one call for each output of that many characters, an answer."""
    history.add_user(f"question {number}")
    for step, size in enumerate(outputs):
        call = ToolCall(f"call_{number}_{step}", "read_file", '{"path": "a"}')
        history.add_reply("", [call])
        history.add_result(ToolResult(call, Outcome.OK, f"<{number}.{step}" + "x" * size + ">"))
    history.add_reply(f"answer {number}")


def conversation(*turns: Sequence[int]) -> list[Message]:
    history = History()
    for number, outputs in enumerate(turns):
        add_turn(history, number, outputs)
    return [SYSTEM, *history.messages()]


def undo(history: History, window: Window) -> None:
    """What /undo does, without a model and a terminal."""
    agent: Any = SimpleNamespace(history=history, window=window)
    Agent.take_back(agent)


def cut(messages: Sequence[Message], budget: int) -> Fitted:
    fitted = fit(messages, budget_tokens=budget, estimate=estimate)
    assert_strict(fitted.messages)
    return fitted


def text(messages: Sequence[Message]) -> str:
    return "\n".join(message.content for message in messages)


def test_what_fits_is_sent_as_it_is_without_a_word() -> None:
    messages = conversation([500], [500])
    fitted = cut(messages, 10_000)
    assert fitted.messages == messages
    assert fitted.note == ""


def test_old_tool_outputs_are_shortened_first() -> None:
    messages = conversation([8000], [8000], [100, 8000], [8000])
    fitted = cut(messages, 7500)
    assert len(fitted.messages) == len(messages)
    outputs = [message.content for message in fitted.messages if message.role is Role.TOOL]
    assert [len(output) < OLD_OUTPUT + 100 for output in outputs] == [True, True, True, False, False]
    assert outputs[0].startswith("<0.0xxx") and outputs[0].endswith("xxx>")
    assert "characters of this output left out" in outputs[0]
    assert fitted.note == "The conversation no longer fits the model's context: shortened 2 old tool outputs."


def test_then_old_turns_are_left_out_with_one_line_in_their_place() -> None:
    messages = conversation(*[[400]] * 40)
    fitted = cut(messages, 2000)
    assert fitted.messages[0] == SYSTEM
    assert fitted.messages[1].content.startswith("[The first ")
    assert text(fitted.messages).count("were left out to make room") == 1
    assert "question 39" in fitted.messages[-4].content
    assert "left out" in fitted.note
    assert sum(map(estimate, fitted.messages)) <= 2000


def test_in_one_long_turn_the_prompt_stays_and_old_steps_go() -> None:
    messages = conversation([400] * 60)
    fitted = cut(messages, 2000)
    assert fitted.messages[1].content.startswith("question 0")
    assert "calls and their results, were left out" in fitted.messages[1].content
    assert "<0.59" in text(fitted.messages) and "<0.0x" not in text(fitted.messages)


def test_the_newest_output_is_shortened_only_if_nothing_else_helps() -> None:
    fitted = cut(conversation([400], [40_000])[:-1], 4000)
    assert fitted.fits
    assert "<1.0xxx" in text(fitted.messages)
    assert "shortened the newest tool outputs" in fitted.note


def test_a_note_of_mm_is_never_taken_for_the_prompt() -> None:
    history = History()
    for number in range(20):
        add_turn(history, number, [400])
    history.add_user("the real task")
    history.add_reply("I would call x")
    history.add_user("Send the call alone.", note=True)
    fitted = cut([SYSTEM, *history.messages()], 75)
    assert "the real task" in text(fitted.messages)


def test_what_is_said_after_an_unanswered_turn_of_calls_begins_a_turn() -> None:
    history = History()
    for number in range(20):
        add_turn(history, number, [400])
    call = ToolCall("c", "read_file", "{}")
    history.add_user("the old task")
    history.add_reply("", [call])
    history.add_result(ToolResult(call, Outcome.OK, "x" * 400))
    history.add_user("The user stopped this before you answered.", note=True)
    history.add_user("the real task")
    fitted = cut([SYSTEM, *history.messages()], 60)
    assert "the real task" in text(fitted.messages)
    assert "the old task" not in text(fitted.messages)


def test_the_cut_is_kept_for_many_rounds_so_that_the_servers_cache_holds() -> None:
    history = History()
    window = Window(16_384)
    before: list[Message] = []
    cuts = 0
    for number in range(200):
        add_turn(history, number, [random.Random(number).randrange(0, 2500)])
        fitted = window.fit([SYSTEM, *history.messages()])
        assert_strict(fitted.messages)
        assert fitted.messages[: len(before)] == before or fitted.note, "a changed beginning is said"
        cuts += bool(fitted.note)
        before = fitted.messages
    assert 0 < cuts < 20


@pytest.mark.parametrize("seed", range(30))
def test_any_conversation_is_cut_to_its_budget_and_stays_legal(seed: int) -> None:
    dice = random.Random(seed)
    history = History()
    for number in range(dice.randrange(1, 12)):
        add_turn(history, number, [dice.choice((0, 50, 900, 20_000)) for _ in range(dice.randrange(0, 6))])
    messages = [SYSTEM, *history.messages()]
    for budget in (200, 800, 3000, 12_000):
        fitted = cut(messages, budget)
        assert fitted == cut(messages, budget), "the same input gives the same cut"
        assert fitted.messages[0] == SYSTEM
        assert fitted.tokens == sum(map(estimate, fitted.messages))
        assert fitted.fits == (fitted.tokens <= budget)
        assert bool(fitted.note) == (fitted.messages != messages)
        assert fitted.fits or budget == 200
        again = fit(messages, budget_tokens=budget, estimate=estimate, previous=fitted.cut)
        assert again.messages == fitted.messages
        assert not again.note or not fitted.fits


def test_a_cut_is_given_up_when_the_turns_are_taken_back() -> None:
    history = History()
    for number in range(40):
        add_turn(history, number, [400])
    fitted = cut([SYSTEM, *history.messages()], 2000)
    for _ in range(38):
        history.undo()
    messages = [SYSTEM, *history.messages()]
    assert fit(messages, budget_tokens=2000, estimate=estimate, previous=fitted.cut).messages == messages
    assert fit(messages, budget_tokens=200, estimate=estimate, previous=fitted.cut).messages


@pytest.mark.parametrize(("size", "calls"), [(30_000, 1), (3000, 4)])
def test_after_a_turn_is_taken_back_the_next_one_is_not_cut_as_that_one_was(size: int, calls: int) -> None:
    history, window = History(), Window(3000)
    add_turn(history, 0, [9000])
    add_turn(history, 1, [500])
    add_turn(history, 2, [size] * calls)
    assert window.fit([SYSTEM, *history.messages()]).note
    undo(history, window)
    add_turn(history, 3, [1500] * calls)
    fitted = window.fit([SYSTEM, *history.messages()])
    afresh = Window(3000).fit([SYSTEM, *history.messages()])
    assert fitted.messages[-2 * calls - 2 :] == afresh.messages[-2 * calls - 2 :]
    assert_strict(fitted.messages)


def test_what_is_cut_of_older_turns_stays_cut_when_a_turn_is_taken_back() -> None:
    """So that the server's prompt cache holds."""
    history, window = History(), Window(3000)
    for number in range(12):
        add_turn(history, number, [900])
    first = window.fit([SYSTEM, *history.messages()])
    add_turn(history, 12)
    undo(history, window)
    again = window.fit([SYSTEM, *history.messages()])
    assert (again.messages, again.cut, again.note) == (first.messages, first.cut, "")


def test_a_prompt_that_alone_is_too_long_is_an_error_with_a_way_out() -> None:
    window = Window(2048)
    with pytest.raises(MMError, match=r"about [0-9,]+ tokens, and the model's context holds 2,048") as caught:
        window.fit([SYSTEM, Message(Role.USER, "x" * 50_000)])
    assert "Shorten the prompt" in caught.value.hint


def test_the_tool_list_takes_its_part_of_the_context() -> None:
    messages = conversation(*[[400]] * 6)
    offer = ToolOffer("release", "word " * 1500, {"type": "object", "properties": {}})
    assert Window(4096).fit(messages).note == ""
    assert Window(4096).fit(messages, [offer]).note


def test_an_unknown_context_sends_everything() -> None:
    messages = conversation([400_000])
    assert Window(None).fit(messages).messages == messages


def test_the_estimate_follows_what_the_server_counts() -> None:
    messages = conversation(*[[400]] * 20)
    window = Window(8192)
    assert window.fit(messages).note == ""
    for _ in range(6):
        window.learn(Usage(prompt_tokens=7000))
        fitted = window.fit(messages)
    assert fitted.tokens < 8192
    assert len(fitted.messages) < len(messages)


@pytest.mark.parametrize("counted", [None, 0, 3, 10_000_000])
def test_a_count_that_cannot_be_true_is_ignored(counted: int | None) -> None:
    messages = conversation(*[[400]] * 20)
    window = Window(16_384)
    before = window.fit(messages)
    window.learn(Usage(prompt_tokens=counted))
    assert window.fit(messages) == before
