"""Key bindings of the message line: what sends, what breaks a line, what a paste may do."""

from __future__ import annotations

import re
import select
from collections.abc import Callable

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, completion_is_selected, has_completions, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyBindingsBase, KeyPressEvent, merge_key_bindings
from prompt_toolkit.keys import Keys

from mm.terminal.editor import editor_problem
from mm.visible import remove_escapes

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RUBBED_OUT = re.compile("[^\x7f\x08\r\n][\x7f\x08]|[^\r\n]*\x15")
_NEXT_KEY = 0.01  # seconds in which a paste brings its next key and a person does not


def clean_paste(text: str) -> str:
    """Pasted text: line ends as newlines, control characters gone."""
    plain = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return plain.encode("utf-8", "replace").decode("utf-8")  # a byte that is no UTF-8 arrives as a lone surrogate


def as_line(typed: str) -> str:
    """The text that keys make which nobody has read yet: what was rubbed out and what moved the cursor is gone."""
    text = typed
    while (shorter := _RUBBED_OUT.sub("", text)) != text:
        text = shorter
    return clean_paste(remove_escapes(text)).strip("\n")


def message_keys() -> KeyBindingsBase:
    """Enter sends, Alt-Enter and Ctrl-J break the line, a paste never sends, Ctrl-C clears or asks to leave."""
    return merge_key_bindings([_enter_keys(), _break_keys(), _paste_keys(clean_paste), _clear_keys(), _editor_keys()])


def question_keys() -> KeyBindingsBase:
    """For a question: Esc is the answer "no", a paste stays on one line."""
    keys = KeyBindings()

    @keys.add("escape", eager=False)
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result="\x1b")

    return merge_key_bindings([keys, _paste_keys(lambda text: clean_paste(text).replace("\n", " "))])


def editing_keys() -> KeyBindingsBase:
    """For changing a given text: as for a message, and Esc or Ctrl-D give up."""
    keys = KeyBindings()

    @keys.add("escape")
    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(exception=EOFError, style="class:exiting")

    return merge_key_bindings([message_keys(), keys])


def _enter_keys() -> KeyBindings:
    """What Enter does: it sends, but in a paste and in a list of completions."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        """A line end with more keys right behind it is a paste without brackets: it breaks the line."""
        if _more_is_coming(event):
            event.current_buffer.newline(copy_margin=False)
        else:
            _send(event.current_buffer)

    @keys.add("enter", filter=has_completions & completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        """Take the chosen completion; the next Enter sends."""
        event.current_buffer.complete_state = None

    return keys


def _break_keys() -> KeyBindings:
    """What breaks the line."""
    keys = KeyBindings()

    @keys.add("c-j", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        """A /command has one line only, so there it sends."""
        buffer = event.current_buffer
        if _has_broken_the_line(event):
            return
        if buffer.text.startswith("/") and "\n" not in buffer.text and not _more_is_coming(event):
            _send(buffer)
        else:
            buffer.newline(copy_margin=False)

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return keys


def _paste_keys(clean: Callable[[str], str]) -> KeyBindings:
    """What a paste in brackets puts into the line: the text as `clean` gives it."""
    keys = KeyBindings()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(clean(event.data))

    return keys


def _clear_keys() -> KeyBindings:
    """What Ctrl-C does: clear what was typed; on an empty line the chat decides."""
    keys = KeyBindings()

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

    return keys


def _editor_keys() -> KeyBindings:
    """What Ctrl-X Ctrl-E does where the editor cannot be started: of itself prompt_toolkit would start another one."""
    keys = KeyBindings()

    @keys.add("c-x", "c-e", filter=Condition(lambda: bool(editor_problem())))
    def _(event: KeyPressEvent) -> None:
        run_in_terminal(lambda: print(editor_problem()))

    return keys


def _send(buffer: Buffer) -> None:
    if buffer.text.strip():
        buffer.validate_and_handle()


def _has_broken_the_line(event: KeyPressEvent) -> bool:
    """Whether the carriage return right before this newline has: a paste may bring both for one end of a line."""
    before = [press.key for press in event.previous_key_sequence]
    return before == [Keys.ControlM] and event.current_buffer.document.text_before_cursor.endswith("\n")


def _more_is_coming(event: KeyPressEvent) -> bool:
    """Whether keys are already there behind this one: nobody types that fast.

    While the terminal still owes an answer to "where is the cursor", what can be read may be that answer.
    """
    if any(press.key is not Keys.CPRResponse for press in event.key_processor.input_queue):
        return True
    if event.app.renderer.waiting_for_cpr:
        return False
    readable, _, _ = select.select([event.app.input.fileno()], [], [], _NEXT_KEY)
    return bool(readable)
