"""The chat in a real terminal, with a stand-in for the agent."""

from __future__ import annotations

import os
import re
import signal
import termios
from pathlib import Path

import pytest

from mm.terminal.chat import run_chat
from tests.terminal import stand_in
from tests.terminal.pty import Terminal, chat, terminal


def test_a_message_is_sent_with_enter_and_its_answer_is_shown(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("hello there")
        it.wait_for("You said: 'hello there'")
        it.wait_for("1,234 of 32,768 tokens (4%)")


def test_ctrl_j_and_alt_enter_break_the_line(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("one")
        it.type("\n")
        it.type("two")
        it.type("\x1b\r")
        it.wait_for("two")
        it.say("three")
        it.wait_for(r"You said: 'one\ntwo\nthree'")


def test_a_bracketed_paste_never_sends_and_its_control_characters_are_dropped(tmp_path: Path) -> None:
    """(C113)"""
    with chat(tmp_path) as it:
        it.type("\x1b[200~first\r\nsecond\x07\x1b[31m\rthird\r\n\x1b[201~")
        it.wait_for("third")
        it.type("!")
        it.type("\r")
        it.wait_for(r"You said: 'first\nsecond[31m\nthird\n!'")


def test_a_paste_without_brackets_is_one_message(tmp_path: Path) -> None:
    """(C113)"""
    lines = [f"pasted {number}" for number in range(1, 201)]
    with chat(tmp_path) as it:
        it.type("\r".join(lines))
        it.wait_for("pasted 200")
        it.type("\r")
        it.wait_for(r"You said: 'pasted 1\npasted 2\n")
        it.wait_for(r"pasted 200'")


def test_a_paste_without_brackets_has_one_line_end_for_each_crlf(tmp_path: Path) -> None:
    """(C113)"""
    with chat(tmp_path) as it:
        it.type("one\r\ntwo\r\n\r\nthree")
        it.wait_for("three")
        it.type("\n")  # Ctrl-J by hand
        it.say("four")
        it.wait_for(r"You said: 'one\ntwo\n\nthree\nfour'")


def test_the_end_of_a_paste_inside_a_paste_does_not_send_the_rest_line_by_line(tmp_path: Path) -> None:
    """A real terminal takes that mark out of a paste (C113)."""
    with chat(tmp_path) as it:
        it.type("\x1b[200~harmless\x1b[201~\r!rm -rf x\rmore\x1b[201~")
        it.wait_for("more")
        it.type("\r")
        it.wait_for(r"You said: 'harmless\n!rm -rf x\nmore")


def test_ctrl_c_cancels_the_turn_and_the_next_message_is_answered(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("slow")
        it.wait_for("Half an answer")
        it.type("\x03")
        it.wait_for("Interrupted.")
        it.say("still there?")
        it.wait_for("You said: 'still there?'")


@pytest.mark.parametrize(("message", "awaited"), [("slow", "Half an answer"), ("tool", "sleep 60")])
def test_what_was_typed_before_ctrl_c_comes_back_in_the_line_and_is_not_sent(
    tmp_path: Path, message: str, awaited: str
) -> None:
    with chat(tmp_path) as it:
        it.say(message)
        it.wait_for(awaited)
        it.say("one thing")
        it.type("another")
        it.type("\x03")
        it.wait_for("Interrupted.")
        it.wait_for("another")
        it.say(" one")
        it.wait_for(r"You said: 'one thing\nanother one'")


def test_on_a_dumb_terminal_what_was_typed_before_ctrl_c_is_shown_and_not_sent(tmp_path: Path) -> None:
    with chat(tmp_path, TERM="dumb") as it:
        it.type("tool\n")
        it.wait_for("sleep 60")
        it.type("one thing\n\x03")
        it.wait_for("Interrupted.")
        it.wait_for("not sent: one thing")
        it.wait_for("> ")
        it.type("next\n")
        it.wait_for("You said: 'next'")


def test_while_text_is_held_back_that_may_be_a_call_it_is_said_how_long(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("held")
        it.wait_for("writing a call 1.")
        it.wait_for("It was none.")


def test_ctrl_c_reaches_a_running_tool_through_the_stop_event(tmp_path: Path) -> None:
    """(C75)"""
    with chat(tmp_path) as it:
        it.say("tool")
        it.wait_for("sleep 60")
        it.type("\x03")
        it.wait_for("interrupted")
        it.wait_for("Interrupted.")


def test_ctrl_c_clears_a_line_and_twice_on_an_empty_one_leaves(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("half a thought")
        it.wait_for("thought")
        it.type("\x03")
        it.say("new")
        it.wait_for("You said: 'new'")
        it.wait_for("local:stand-in")
        it.type("\x03")
        it.wait_for("Ctrl-C again, or Ctrl-D, leaves.")
        it.wait_for("local:stand-in")
        it.type("\x03")
        assert it.end() == 0


def test_ctrl_d_leaves_and_the_terminal_is_as_it_was(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("\x04")
        assert it.end() == 0
        assert "\x1b[?2004h" not in it.seen.rpartition("\x1b[?2004l")[2]
        modes = termios.tcgetattr(it.descriptor)
        assert modes[3] & termios.ECHO and modes[3] & termios.ICANON and modes[0] & termios.ICRNL


def test_a_bug_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("crash")
        it.wait_for("ZeroDivisionError: a bug in mm")
        assert it.end() == 1
        modes = termios.tcgetattr(it.descriptor)
        assert modes[3] & termios.ECHO and modes[3] & termios.ICANON and modes[0] & termios.ICRNL
        assert "\x1b[?25h" in it.seen.rpartition("\x1b[?25l")[2]


def test_a_signal_to_end_leaves_with_its_own_exit_code(tmp_path: Path) -> None:
    for message, awaited in (("", ""), ("slow", "Half an answer")):
        with chat(tmp_path) as it:
            if message:
                it.say(message)
                it.wait_for(awaited)
            os.kill(it.process, signal.SIGTERM)
            assert it.end() == 143


def test_what_is_typed_during_a_turn_waits_for_the_next_prompt(tmp_path: Path) -> None:
    with chat(tmp_path, WORK="0.5") as it:
        it.say("work")
        it.wait_for("status")
        it.say("typed early")
        before = it.wait_for("Done.")
        assert "typed early" not in before
        it.wait_for("You said: 'typed early'")


def test_a_long_output_is_one_line_and_a_failure_says_so(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("work")
        shown = it.wait_for("Done.")
        assert "✓ release ./release.sh 1.4.2 --channel=stable  0.4 s" in shown
        assert "0.4 s · 20,000 lines" in shown and "row 50" not in shown.rpartition("✓ release")[2]
        assert "✗ status  failed · 0.4 s" in shown and "│ no server" in shown
        assert "│ 100 %" in shown  # while it ran


def test_no_escape_of_a_model_or_a_tool_reaches_the_terminal(tmp_path: Path) -> None:
    """(C72)"""
    with chat(tmp_path) as it:
        it.say("hostile")
        it.wait_for("entity")
        it.say("askevil")
        it.wait_for("… >")
        it.say("n")
        it.wait_for("why not?")
        it.type("\r")
        it.wait_for("decision=NO")
        for forbidden in ("\x1b]", "\x1b[2J", "\x9b", "\u202e", "\x07"):
            assert forbidden not in it.seen
        assert r"\x1b]52;c;ZXZpbA==\x07" in it.seen


def test_a_slash_command_is_never_sent_and_an_unknown_one_names_the_nearest(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("/toolz")
        it.wait_for("There is no command /toolz.")
        it.wait_for("Did you mean /tools?")
        it.wait_for("local:stand-in")
        it.say("/tools")
        it.wait_for("Publish a release of the project.")
        it.say("/retry")
        it.wait_for("There is nothing to ask again.")


def test_slash_commands_change_what_the_chat_runs_with(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("/yolo")
        it.wait_for("yolo is on")
        it.wait_for("yolo: nothing asks")
        it.say("/yolo off")
        it.wait_for("yolo is off")
        it.say("/model wrong")
        it.wait_for("`wrong` is no model.")
        it.wait_for("Write provider:name.")
        it.say("/model ollama:qwen3")
        it.wait_for("The model is ollama:qwen3.")
        it.say("/cost")
        it.wait_for("5,000 tokens")
        it.say("/resume s-1")
        it.wait_for("What about boats?")
        it.wait_for("They float.")
        it.say("/export notes.md")
        it.wait_for("Written to notes.md.")
        it.say("/exit")
        assert it.end() == 0


def test_undo_brings_the_prompt_back_into_the_line(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("first try")
        it.wait_for("You said: 'first try'")
        it.wait_for("local:stand-in")
        it.say("/undo")
        it.wait_for("Took back the last exchange.")
        it.wait_for("first try")
        it.say(" again")
        it.wait_for("You said: 'first try again'")


def test_a_resumed_session_shows_its_last_exchange(tmp_path: Path) -> None:
    with terminal(stand_in.main, tmp_path, RESUMED="1") as it:
        it.wait_for("› What about boats?")
        it.wait_for("They float.")


def test_a_mentioned_file_goes_under_the_message(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("boats float\n")
    with chat(tmp_path) as it:
        it.say("read @notes.txt")
        it.wait_for(r"Content of notes.txt:\ntxt\nboats float\n")
        it.wait_for("local:stand-in")
        it.say("read @nots.txt")
        it.wait_for("There is no file `nots.txt`.")
        it.wait_for("Nothing was sent.")
        it.wait_for("read @nots.txt")


def test_tab_completes_commands_and_files(tmp_path: Path) -> None:
    (tmp_path / "chapter one.txt").write_text("x")
    with chat(tmp_path) as it:
        it.type("/perm")
        it.wait_for("what is allowed, asked and denied")
        it.type("\t")
        it.type("\r")
        it.type("\r")
        it.wait_for("allow: status")
        it.type("see @chap")
        it.wait_for("chapter one.txt")
        it.type("\t")
        it.wait_for('"chapter one.txt')


def test_tab_completes_models_and_past_sessions(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("/model oll")
        it.wait_for("oll")
        it.type("\t")
        it.wait_for("ollama:")
        it.say("qwen3")
        it.wait_for("The model is ollama:qwen3.")
        it.wait_for("ollama:qwen3")
        it.type("/resume s")
        it.wait_for("What about trains?")
        it.type("\t")
        it.type("\r")
        it.type("\r")
        it.wait_for("There is no session `s-0`.")


def test_the_menu_of_completions_is_in_the_terminals_own_colours(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("/")
        it.wait_for("/permissions")
        before = it.seen.rpartition("/permissions")[0]
        assert re.findall(r"\x1b\[([0-9;]*)m", before)[-1] in ("0", "0;39;49")


def test_an_own_command_has_the_terminal_and_ctrl_c_ends_it_alone(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("!test -t 0 && echo on a $((1 + 1)) terminal")
        it.wait_for("on a 2 terminal")
        it.wait_for("local:stand-in")
        # `exec`: a shell that is just about to start `sleep` would keep the signal to itself, as in any terminal.
        it.say("!echo started $((1 + 2)); exec sleep 60")
        it.wait_for("started 3")
        it.type("\x03")
        it.wait_for("ended by SIGINT")
        it.say("next")
        it.wait_for("You said: 'next'")


def test_the_output_of_a_shared_own_command_goes_with_the_next_message(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("!!printf 'shared\\033[31m'")
        it.wait_for("The output goes to the model with your next message.")
        it.say("why?")
        it.wait_for("(exit code 0). Its output:")


def test_what_was_attached_to_a_message_is_not_typed_text_when_it_is_taken_back(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("boats float\n")
    with chat(tmp_path, columns=1000) as it:
        it.say("!!seq 1001 1003")
        it.wait_for("with your next message.")
        it.wait_for("local:stand-in")
        it.say("add @notes.txt")
        it.wait_for("I ran seq 1001 1003 (exit")
        it.wait_for("local:stand-in")
        it.say("/retry")
        it.wait_for("› add @notes.txt\n")
        assert "1002" not in it.wait_for("You said: 'add @notes.txt")
        it.wait_for("1002")  # it went along again
        it.wait_for("local:stand-in")
        it.say("/undo")
        it.wait_for("The output of your own command goes along again.")
        assert "1002" not in it.wait_for("add @notes.txt")
        it.say(" up")
        it.wait_for("You said: 'add @notes.txt up")
        it.wait_for("1002")


def test_a_command_that_takes_nothing_does_nothing_with_words_behind_it(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("/exit now")
        it.wait_for("/exit takes nothing after it, not `now`.")
        it.wait_for("Nothing was done.")
        it.say("still here")
        it.wait_for("You said: 'still here'")


def test_leaving_says_how_to_go_on_if_there_is_something_to_go_on_with(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.type("\x04")
        assert it.end() == 0
        assert "To go on" not in it.seen
    with chat(tmp_path) as it:
        it.say("hello")
        it.wait_for("You said: 'hello'")
        it.wait_for("local:stand-in")
        it.say("/exit")
        it.wait_for("To go on with this: mm -r s-1")
        assert it.end() == 0


def a_shell_with_jobs() -> int:
    """Gives the terminal to the chat as a job of its own, and brings it back whenever it has stopped, after a line."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            code = stand_in.main()
        finally:
            os._exit(code)
    _, status = os.waitpid(job, os.WUNTRACED)
    while os.WIFSTOPPED(status):
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"the job has stopped\r\n")
        os.write(1, b"the shell read %r\r\n" % os.read(0, 4096))
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
        _, status = os.waitpid(job, os.WUNTRACED)
    return os.waitstatus_to_exitcode(status)


def bring_back(it: Terminal) -> None:
    """The shell has a sound terminal, and nothing in it that was typed for mm; then `fg`."""
    it.wait_for("the job has stopped")
    modes = termios.tcgetattr(it.descriptor)
    assert modes[3] & termios.ECHO and modes[3] & termios.ICANON and modes[0] & termios.ICRNL
    assert "\x1b[?25l" not in it.seen.rpartition("\x1b[?25h")[2], "the cursor is shown"
    it.type("fg\n")
    it.wait_for(r"the shell read b'fg\n'")


def test_ctrl_z_at_the_prompt_stops_the_chat_and_what_was_typed_is_there_when_it_goes_on(tmp_path: Path) -> None:
    with terminal(a_shell_with_jobs, tmp_path) as it:
        it.wait_for("local:stand-in")
        it.type("half")
        it.wait_for("half")
        it.type("\x1a")
        bring_back(it)
        it.wait_for("local:stand-in")
        it.say(" and half")
        it.wait_for("You said: 'half and half'")
        assert "^Z" not in it.seen
        it.wait_for("local:stand-in")
        it.type("\x04")
        assert it.end() == 0


def test_ctrl_z_in_the_middle_of_a_turn_stops_it_and_all_is_as_before_when_it_goes_on(tmp_path: Path) -> None:
    with terminal(a_shell_with_jobs, tmp_path) as it:
        it.wait_for("local:stand-in")
        it.say("gate")
        for keys in ("one\r", "two"):
            it.wait_for("the gate is shut")
            it.type(keys + "\x1a")
            bring_back(it)
        it.wait_for("the gate is shut")
        it.type(" three")
        (tmp_path / "open").touch()
        before = it.wait_for("Through.")
        assert "three" not in before and "^Z" not in it.seen
        it.wait_for("local:stand-in")
        it.say("!")
        it.wait_for(r"You said: 'one\ntwo three!'")
        it.wait_for("local:stand-in")
        it.type("\x04")
        assert it.end() == 0


def test_ctrl_z_at_a_question_stops_mm_and_the_question_is_there_when_it_goes_on(tmp_path: Path) -> None:
    with terminal(a_shell_with_jobs, tmp_path) as it:
        it.wait_for("local:stand-in")
        it.say("ask x")
        it.wait_for("… >")
        it.type("\x1a")
        bring_back(it)
        it.wait_for("… >")
        it.say("y")
        it.wait_for("decision=YES")


def test_ctrl_z_in_an_own_command_stops_it_with_mm_and_both_go_on(tmp_path: Path) -> None:
    with terminal(a_shell_with_jobs, tmp_path) as it:
        it.wait_for("local:stand-in")
        it.say("!echo $((1 + 1)) runs; exec cat")  # `exec`: see above
        it.wait_for("2 runs")
        it.type("\x1a")
        bring_back(it)
        it.type("still here\n")
        it.wait_for("still here\nstill here\n")
        it.type("\x04")
        it.wait_for("local:stand-in")
        it.type("\x04")
        assert it.end() == 0


def test_where_there_is_no_shell_to_go_back_to_ctrl_z_does_nothing(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("!echo $((1 + 1)) runs; exec cat")
        it.wait_for("2 runs")
        it.type("\x1a")
        it.type("still here\n")
        it.wait_for("still here\nstill here\n")
        it.type("\x04")
        it.wait_for("local:stand-in")
        it.say("gate")
        it.wait_for("the gate is shut")
        it.type("\x1a")
        (tmp_path / "open").touch()
        it.wait_for("Through.")
        it.wait_for("local:stand-in")
        it.say("next")
        it.wait_for("You said: 'next'")


def stopped_while_it_starts() -> int:
    agent = stand_in.StandIn()
    agent.interrupt.install()
    os.kill(os.getpid(), signal.SIGTERM)
    return run_chat(agent, agent.terminal)


def test_a_signal_to_end_that_comes_while_the_chat_starts_is_not_forgotten(tmp_path: Path) -> None:
    with terminal(stopped_while_it_starts, tmp_path) as it:
        assert it.end() == 143


def test_what_is_told_outside_of_a_turn_is_shown_before_the_next_prompt(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("/compact")
        it.wait_for("Replaced 4 messages by a summary.")
        it.wait_for("! this summary is kept in memory only")
        it.wait_for("local:stand-in")


def test_what_the_system_refuses_is_said_and_the_chat_goes_on(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("refused")
        it.wait_for("`/some/file`: Permission denied.")
        it.say("see @" + "x" * 300)
        it.wait_for("You said: 'see")


def test_a_long_line_on_a_dumb_terminal_is_said_to_be_cut_and_not_sent(tmp_path: Path) -> None:
    with chat(tmp_path, TERM="dumb") as it:
        it.type("x" * 4094 + "\n")
        it.wait_for("You said: 'xxx")
        it.wait_for("> ")
        for end in ("\n", "\nanother line\nand a third"):
            it.type("y" * 5000 + end)
            it.wait_for("That line was cut")
            it.wait_for("> ")
        it.type("short\n")
        it.wait_for("You said: 'short'")
        assert "You said: 'y" not in it.seen and "You said: 'a" not in it.seen


def test_lines_that_are_pasted_on_a_dumb_terminal_are_one_message(tmp_path: Path) -> None:
    with chat(tmp_path, TERM="dumb") as it:
        it.type("one\ntwo\a\n\nthree\n")
        it.wait_for(r"You said: 'one\ntwo\n\nthree'")


def test_history_is_kept_private_and_found_again(tmp_path: Path) -> None:
    with chat(tmp_path) as it:
        it.say("remember the boats")
        it.wait_for("You said")
    history = tmp_path / "data" / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    with chat(tmp_path) as it:
        it.type("\x12")
        it.type("boa")
        it.wait_for("remember the boats")
        it.type("\r")
        it.type("\r")
        it.wait_for("You said: 'remember the boats'")


def test_a_message_can_be_written_in_an_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "from the editor" > "$1"\n')
    editor.chmod(0o755)
    with chat(tmp_path, VISUAL=str(editor)) as it:
        it.type("\x18\x05")
        it.wait_for("from the editor")
        it.type("\r")
        it.wait_for("You said: 'from the editor'")


def test_an_editor_that_is_not_there_is_named(tmp_path: Path) -> None:
    with chat(tmp_path, EDITOR="nosuch-editor") as it:
        it.type("\x18\x05")
        it.wait_for("There is no program `nosuch-editor`, which EDITOR names.")
        it.wait_for("local:stand-in")
        it.say("hello")
        it.wait_for("You said: 'hello'")


def test_a_dumb_terminal_gets_text_as_it_comes_and_no_cursor_movement(tmp_path: Path) -> None:
    with chat(tmp_path, TERM="dumb") as it:
        it.type("markdown\n")
        shown = it.wait_for("The end.")
        assert "| a.md | 1,204 | boats |" in shown and "**three**" in shown
        it.wait_for("> ")
        it.type("ask x\n")
        it.wait_for("… > ")
        it.type("y\n")
        it.wait_for("decision=YES")
        it.wait_for("> ")
        it.type("\x04")
        assert it.end() == 0
        assert "\x1b" not in it.seen


def test_no_color_keeps_the_layout_and_drops_the_colours(tmp_path: Path) -> None:
    with chat(tmp_path, NO_COLOR="1", columns=40) as it:
        it.say("markdown")
        shown = it.wait_for("The end.")
        assert "planes and what is said" in shown
        assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;5;\d+)m", it.seen)
