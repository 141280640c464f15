"""`mm`: a chat in the terminal."""

from __future__ import annotations

import sys

from mm.app.agent_file import chosen_config
from mm.app.assembly import Assembly
from mm.app.conversation import Conversation
from mm.errors import ExitCode, UsageError
from mm.interrupt import Interrupt
from mm.options import Options
from mm.terminal.chat import ChatTerminal, run_chat


def run(options: Options) -> ExitCode:
    """Chat until the person leaves."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("A chat needs a terminal.", 'To ask once: mm -p "your prompt"')
    interrupt = Interrupt()
    interrupt.install()
    config = chosen_config(options, interrupt)
    terminal = ChatTerminal(interrupt, verbose=options.verbose, keep=not options.no_session)
    assembly = Assembly(config, options, interrupt=interrupt, listen=terminal.display, person=terminal.person)
    try:
        agent = assembly.agent()
        try:
            terminal.display.show_pending()
            interrupt.check()
            return run_chat(Conversation(assembly, agent, terminal.display.showing), terminal)
        finally:
            agent.close()
    finally:
        assembly.close()
        terminal.display.show_pending()
