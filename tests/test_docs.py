"""The documentation is true: every block runs, every link leads somewhere, every claim names a test that exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mm.config.schema import BUILTIN_NAMES
from mm.errors import ExitCode
from mm.messages import Outcome
from mm.tools.environment import PROVIDER_KEYS
from tests.docs_pages import DOCS, ROOT, blocks, headings, links, pages
from tests.docs_running import Reader

_MOST_NOT_RUN = 20
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in pages() if any(blocks(page))], ids=_name)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path / "home")
    for block in blocks(page):
        reader.follow(block)
    reader.finish()


def test_what_is_not_run_says_why_and_is_little() -> None:
    not_run = [block for page in pages() for block in blocks(page) if block.not_run]
    assert all(len(block.not_run.split()) >= 2 for block in not_run)
    assert len(not_run) <= _MOST_NOT_RUN, [str(block) for block in not_run]


def test_the_name_of_a_file_stands_above_its_text() -> None:
    for page in pages():
        for block in blocks(page):
            if block.file:
                assert f"`{block.file}`" in block.before[-400:], str(block)


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{_name(page)}: {link}"
        assert not anchor or anchor in headings(target), f"{_name(page)}: {link}"


def test_every_page_is_in_the_index_and_opens_with_what_it_is_for() -> None:
    index = DOCS / "README.md"
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in links(index)}
    for page in DOCS.rglob("*.md"):
        assert page == index or page in listed, f"{_name(page)} is not in the index"
        opening = page.read_text("utf-8").split("\n\n")[1]
        assert opening.rstrip().endswith((".", ":")), f"{_name(page)}: the first paragraph is no sentence"
        assert not opening.startswith(("#", "```", "|")), f"{_name(page)}: opens without a sentence"


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_claim_about_security_names_a_test_that_exists() -> None:
    text = (DOCS / "explanation" / "security.md").read_text("utf-8")
    claims = re.findall(r"^- .+(?:\n  .+)*", text, re.MULTILINE)
    assert len(claims) > 20
    for claim in claims:
        assert _TEST.search(claim), f"no test is named: {claim}"


def test_every_test_that_the_documentation_names_exists() -> None:
    for page in pages():
        for file, name in _TEST.findall(page.read_text("utf-8")):
            assert (ROOT / file).is_file(), f"{_name(page)}: {file}"
            assert re.search(rf"def {name}\(", (ROOT / file).read_text("utf-8")), f"{_name(page)}: {file}::{name}"


def test_the_reference_names_every_exit_code_and_outcome() -> None:
    text = (DOCS / "reference" / "exit-codes.md").read_text("utf-8")
    for code in ExitCode:
        assert f"| {int(code)} |" in text
    for outcome in Outcome:
        assert f"`{outcome}`" in (DOCS / "reference" / "stream-json.md").read_text("utf-8")


def test_the_reference_names_every_variable_that_mm_reads() -> None:
    text = (DOCS / "reference" / "environment.md").read_text("utf-8")
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "mm").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)\s*\"([A-Z_]+)\"", source)) | set(PROVIDER_KEYS)
    read |= set(re.findall(r"\"([A-Z]+_BASE_URL)\"", source))
    assert len(read) > 8
    for name in read - {"HOME", "PATH"}:
        assert f"`{name}`" in text, name


def test_the_reference_names_every_built_in_tool() -> None:
    text = (DOCS / "reference" / "builtin-tools.md").read_text("utf-8")
    for name in BUILTIN_NAMES:
        assert f"## {name}\n" in text
