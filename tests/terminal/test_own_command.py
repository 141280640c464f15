"""What a person's own command is refused for, before anything of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mm.errors import MMError
from mm.interrupt import Interrupt
from mm.terminal.own_command import run_captured, run_on_terminal


def refusal(command: str, *, captured: bool) -> MMError:
    with pytest.raises(MMError) as caught:
        if captured:
            run_captured(command, Interrupt())
        else:
            run_on_terminal(command, 0, Interrupt(), lambda: None)
    return caught.value


@pytest.mark.parametrize("captured", [True, False])
def test_a_command_that_no_shell_can_be_given_is_refused_in_words(captured: bool) -> None:
    long = refusal("echo " + "x" * 131_072, captured=captured)
    assert long.message == "The command has 131,077 bytes; a shell takes 131,071 at most."
    assert long.hint == "Write it into a file, and run that: !sh FILE"
    assert "NUL" in refusal("echo a\0b", captured=captured).message


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert refusal("true", captured=True).message == "The folder that mm was started in is gone."
