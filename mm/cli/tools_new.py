"""`mm tools new`: one more tool in an agent file, from a program or as a wasm module to be written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path

import click

from mm.cli.agent_file import is_trusted_already, needed_file, trust_quietly
from mm.cli.agent_option import AGENT_OPTION, means_agent_file
from mm.cli.entry_text import command_entry, typed_values, wasm_entry
from mm.cli.replacing import Draft
from mm.cli.scaffold import LANGUAGES, build_command, module_folder
from mm.cli.streams import show, tell
from mm.cli.values import is_text
from mm.config.append import append_tool, block_lines, by_hand
from mm.config.findings import Finding, Severity, findings
from mm.config.identity import identity
from mm.config.keys import PARAMETER_TYPES
from mm.config.load import load
from mm.config.problems import ConfigProblems
from mm.config.schema import Config
from mm.config.source import decode, read_bytes
from mm.config.tools_section import name_problem
from mm.errors import UsageError
from mm.messages import JSON
from mm.options import Options
from mm.visible import make_visible_line

_BOM = b"\xef\xbb\xbf"


class _RestIsCommand(click.Command):
    """Everything behind `--command` belongs to that command, its own options included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for position, argument in enumerate(args):
            flag, equals, first = argument.partition("=")
            if flag == "--command":
                ctx.meta[_ARGV] = [*([first] if equals else []), *args[position + 1 :]]
                return super().parse_args(ctx, args[:position])
        try:
            return super().parse_args(ctx, [*args])
        except click.UsageError as error:
            raise _with_command(args, error) from None

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["NAME", "[OPTIONS]", "(--command PROGRAM [ARGUMENT]... | --wasm LANGUAGE)"]


_ARGV = "mm.tools_new.argv"


def _with_command(args: Sequence[str], error: click.UsageError) -> Exception:
    """The error that names the missing `--command`, if a program stands right behind the tool's name."""
    if len(args) < 2 or any(one.startswith("-") for one in args[:2]):
        return error
    line = shlex.join([args[0], "--command", *args[1:]])
    return UsageError("Nothing says that the rest of the line is a command.", f"Write: mm tools new {line}")


@click.command("new", cls=_RestIsCommand)
@click.argument("name")
@click.option(
    "--command", "command_", is_flag=True, help="The rest of the line is what runs; {{x}} stands for a value."
)
@click.option("--wasm", "language", type=click.Choice([*LANGUAGES]), help="A module to be written in this language.")
@click.option("-d", "--description", metavar="TEXT", default="", help="What it does, and when to use it.")
@click.option(
    "--param",
    "parameters",
    metavar="NAME[?][:TYPE]=TEXT",
    multiple=True,
    help="With --command (repeatable): describes the parameter {{NAME}}. NAME? may be left out. "
    f"TYPE is {', '.join(PARAMETER_TYPES)}, or the allowed values: stable|beta.",
)
@AGENT_OPTION
@click.pass_context
def command(
    context: click.Context,
    name: str,
    command_: bool,
    language: str | None,
    description: str,
    parameters: tuple[str, ...],
    agent_file: str | None,
) -> None:
    """Add the tool NAME to an agent file, and leave the rest of the file as it is.

    \b
    mm tools new release --param "version=Version number, such as 1.4.2" --param "channel?:stable|beta=Where to" \\
    --command ./release.sh "{{version}}" "--channel={{channel}}"
    mm tools new count_words --wasm go

    --command comes last. With --wasm, a folder NAME beside the agent file gets a program to start from, its build
    line and a test.
    """
    argv: list[str] | None = context.meta.get(_ARGV)
    if (argv is None) == (language is None):
        raise UsageError("A tool is either a program or a module: give one of --command and --wasm.", _EXAMPLES)
    _refuse_bytes([name, description, *parameters, *(argv or ())])
    path = identity(needed_file(context, agent_file).path)
    options = context.find_object(Options)
    agent_file = agent_file or (options.agent_file if options else None)
    named = f" -a {shlex.quote(agent_file)}" if agent_file else ""
    old = _loaded(path)
    _check_name(name, old)
    if argv is not None:
        entry = command_entry(name, argv, description, parameters, path.parent)
        _add(path, old, entry, nullcontext())
        _tell(path, name, [f"mm tools run {name}{named}{typed_values(entry)}"], named=bool(named))
        _warn_of_own_options(argv)
        return
    assert language is not None
    if parameters:
        hint = f"Leave it out; then write them into {path.name}, the program in {name}/, and its test.sh and README.md."
        raise UsageError("--param belongs to --command: a module's parameters are those of its program.", hint)
    first_steps = _add_module(path, old, name, language, description)
    _tell(path, name, [*first_steps, f'mm tools run {name}{named} text="one two three"'], named=bool(named))


def _add_module(path: Path, old: Config, name: str, language: str, description: str) -> list[str]:
    """Add the entry of a module and the folder that it is built in. Gives the commands that build and test it."""
    folder = path.parent / name
    _add(path, old, wasm_entry(name, description), module_folder(folder, language, name, path), _GRANTS)
    where = os.path.relpath(folder)
    return [build_command(language, where), f"sh {shlex.quote(f'{where}/test.sh')}"]


def _warn_of_own_options(argv: Sequence[str]) -> None:
    """Say which options of this command became words of the tool's.

    `-a` and `-d` are options of many programs: they count where an agent file or a sentence follows.
    """
    own = {option for one in command.params for option in one.opts if option.startswith("--")}
    swallowed: dict[str, None] = {}
    for word, following in pairwise([*argv[1:], ""]):
        option = word.partition("=")[0]
        means_file = option == "-a" and following != "" and means_agent_file(following)
        if option in own or means_file or (word == "-d" and " " in following):
            swallowed[option] = None
    if swallowed:
        listed = ", ".join(f"`{option}`" for option in swallowed)
        tell(f"warning: {listed}, behind --command, became a part of the command.")
        tell("  Options of `mm tools new` stand before --command. If it was meant as one, remove the entry and repeat.")


def _refuse_bytes(given: Sequence[str]) -> None:
    for text in given:
        if not is_text(text):
            hint = "An agent file holds nothing else. Is the terminal set to UTF-8?"
            raise UsageError(f"`{make_visible_line(text)}` is not text in UTF-8.", hint)


def _loaded(path: Path) -> Config:
    try:
        return load(path, environ=os.environ)
    except ConfigProblems as problems:
        raise UsageError(f"{problems.message}\nNothing was changed.", "Mend these first, then add the tool.") from None


def _check_name(name: str, config: Config) -> None:
    wrong = name_problem(name)
    if wrong:
        raise UsageError(f"{wrong[0]}.", wrong[1])
    for entry in config.tools:
        if entry.name == name:
            hint = "Choose another name, or edit that entry."
            raise UsageError(f"There is a tool `{name}` already, in line {entry.place.line}.", hint)


def _add(
    path: Path, old: Config, entry: dict[str, JSON], files: AbstractContextManager[None], comment: str = ""
) -> None:
    """Write the changed file beside the old one, load it, write the other `files`, then put it in its place."""
    data = read_bytes(path)
    bom = _BOM if data.startswith(_BOM) else b""
    changed = append_tool(path, decode(path, data), entry, comment=comment)
    was_trusted = is_trusted_already(old)
    manual = by_hand(block_lines(entry))
    with Draft(path, bom + changed.encode(), manual) as draft:
        try:
            load(draft.path, environ=os.environ)
        except ConfigProblems as problems:
            lines = "\n".join(f"  {problem.message}\n    {problem.hint}" for problem in problems.problems)
            raise UsageError(f"This tool would not load; nothing was changed.\n{lines}") from None
        with files:
            draft.replace(data)
    if was_trusted:
        trust_quietly(load(path, environ=os.environ))


def _tell(path: Path, name: str, commands: Sequence[str], *, named: bool) -> None:
    """What was done, what is left to mend, and what to type next; `mm trust` first, where nothing runs without it."""
    config = load(path, environ=os.environ)
    entry = next(entry for entry in config.tools if entry.name == name)
    left = _left(config, name)
    is_broken = any(finding.severity is Severity.ERROR for finding in left)
    but = ". The entry is written, but it cannot run yet:" if is_broken else ""
    show(f"Added `{name}`: {make_visible_line(os.path.relpath(path))}:{entry.place.line}{but}")
    for finding in left:
        show(f"  {finding.severity}: {make_visible_line(finding.message)}")
        show(f"    {make_visible_line(finding.hint)}")
    if any(words in finding.message for finding in left for words in ("no description", "description is empty")):
        show("  (At once, next time: -d TEXT and --param NAME=TEXT before --command.)")
    show("Next, once that is mended:" if is_broken else "Next:")
    for line in commands if named or is_trusted_already(config) else ["mm trust", *commands]:
        show(f"  {line}")


def _left(config: Config, name: str) -> list[Finding]:
    """What `mm tools check` says about the new entry; that its module is not built yet goes without saying."""
    found = [one for one in findings(config) if one.message.startswith(f"`{name}`")]
    return [one for one in found if "the module `" not in one.message]


_EXAMPLES = 'Such as: mm tools new release --command ./release.sh "{{version}}"   or: mm tools new count --wasm go'
_GRANTS = "It sees no files. To let it see a folder, as /notes: read: [notes]   or, to write there too: write: [notes]"
