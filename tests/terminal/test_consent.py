"""The consent prompt in a real terminal: in the chat, and line by line as in a one-shot run."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.terminal import stand_in_lines
from tests.terminal.pty import Terminal, chat, terminal


def ask(it: Terminal, *arguments: str) -> None:
    it.say("ask " + " ".join(arguments))
    it.wait_for("… >")


def test_the_question_shows_what_will_run_and_every_key_in_words(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("ask 1.4.2")
        shown = it.wait_for("… >")
        assert "? Run release?" in shown and "`release` is in `ask`" in shown
        assert "'./release.sh' '1.4.2'" in shown and "/home/ann/project" in shown
        for words in (
            "y  yes",
            "n  no (also Enter, Esc)",
            "a  always in this session: `release`",
            "w  always, in later sessions too",
            "e  edit",
        ):
            assert words in shown


def test_yes_and_always_are_answers(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        for key, decision in (("y", "YES"), ("a", "ALWAYS_SESSION"), ("w", "ALWAYS_SAVED")):
            ask(it, "x")
            it.say(key)
            it.wait_for(f"decision={decision} ")
            it.wait_for("local:stand-in")


def test_a_no_takes_a_reason_for_the_model(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        ask(it, "x")
        it.say("n")
        it.wait_for("why not?")
        it.say("too early")
        it.wait_for("decision=NO reason='too early'")


def test_a_no_and_its_reason_fit_in_one_line(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        for said in ("n too early", "No, too early"):
            ask(it, "x")
            it.say(said)
            it.wait_for("decision=NO reason='too early'")
            it.wait_for("local:stand-in")


def test_enter_escape_and_end_of_input_are_a_no(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        ask(it, "x")
        it.type("\r")
        it.wait_for("why not?")
        it.type("\r")
        it.wait_for("decision=NO reason=''")
        it.wait_for("local:stand-in")
        ask(it, "x")
        it.type("\x1b")
        it.wait_for("why not?")
        it.type("\r")
        it.wait_for("decision=NO reason=''")
        it.wait_for("local:stand-in")
        ask(it, "x")
        it.type("\x04")
        it.wait_for("decision=NO reason=''")


def test_anything_else_asks_again(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        ask(it, "x")
        it.say("yes please, and then some")
        it.wait_for("Please answer with one of these letters")
        it.wait_for("… >")
        it.say("y")
        it.wait_for("decision=YES")


def test_what_was_typed_before_the_question_is_no_answer(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("late")
        it.wait_for("working")
        it.say("y")
        it.wait_for("letter and Enter: y, n, … >")
        it.type("n\r")
        it.wait_for("why not?")
        it.type("\r")
        it.wait_for("decision=NO")


def test_what_was_typed_before_questions_of_the_model_waits_in_the_next_line(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("lateclarify")
        it.wait_for("working")
        it.say("and then sail")
        it.wait_for("Enter skips >")
        it.say("2")
        it.wait_for("Which version?")
        it.wait_for("Enter skips >")
        it.say("")
        it.wait_for("answers=['beta', '']")
        it.wait_for("and then sail")
        it.say(" home")
        it.wait_for("You said: 'and then sail home'")


def test_ctrl_c_at_the_question_interrupts_the_turn(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        ask(it, "x")
        it.type("\x03")
        it.wait_for("Interrupted.")
        it.say("go on")
        it.wait_for("You said: 'go on'")


def test_edited_arguments_are_given_back_once_they_are_json(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        ask(it, "x")
        it.say("e")
        it.wait_for('"version": "1.4.2"')
        it.type("\x7f")  # the closing brace
        it.type("\r")
        it.wait_for("That is not JSON")
        it.type("}\x02\x1b[D\x7f")
        it.wait_for("Esc no change")
        it.type("\x1b")
        it.wait_for("The arguments are unchanged.")
        it.wait_for("… >")
        it.say("e")
        it.wait_for('"version": "1.4.2"')
        it.type("\x1b[A\x1b[F" + "\x7f" * 2 + '3"')
        it.type("\r")
        it.wait_for("decision=EDIT reason=''")
        it.wait_for('"version": "1.4.3"')


def test_a_question_longer_than_the_screen_is_shown_page_by_page(tmp_path: Path) -> None:
    with chat(tmp_path, rows=30) as it:
        it.say("long")
        shown = ""
        for left in ("74", "46", "18"):
            shown += it.wait_for(f"{left} more lines. Enter: go on, n: no >")
            it.type("\r")
        shown += it.wait_for("y, n, … >")
        assert all(f"│ echo step {number}\n" in shown for number in range(1, 101))
        it.say("y")
        it.wait_for("decision=YES")


def test_input_is_shortened_and_a_key_shows_all_of_it(tmp_path: Path) -> None:
    with chat(tmp_path, rows=90) as it:
        it.say("ask x")
        assert "… 24 more lines, 60 characters in all" in it.wait_for("… >")
        it.say("s")
        it.wait_for("Run release?")
        assert it.wait_for("… >").count("│ a\n") == 30


def test_several_questions_take_numbers_words_and_nothing(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("clarify")
        it.wait_for("Enter skips >")
        it.say("2")
        it.wait_for("Which version?")
        it.wait_for("Enter skips >")
        it.say("the newest")
        it.wait_for("answers=['beta', 'the newest']")


def test_line_by_line_the_question_goes_to_stderr_and_typed_input_is_discarded(tmp_path: Path) -> None:
    with terminal(partial(stand_in_lines.main, slowly=True), tmp_path) as it:
        it.wait_for("ready")
        it.type("y\n")
        it.wait_for("asking")
        it.wait_for("… > ")
        it.type("n\n")
        it.wait_for("why not?")
        it.type("not now\n")
        it.wait_for("answer: NO 'not now' ''")


def test_line_by_line_a_yes_an_edit_and_the_end_of_input(tmp_path: Path) -> None:
    with terminal(partial(stand_in_lines.main, 3), tmp_path) as it:
        it.wait_for("… > ")
        it.type("yes\n")
        it.wait_for("answer: YES '' ''")
        it.wait_for("… > ")
        it.type("e\n")
        it.wait_for("new arguments")
        it.type('{"version": "2"}\n')
        it.wait_for("answer: EDIT '' '{\"version\": \"2\"}'")
        it.wait_for("… > ")
        it.type("\x04")
        it.wait_for("answer: NO '' ''")
        assert it.end() == 0


def test_line_by_line_a_missing_editor_is_named_and_the_line_takes_its_place(tmp_path: Path) -> None:
    with terminal(stand_in_lines.main, tmp_path, EDITOR="nosuch-editor -w") as it:
        it.wait_for("… > ")
        it.type("e\n")
        it.wait_for("There is no program `nosuch-editor`, which EDITOR names.")
        it.wait_for("new arguments")
        it.type('{"version": "2"}\n')
        it.wait_for("answer: EDIT")


def test_line_by_line_ctrl_c_raises_keyboard_interrupt(tmp_path: Path) -> None:
    with terminal(stand_in_lines.main, tmp_path) as it:
        it.wait_for("ready")
        it.wait_for("… > ")
        it.type("\x03")
        it.wait_for("interrupted")
        assert it.end() == 130


def test_line_by_line_arguments_can_be_edited_in_an_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/1.4.2/1.5.0/ "$1"\n')
    editor.chmod(0o755)
    with terminal(stand_in_lines.main, tmp_path, EDITOR=str(editor)) as it:
        it.wait_for("… > ")
        it.type("e\n")
        it.wait_for("answer: EDIT")
        it.wait_for('"version": "1.5.0"')
