"""The chat: read a message, have it answered, until the person leaves."""

from __future__ import annotations

import signal
import sys

from prompt_toolkit.formatted_text import FormattedText

from mm.errors import ExitCode, MMError
from mm.interrupt import Interrupt, Interrupted
from mm.terminal import own_command
from mm.terminal.chat_agent import ChatAgent, TurnEnded
from mm.terminal.chat_person import AnswerReader, ChatPerson
from mm.terminal.commands.command import Chat
from mm.terminal.commands.sessions import show_last_exchange
from mm.terminal.commands.table import run_command
from mm.terminal.display import TurnDisplay
from mm.terminal.line_person import LineDesk
from mm.terminal.mentions import insert_files, labelled_block
from mm.terminal.message_line import MessageLine
from mm.terminal.modes import quiet, restored
from mm.terminal.screen import Screen
from mm.terminal.voice import ScreenVoice

_SYSTEM_STOPS = (ExitCode.TERMINATED, ExitCode.HANGUP)
