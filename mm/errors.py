"""The errors of mm: those that the user can mend, and those that the model can act on."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every mm command. Of those that apply, the first of 130, 1, 3, 4 is used."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    STOPPED = 3
    REFUSED = 4
    HANGUP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class MMError(Exception):
    """Something the user can mend: what is wrong, and a hint that is a command or an edit.

    Shown as one or two lines on stderr, never as a traceback.
    """

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "", *, exit_code: ExitCode | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if exit_code is not None:
            self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(MMError):
    """A wrong command line or agent file."""

    exit_code = ExitCode.USAGE


class ModelError(MMError):
    """The model could not be asked, or its answer was lost. `partial` is the text that had arrived."""

    def __init__(self, message: str, hint: str = "", *, partial: str = "") -> None:
        super().__init__(message, hint)
        self.partial = partial


class TooLongError(ModelError):
    """A request is more than the model's context takes, as mm reckons or as the server says."""


class ToolError(Exception):
    """Something the model can act on, in full sentences: what is wrong, what is allowed, what to do next."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class CannotRunError(ToolError):
    """The tool itself cannot run, whatever its arguments: its program, module or folder is missing or broken."""
