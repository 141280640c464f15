"""What the model reads of an output, and what is printed of it as the answer."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from mm.dispatch.shape import answer_text, shape
from mm.messages import Outcome
from mm.tools.capture import Capture
from mm.tools.spec import Captured, Output

LIMIT = 30_000


def output(stdout: str | bytes = "", stderr: str | bytes = "", exit_code: int | None = 0, note: str = "") -> Output:
    outcome = Outcome.FAILED if exit_code else Outcome.OK
    return Output(outcome, _captured(stdout), _captured(stderr), exit_code, note)


def _captured(text: str | bytes, spill: Path | None = None) -> Captured:
    taken = Capture(spill)
    taken.write(text.encode() if isinstance(text, str) else text)
    return taken.finish()


def shaped(one: Output, spill: Path = Path("/nowhere"), limit: int = LIMIT) -> str:
    return shape(one, limit=limit, spill=lambda: spill)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (output("done\n"), "done"),
        (output("  indented\n\n"), "  indented"),
        (output("out\n", "err\n"), "out\nstderr:\nerr"),
        (output("", "err"), "stderr:\nerr"),
        (output("", "why\n", 3), "exit code: 3\nstderr:\nwhy"),
        (output("out", exit_code=1), "exit code: 1\nout"),
        (output(exit_code=1), "exit code: 1\n(no output)"),
        (output(), "(no output)"),
        (output(" \n"), "(no output)"),
        (output(exit_code=None, note="stopped after 60 s"), "(stopped after 60 s)\n(no output)"),
        (output("caf\xc3\xa9 \xff".encode("latin-1")), "café \ufffd"),
        (output("\x1b[31mred\x1b[0m\r\n\x1b]52;c;x\x07"), "red"),
    ],
)
def test_the_model_reads_the_code_the_output_and_the_labelled_error_output(one: Output, text: str) -> None:
    assert shaped(one) == text


def test_a_reply_in_words_is_not_labelled() -> None:
    assert shaped(Output.reply(Outcome.INVALID, "Wrong: `v`.")) == "Wrong: `v`."


def test_text_over_the_limit_is_cut_in_the_middle_and_kept_whole_on_file(tmp_path: Path) -> None:
    text = "".join(f"line {number:05}\n" for number in range(5000))
    result = shaped(output(text), tmp_path)
    file = Path(re.search(r"all of it is in (\S+), which", result).group(1))  # type: ignore[union-attr]
    assert file.read_text() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    head, tail = result.split(re.search(r"\[\.\.\. .* \.\.\.\]\n", result).group())  # type: ignore[union-attr]
    missing = int(re.search(r"([\d,]+) characters left out", result).group(1).replace(",", ""))  # type: ignore[union-attr]
    assert len(head) + missing + len(tail) == len(text.rstrip())
    assert text.startswith(head)
    assert text.rstrip().endswith(tail)
    assert tail.startswith("line ")
    assert LIMIT - 500 < len(head) + len(tail) <= LIMIT


def test_output_that_is_only_on_file_is_counted_in_bytes(tmp_path: Path) -> None:
    data = ("é" * 49 + "\n").encode() * 20_000
    result = shaped(Output(Outcome.OK, _captured(data, tmp_path)), tmp_path)
    gap = re.search(r"\[\.\.\. ([\d,]+) bytes left out here; all of it is in (\S+), which", result)
    assert gap
    parts = re.split(r"\[\.\.\. .* \.\.\.\]\n", result)
    assert int(gap.group(1).replace(",", "")) == len(data) - len(parts[0].encode()) - len((parts[1] + "\n").encode())
    assert Path(gap.group(2)).read_bytes() == data
    assert len(list(tmp_path.iterdir())) == 1


def test_a_single_huge_line_is_cut_too(tmp_path: Path) -> None:
    result = shaped(Output(Outcome.OK, _captured("x" * 5_000_000, tmp_path)), tmp_path)
    assert result.startswith("x" * 1000)
    assert result.endswith("x" * 1000)
    assert "4,970,000 bytes left out" in result


def test_a_limit_above_what_memory_holds_is_served_from_the_file(tmp_path: Path) -> None:
    text = "word\n" * 100_000
    assert shaped(Output(Outcome.OK, _captured(text, tmp_path)), tmp_path, limit=600_000) == text.rstrip()
    cut = shaped(Output(Outcome.OK, _captured(text * 10, tmp_path)), tmp_path, limit=600_000)
    assert 599_000 < len(cut) <= 600_200


def test_error_output_gets_its_share_and_no_more_than_it_needs(tmp_path: Path) -> None:
    result = shaped(output("o" * 100_000, "e" * 100_000, 1), tmp_path)
    assert (result.count("o" * 10_000), result.count("e" * 3_000)) == (2, 2)
    assert len(result) < LIMIT + 500
    assert "stderr:\nwhy" in shaped(output("o" * 100_000, "why", 1), tmp_path)
    assert "left out" not in shaped(output("o", "e" * 29_000, 1), tmp_path)


def test_without_a_place_for_the_file_the_rest_is_still_counted(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("")
    result = shaped(output("x" * 40_000), tmp_path / "blocked" / "spill")
    assert "[... 10,000 characters left out here ...]" in result


def test_the_answer_is_standard_output_alone() -> None:
    assert answer_text(output("\x1b[1mv1.2\x1b[0m\n", "noise", 0, "note")) == "v1.2"
    assert answer_text(output("x" * 100_000)) == "x" * 100_000
    assert answer_text(output()) == ""
