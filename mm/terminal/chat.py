"""The chat: read a message, have it answered, until the person leaves."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from prompt_toolkit.formatted_text import FormattedText
from rich.cells import cell_len

from mm.errors import ExitCode, MMError, ToolError
from mm.interrupt import Interrupt, Interrupted
from mm.terminal import own_command
from mm.terminal.cells import wrap_words
from mm.terminal.chat_agent import ChatAgent, TurnEnded
from mm.terminal.chat_person import ChatPerson
from mm.terminal.commands.command import Chat
from mm.terminal.commands.sessions import show_last_exchange
from mm.terminal.commands.table import run_command
from mm.terminal.completion import ChatCompleter, Choices
from mm.terminal.display import TurnDisplay
from mm.terminal.keys import as_line, clean_paste
from mm.terminal.line_person import LineDesk
from mm.terminal.mentions import insert_files, own_output
from mm.terminal.message_line import MessageLine
from mm.terminal.modes import quiet, take_typed
from mm.terminal.screen import Screen
from mm.terminal.status import status_line
from mm.terminal.suspension import Suspension
from mm.terminal.voice import ScreenVoice
from mm.visible import make_visible, make_visible_line

_SYSTEM_STOPS = (ExitCode.TERMINATED, ExitCode.HANGUP)


class ChatTerminal:
    """The terminal of one chat. `display` listens to the agent, `person` answers it; both are made before it is.

    `keep` False: what is typed is written down nowhere.
    """

    def __init__(self, interrupt: Interrupt, *, verbose: bool = False, keep: bool = True) -> None:
        self.descriptor = sys.stdin.fileno()
        self.screen = Screen(sys.stdout)
        self.display = TurnDisplay(self.screen, verbose=verbose)
        self.status: Callable[[], FormattedText] = FormattedText
        self.choices: Choices = lambda command: ()
        completer = ChatCompleter(lambda command: self.choices(command))
        self._plain = LineDesk(interrupt, self.screen.stream, self.descriptor)
        self.line: MessageLine | None = None
        if self.screen.moves:
            self.line = MessageLine(lambda: self.status(), completer, self.screen, interrupt, keep=keep)
        self.person = ChatPerson(self.screen, self.display, self.line or self._plain, interrupt)
        self.suspension = Suspension(self.descriptor, self.display.paused, self._keep_for_later)

    def read_message(self, draft: str) -> str:
        """One message. Raises EOFError at its end, KeyboardInterrupt on Ctrl-C at an empty line."""
        self.screen.someone_wrote()
        if self.line is not None:
            return self.line.read_message(draft)
        if draft:  # there is no way to put it into the line
            self.screen.print([f"not sent: {line}" for line in make_visible(draft).split("\n")])
        text = self._plain.ask_for_message("> ")
        if text is None:
            raise EOFError
        return clean_paste(text)

    def take_typed(self) -> str:
        """What was typed and is still to be read, as the text of a line."""
        typed, self.person.typed_ahead = self.person.typed_ahead, ""
        return as_line(typed + take_typed(self.descriptor))

    def is_gone(self) -> bool:
        """Whether its window was closed."""
        return self.screen.gone or not os.isatty(self.descriptor)

    def _keep_for_later(self, typed: str) -> None:
        self.person.typed_ahead += typed


def run_chat(agent: ChatAgent, terminal: ChatTerminal, *, first: str = "") -> ExitCode:
    """Chat until the person leaves. `first` is sent at once, as if it had been typed.

    From the first prompt on the terminal is quiet between prompts, so that keys wait for the next one unchanged,
    whenever they are typed. Its modes are put back on every way out.
    """
    with terminal.suspension.allowed(), quiet(terminal.descriptor):
        return _ChatLoop(agent, terminal, first).run()


class _ChatLoop:
    """The loop: one message, one turn or one command."""

    def __init__(self, agent: ChatAgent, terminal: ChatTerminal, first: str) -> None:
        self._agent = agent
        self._terminal = terminal
        self._voice = ScreenVoice(terminal.screen)
        self._chat = Chat(agent, self._voice, prompt=first)
        self._asked_to_leave = False
        terminal.status = lambda: status_line(agent, terminal.screen.width)
        terminal.choices = self._choices

    def run(self) -> ExitCode:
        self._greet()
        while not self._chat.leaving and not self._stopped_by_system():
            self._agent.interrupt.install()
            self._agent.interrupt.clear()
            try:
                message = self._next_message()
            except EOFError:
                break
            except (MMError, OSError):
                if not self._terminal.is_gone():
                    raise
                break
            if message is not None:
                self._guarded(message)
        if self._stopped_by_system():
            return self._agent.interrupt.exit_code
        if self._terminal.is_gone():  # SIGHUP may come a little later, or not at all
            return ExitCode.HANGUP
        self._say_way_back()
        return ExitCode.DONE

    def _greet(self) -> None:
        screen = self._terminal.screen
        greeting = f"mm · {make_visible_line(self._agent.name)} · /help"
        whole = f"{greeting} lists what you can type"
        lines = [whole] if cell_len(whole) <= screen.width else wrap_words(greeting, screen.width)
        screen.print([screen.palette.dim(line) for line in lines])
        show_last_exchange(self._chat)

    def _say_way_back(self) -> None:
        if way := self._agent.way_back():
            screen = self._terminal.screen
            lines = [screen.palette.dim(line) for line in wrap_words(f"To go on with this: {way}", screen.width)]
            screen.print(lines if self._terminal.line else ["", *lines])  # there Ctrl-D ends no line

    def _choices(self, command: str) -> Sequence[tuple[str, str]]:
        """What can follow a /command, each with its meaning. Nothing where it cannot be read."""
        try:
            if command == "model":
                return self._agent.models()
            if command == "resume":
                return [(line.id, f"{line.when}  {line.title}") for line in self._agent.sessions() if not line.here]
        except MMError:
            pass
        return ()

    def _next_message(self) -> str | None:
        """The next message, or None if there is none this time. Raises EOFError when the person leaves."""
        if self._chat.prompt:
            message, self._chat.prompt = self._chat.prompt, ""
            self._voice.say_prompt(message)
            return message
        if self._terminal.person.typed_ahead:  # Ctrl-Z during a command
            self._keep_typed()
        draft, self._chat.draft = self._chat.draft, ""
        self._terminal.display.show_pending()
        if file := self._agent.changed_file():
            self._voice.say(f"`{make_visible_line(file)}` has changed: mm uses the old one until it is started again.")
        self._terminal.screen.print([""])
        try:
            message = self._terminal.read_message(draft)
        except KeyboardInterrupt:
            self._leave_at_second_time()
            return None
        self._asked_to_leave = False
        return message if message.strip() else None

    def _leave_at_second_time(self) -> None:
        if self._terminal.line is None:
            self._terminal.screen.print([""])  # the terminal has echoed ^C
        if self._asked_to_leave or self._stopped_by_system():
            raise EOFError
        self._asked_to_leave = True
        self._voice.say("Ctrl-C again, or Ctrl-D, leaves.")

    def _guarded(self, message: str) -> None:
        """Do what a message asks for. What goes wrong is said, and the chat goes on."""
        try:
            if message.startswith("/") and _is_command(message):
                run_command(self._chat, message)
            elif message.startswith("!"):
                self._run_own_command(message)
            else:
                self._send(message)
        except MMError as error:
            self._voice.complain(error.message, error.hint)
        except ToolError as error:
            self._voice.complain(error.message)
        except OSError as error:
            about = f"`{error.filename}`: " if error.filename else ""
            self._voice.complain(f"{about}{error.strerror or error}.")
        except (KeyboardInterrupt, Interrupted):
            self._keep_typed()
            self._voice.complain("Interrupted.")

    def _send(self, message: str) -> None:
        mentions = insert_files(message)
        for problem in mentions.problems:
            self._voice.complain(problem)
        if mentions.problems and "\n" not in message:
            self._chat.draft = message
            self._voice.say("Nothing was sent.")
            return
        attachments, self._chat.attachments = self._chat.attachments, []
        if self._answer("\n\n".join([mentions.text, *attachments])).unsaid:
            self._chat.draft = "\n".join(filter(None, (message, self._chat.draft)))
            self._chat.attachments = attachments

    def _answer(self, prompt: str) -> TurnEnded:
        """One turn. Keys typed meanwhile wait for the next message; after an interrupt nothing of it is sent unseen."""
        self._terminal.screen.print([""])
        with self._terminal.display.showing():
            end = self._agent.turn(prompt)
        self._keep_typed_if_stopped()
        self._show_end(end)
        return end

    def _keep_typed(self) -> None:
        """Put what was typed meanwhile into the next line, whole lines too: the person looks at it first.

        Call it before the person is told that it is over: what they type after that is the next message.
        """
        self._chat.draft = "\n".join(filter(None, (self._chat.draft, self._terminal.take_typed())))

    def _keep_typed_if_stopped(self) -> None:
        """By Ctrl-C, or for a moment by a question or Ctrl-Z that found something typed for later."""
        if self._agent.interrupt.stop.is_set() or self._terminal.person.typed_ahead:
            self._keep_typed()

    def _show_end(self, end: TurnEnded) -> None:
        """What the turn's events did not show: the output that ended it, and why it ended."""
        shown = end.code is ExitCode.FAILED or end.text.strip() == self._terminal.display.answer.strip()
        if end.text.strip() and not shown:
            self._terminal.screen.print([""])
            self._voice.say_markdown(end.text)
        if end.message:
            self._terminal.screen.print([""])
            self._voice.complain(end.message, end.hint)

    def _run_own_command(self, message: str) -> None:
        """`!command` for the person alone, `!!command` for the model too."""
        shared = message.startswith("!!")
        command = message.lstrip("!").strip()
        if not command:
            self._voice.complain("There is no command after `!`.", "For example: !git status")
            return
        if not shared:
            descriptor, suspend = self._terminal.descriptor, self._terminal.suspension.suspend
            code = own_command.run_on_terminal(command, descriptor, self._agent.interrupt, suspend)
            if code:
                self._voice.say(own_command.ending(code))
            return
        output, code = own_command.run_captured(command, self._agent.interrupt)
        self._keep_typed_if_stopped()
        self._voice.say_lines(output)
        self._chat.attachments.append(own_output(command, own_command.ending(code), output))
        self._voice.say("The output goes to the model with your next message.")

    def _stopped_by_system(self) -> bool:
        interrupt = self._agent.interrupt
        return interrupt.stop.is_set() and interrupt.exit_code in _SYSTEM_STOPS


def _is_command(message: str) -> bool:
    """`/help` is a command; `/usr/bin/python fails, why?` is a message about a path."""
    return "/" not in message[1:].split(maxsplit=1)[0] if message[1:].strip() else True
