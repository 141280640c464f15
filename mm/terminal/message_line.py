"""Reads the person's messages and answers with prompt_toolkit: history, completion, status line, editing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import Condition, to_filter
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.layout.containers import HSplit, VerticalAlign
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.styles import Style
from rich.color import Color

from mm.errors import MMError
from mm.folders import data_folder, open_private
from mm.interrupt import Interrupt
from mm.terminal.keys import clean_paste, editing_keys, message_keys, question_keys
from mm.terminal.modes import take_typed_ahead
from mm.terminal.palette import READABLE, Palette
from mm.terminal.screen import Screen

_PROMPT = "› "
_EDITING = "  Enter done · Ctrl-J new line · Ctrl-X Ctrl-E editor · Esc no change"
_ESCAPE_ALONE = 0.05  # seconds after which Esc is a key of its own and not the begin of another
_CHORD = 0.5  # seconds for the second key of Ctrl-X Ctrl-E, and so for Esc, where both mean something


class MessageLine:
    """The input of a chat on a terminal that can move its cursor."""

    def __init__(
        self,
        status: Callable[[], FormattedText],
        completer: Completer,
        screen: Screen,
        interrupt: Interrupt,
        *,
        keep: bool,
    ) -> None:
        """`keep` False: the messages are written down nowhere."""
        self._interrupt = interrupt
        self._palette: Palette = screen.palette
        self._input: Input = create_input()
        self._output: Output = create_output(screen.stream)
        self._status = status
        self._messages = self._session(
            history=_history() if keep else InMemoryHistory(),
            completer=completer,
            complete_while_typing=Condition(_may_complete),
            multiline=True,
            key_bindings=message_keys(),
            prompt_continuation=lambda width, number, wraps: " " * width,
            enable_open_in_editor=True,
            tempfile_suffix=".md",
            reserve_space_for_menu=6,
        )
        _put_status_below(self._messages)

    def read_message(self, draft: str = "") -> str:
        """One message. Raises EOFError on Ctrl-D, KeyboardInterrupt on Ctrl-C at an empty line."""
        prompt = FormattedText([("class:prompt", _PROMPT)])
        return self._read(self._messages, prompt, default=draft, bottom_toolbar=self._status)

    def ask(self, label: str) -> str | None:
        """One line, the answer to a question; None on Ctrl-D. Ctrl-C raises KeyboardInterrupt."""
        session = self._session(key_bindings=question_keys())
        session.app.ttimeoutlen = session.app.timeoutlen = _ESCAPE_ALONE
        hint, mark, end = label.rpartition("> ")
        question = FormattedText([("class:question", hint), ("class:prompt", mark + end)])
        try:
            return self._read(session, question)
        except EOFError:
            return None

    def edit(self, text: str) -> str | None:
        """Change a text of several lines; None on Esc or Ctrl-D."""
        session = self._session(
            key_bindings=editing_keys(), multiline=True, enable_open_in_editor=True, tempfile_suffix=".json"
        )
        session.app.ttimeoutlen, session.app.timeoutlen = _ESCAPE_ALONE, _CHORD
        try:
            return self._read(
                session,
                FormattedText([("class:prompt", _PROMPT)]),
                default=text,
                bottom_toolbar=FormattedText([("class:bottom-toolbar.text", _EDITING)]),
                prompt_continuation=lambda width, number, wraps: " " * width,
            )
        except EOFError:
            return None

    def take_typed_ahead(self) -> str:
        """The keys that were typed before a question appears, wherever they wait."""
        held = "".join(press.data for press in get_typeahead(self._input))
        return held + take_typed_ahead(self._input.fileno())

    def _read(self, session: PromptSession[str], prompt: FormattedText, **options: Any) -> str:
        """What is typed. A signal ends it as Ctrl-C does."""
        app = session.app

        def leave() -> None:
            if app.is_running and not app.is_done:
                app.exit(exception=KeyboardInterrupt)

        def leave_soon() -> None:
            if app.is_running and app.loop is not None:
                app.loop.call_soon_threadsafe(leave)

        def begin() -> None:
            if self._interrupt.stop.is_set():  # the signal came when there was nothing to leave yet
                leave()

        with self._interrupt.waiting(leave_soon):
            return clean_paste(session.prompt(prompt, pre_run=begin, handle_sigint=False, **options))

    def _session(self, **options: Any) -> PromptSession[str]:
        options.setdefault("history", InMemoryHistory())
        return PromptSession(
            input=self._input,
            output=self._output,
            style=_style(self._palette),
            color_depth=_depth(self._palette),
            enable_suspend=True,
            **options,
        )


def _may_complete() -> bool:
    """Completions are looked for, and room is kept for them, only where there can be any."""
    text = get_app().current_buffer.document.text_before_cursor
    return text.startswith("/") or "@" in text


def _put_status_below(session: PromptSession[str]) -> None:
    """Let the status line follow the message. Of itself a message of several lines would fill the whole screen."""
    root = session.layout.container
    assert isinstance(root, HSplit)
    root.align = VerticalAlign.TOP
    for window in session.layout.find_all_windows():
        if isinstance(window.content, BufferControl) and window.content.buffer is session.default_buffer:
            window.dont_extend_height = to_filter(True)


class _PrivateHistory(FileHistory):
    """Messages in a file of the user's own. A full disk costs the history, not the chat."""

    def store_string(self, string: str) -> None:
        with contextlib.suppress(OSError):
            super().store_string(string.encode("utf-8", "replace").decode("utf-8"))


def _history() -> History:
    try:
        path = data_folder() / "chat_history"
        os.close(open_private(path))
    except (MMError, OSError):
        return InMemoryHistory()
    return _PrivateHistory(str(path))


def _style(palette: Palette) -> Style:
    """The same few colours as everywhere in the chat."""
    accent, warning, grey = (_colour(name, palette) for name in ("cyan", "yellow", "grey"))
    plain = "fg:ansidefault bg:ansidefault"
    return Style.from_dict(
        {
            "prompt": f"{accent} bold",
            "question": f"{grey} nobold",
            "bottom-toolbar": "noreverse",
            "bottom-toolbar.text": grey,
            "status.warning": warning,
            "completion-menu": plain,
            "completion-menu.completion": plain,
            "completion-menu.completion.current": f"{plain} {accent} bold noreverse",
            "completion-menu.meta.completion": f"{plain} {grey}",
            "completion-menu.meta.completion.current": f"{plain} {grey}",
            "scrollbar.background": plain,
            "scrollbar.button": f"{plain} {grey} reverse",
            "aborting": grey,
            "exiting": grey,
        }
    )


def _colour(name: str, palette: Palette) -> str:
    if palette.coloured and palette.many:
        return f"fg:{Color.from_ansi(READABLE[name]).get_truecolor().hex}"
    return "dim" if name == "grey" else f"fg:ansi{name}"


def _depth(palette: Palette) -> ColorDepth:
    if not palette.coloured:
        return ColorDepth.DEPTH_1_BIT
    return ColorDepth.DEPTH_8_BIT if palette.many else ColorDepth.DEPTH_4_BIT
