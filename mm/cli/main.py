"""The command `mm`: finds the command that was asked for, loads only that, and ends with its exit code."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mm import __version__
from mm.cli.agent_option import AGENT_OPTION, means_agent_file
from mm.cli.complete import complete_folder, complete_model, complete_session, complete_tool
from mm.cli.report import report
from mm.cli.streams import ReaderGoneError, StdoutError, abandon_stdout, prepare_streams, tell
from mm.cli.values import NOT_EMPTY
from mm.errors import ExitCode, MMError, UsageError
from mm.options import Options, OutputFormat
from mm.visible import make_shell_word

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class _Entry:
    """A command that is loaded when it is asked for, or a group of such commands."""

    help: str
    module: str = ""
    commands: Mapping[str, _Entry] | None = None
    alone: str = ""  # of a group: the command that it means where none is named


_COMMANDS = {
    "init": _Entry("Write an agent file that works at once.", "mm.cli.init"),
    "tools": _Entry(
        "The tools of an agent file, without a model.",
        commands={
            "list": _Entry("List the tools.", "mm.cli.tools_list"),
            "show": _Entry("Show one tool, as written and as the model sees it.", "mm.cli.tools_show"),
            "check": _Entry("Find what is wrong in an agent file, and how to mend it.", "mm.cli.tools_check"),
            "run": _Entry("Run a tool yourself, the whole way that a model's call goes.", "mm.cli.tools_run"),
            "new": _Entry("Add a tool to an agent file, with a module scaffold for wasm.", "mm.cli.tools_new"),
        },
    ),
    "schema": _Entry("Print the JSON Schema of the agent file, for editors.", "mm.cli.schema"),
    "trust": _Entry("Trust an agent file that came with a folder.", "mm.cli.trust"),
    "model": _Entry(
        "The models that mm runs itself.",
        commands={
            "list": _Entry("List the models and say which are here.", "mm.cli.model_list"),
            "pull": _Entry("Fetch the weights of a model.", "mm.cli.model_pull"),
        },
    ),
    "sessions": _Entry(
        "What was said before; alone, it lists the sessions of this folder.",
        commands={
            "list": _Entry("List the sessions.", "mm.cli.sessions_list"),
            "show": _Entry("Print a session.", "mm.cli.sessions_show"),
            "search": _Entry("Search all sessions for words.", "mm.cli.sessions_search"),
            "export": _Entry("Write a session as Markdown or JSON.", "mm.cli.sessions_export"),
            "delete": _Entry("Delete sessions.", "mm.cli.sessions_delete"),
        },
        alone="list",
    ),
    "permissions": _Entry(
        "What you have allowed always; alone, it lists that.",
        commands={
            "list": _Entry("List it.", "mm.cli.permissions_list"),
            "revoke": _Entry("Take it back.", "mm.cli.permissions_revoke"),
        },
        alone="list",
    ),
    "mcp": _Entry(
        "MCP servers.", commands={"list": _Entry("Start the servers and list their tools.", "mm.cli.mcp_list")}
    ),
    "doctor": _Entry("Look at everything mm needs and say what is missing.", "mm.cli.doctor"),
    "completion": _Entry("Print what makes a shell complete names behind a Tab.", "mm.cli.completion"),
}


class _LazyGroup(click.Group):
    """A group whose commands are loaded by name."""

    def __init__(self, entries: Mapping[str, _Entry], alone: str = "", **rest: Any) -> None:
        super().__init__(**rest)
        self._entries = {name: entry for name, entry in entries.items() if _exists(entry)}
        self._alone = alone

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self._alone and not args and not ctx.resilient_parsing:
            args = [self._alone]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        if entry.commands is not None:
            return _LazyGroup(entry.commands, entry.alone, name=cmd_name, help=entry.help, no_args_is_help=True)
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands of the table and the options; nothing is loaded for it."""
        from click.shell_completion import CompletionItem

        names = [name for name in self._entries if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=self._entries[name].help) for name in names), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self._entries.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, prompt = args[0], ctx.params.get("prompt")
        if not ctx.resilient_parsing:
            if name not in self._entries and not name.startswith("-"):
                raise click.UsageError(f"There is no command `{name}`. {self._meant(ctx, args)}", ctx)
            if prompt is not None:
                whole = make_shell_word(prompt if prompt == "-" else " ".join([prompt, *args]))
                hint = f"To ask: mm -p {whole}   For the command, leave out `-p`."
                raise UsageError(f"`-p` asks the model, and `{name}` is a command: mm does one of the two.", hint)
        return super().resolve_command(ctx, args)

    def _meant(self, ctx: click.Context, args: list[str]) -> str:
        """What to write in place of a command that there is not."""
        name = args[0]
        if ctx.params.get("prompt") is not None:
            return "A prompt of several words needs quotes around all of it."
        if name == "help":
            return f"Write: {ctx.command_path} -h"
        if not ctx.parent and name in _MEANT:
            return f"Write: {_MEANT[name]}"
        for group, entry in self._entries.items():
            if name in (entry.commands or {}):
                return f"Write: {' '.join([ctx.command_path, group, *map(make_shell_word, args)])}"
        if near := difflib.get_close_matches(name, [*self._entries], n=1):
            return f"Did you mean `{near[0]}`?"
        if ctx.parent:
            return f"See: {ctx.command_path} -h"
        if means_agent_file(name):
            return f"The agent file is named with -a: mm -a {make_shell_word(name)}"
        return f'To ask the model: mm -p "{name} …"'


_MEANT = {"chat": "mm", "version": "mm --version"}


def _exists(entry: _Entry) -> bool:
    if entry.commands is not None:
        return any(_exists(inner) for inner in entry.commands.values())
    return (Path(__file__).parent / f"{entry.module.rpartition('.')[2]}.py").exists()


@click.group(
    cls=_LazyGroup,
    entries=_COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="mm", message="%(prog)s %(version)s")
@click.option("-p", "--print", "prompt", metavar="PROMPT", help="Ask once, print the answer; `-`: from stdin.")
@AGENT_OPTION
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    type=NOT_EMPTY,
    shell_complete=complete_model,
    help="provider:model, such as ollama:qwen3.",
)
@click.option("-y", "--yolo", is_flag=True, help="Do not ask before running tools; deny rules still hold.")
@click.option(
    "--allow",
    multiple=True,
    metavar="TOOL",
    type=NOT_EMPTY,
    shell_complete=complete_tool,
    help="Do not ask before running this tool (repeatable).",
)
@click.option(
    "--deny",
    multiple=True,
    metavar="TOOL",
    type=NOT_EMPTY,
    shell_complete=complete_tool,
    help="Never run this tool (repeatable).",
)
@click.option("--cwd", metavar="DIR", type=NOT_EMPTY, shell_complete=complete_folder, help="Work in this folder.")
@click.option("--max-rounds", type=click.IntRange(1), metavar="N", help="At most N requests a turn.")
@click.option(
    "--output-format", type=click.Choice([str(form) for form in OutputFormat]), default="text", help="What -p prints."
)
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the newest session here.")
@click.option(
    "-r", "--resume", metavar="ID", type=NOT_EMPTY, shell_complete=complete_session, help="Go on with this session."
)
@click.option("--no-session", is_flag=True, help="Keep nothing of this session.")
@click.option("-q", "--quiet", is_flag=True, help="No tool calls on stderr.")
@click.option("-v", "--verbose", is_flag=True, help="On stderr: reasoning, each reply's tokens and time.")
@click.pass_context
def mm(context: click.Context, /, **given: Any) -> None:
    """An agent for the terminal that turns programs you already have into typed tools for a language model.

    Without -p and without a command: a chat. To begin: mm init
    """
    given["output_format"] = OutputFormat(given["output_format"])
    options = Options(**given)
    _refuse_two_sessions(options)
    context.obj = options
    if context.invoked_subcommand is not None:
        return
    module = "mm.cli.chat" if options.prompt is None else "mm.cli.one_shot"
    code: ExitCode = importlib.import_module(module).run(options)
    context.exit(int(code))


def _refuse_two_sessions(options: Options) -> None:
    """Neither of `-c` and `-r` may win silently: the turn would be written into a session that was not meant."""
    if options.go_on and options.resume is not None:
        hint = "Keep `-r ID` for that session, or `-c` for the newest one of this folder and agent file."
        raise UsageError("`-c` and `-r` name two sessions to go on with.", hint)


_COMPLETION = "_MM_COMPLETE"  # the variable with which the completion script of a shell calls mm


def main() -> None:
    """Run the command line and end the process with its exit code."""
    prepare_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; give its exit code. What the user can mend is told in a few lines on stderr."""
    if _COMPLETION in os.environ:
        importlib.import_module("mm.cli.bash_words").register()
    try:
        code = mm.main(args=arguments, prog_name="mm", standalone_mode=False)
        code = int(code) if isinstance(code, int) else 0
        _print_rest(code)
        return code
    except ReaderGoneError:
        abandon_stdout()
        return int(ExitCode.DONE)
    except (click.ClickException, MMError, OSError) as error:
        return int(report(error))
    except (KeyboardInterrupt, click.Abort) as stopped:
        tell("mm: interrupted.")
        return _code_of_signal(stopped)


def _print_rest(code: int) -> None:
    """Print what is still to be printed. After a signal its code counts: with a closed window stdout is gone too."""
    try:
        sys.stdout.flush()
    except (StdoutError, ReaderGoneError):
        if code not in (ExitCode.INTERRUPTED, ExitCode.TERMINATED, ExitCode.HANGUP):
            raise
        abandon_stdout()


def _code_of_signal(stopped: BaseException) -> int:
    """Of SIGTERM or SIGHUP the one that `Interrupt` gave along; click hands it on as the cause of an Abort."""
    signalled = stopped.__cause__ if isinstance(stopped, click.Abort) else stopped
    return int(signalled.args[0]) if signalled is not None and signalled.args else int(ExitCode.INTERRUPTED)
