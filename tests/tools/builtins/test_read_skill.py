"""Skills: found, mended where they are broken, and read within their folder only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builtin_calls import Calls, said

from mm.errors import ToolError
from mm.messages import Outcome
from mm.tools.builtins.skills import skill_tools
from mm.tools.skills import Skill, catalogue, load_skills
from mm.tools.spec import Need

GOOD = "---\nname: release\ndescription: How to publish a release.\n---\n\n# Release\nRun ./release.sh.\n"


def make(folder: Path, text: str | bytes = GOOD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def load_one(tmp_path: Path, text: str | bytes) -> tuple[Skill, list[str]]:
    make(tmp_path / "skills" / "my-skill", text)
    skills, warnings = load_skills([tmp_path / "skills"])
    assert len(skills) == 1, warnings
    return skills[0], warnings


def test_a_good_skill_is_read_without_a_warning(tmp_path: Path) -> None:
    skill, warnings = load_one(tmp_path, GOOD)
    assert warnings == []
    assert (skill.name, skill.description) == ("release", "How to publish a release.")
    assert skill.body == "# Release\nRun ./release.sh."


@pytest.mark.parametrize(
    ("text", "description", "warned"),
    [
        ("---\nname: a\ndescription: Use it for: releases\n---\nBody", "Use it for: releases", "not valid YAML"),
        ("---\nname: a\ndescription: [WIP] Publish\n---\nBody", "[WIP] Publish", "not valid YAML"),
        ("---\nname: a\ndescription: [releases, tags]\n---\nBody", "[releases, tags]", "is not a text"),
        ("---\nname: a\ndescription: {x: y}\n---\nBody", "{x: y}", "is not a text"),
        ("---\nname: a\ndescription: *anything* goes\n---\nBody", "*anything* goes", "not valid YAML"),
        ("---\nname: a\ndescription: @team only\n---\nBody", "@team only", "not valid YAML"),
        ("---\nname: a\ndescription: `code` first\n---\nBody", "`code` first", "not valid YAML"),
        ("---\nname: a\ndescription: %x\n---\nBody", "%x", "not valid YAML"),
        ('---\nname: a\ndescription: "Use this\n---\nBody', "Use this", "not valid YAML"),
        ("---\nname: a\ndescription: 'It's good'\n---\nBody", "It's good", "not valid YAML"),
        ("---\nname: a\n\tdescription: Tabbed\n---\nBody", None, "not valid YAML"),
        ("---\nname: a\ndescription: Open\n\n# Title\nBody", "Open", "no closing `---`"),
        ("name: a\ndescription: Bare\n---\nBody", "Bare", "no opening `---`"),
        ("name: a\ndescription: Bare\n\nBody", "Bare", "no opening `---`"),
        ("---\nname: a\ndescription: One\ndescription: Two\n---\nBody", "Two", "there twice"),
        ("---\nname: a\ndescription: One: x\n  two: y\n---\nBody", "One: x two: y", "not valid YAML"),
        ("---\njust words\n---\nBody", "Body", "no `key: value` lines"),
        ("# Title\n\nBody", "Title", "no frontmatter"),
        ("---\nname: a\n---\n\n# How to\nBody", "How to", "`description` is missing"),
        ("---\nname: a\ndescription:\n---\n", "(no description)", "`description` is missing"),
        ("", "(no description)", "no frontmatter"),
        ("---\n---\n", "(no description)", "no `key: value` lines"),
        ("---\nname: a\ndescription: &x [*x]\n---\nBody", "&x [*x]", "not valid YAML"),
    ],
)
def test_a_broken_frontmatter_is_mended_and_warned_about(
    tmp_path: Path, text: str, description: str | None, warned: str
) -> None:
    skill, warnings = load_one(tmp_path, text)
    assert any(warned in warning for warning in warnings), warnings
    assert all(str(tmp_path / "skills/my-skill/SKILL.md") in warning for warning in warnings)
    assert description is None or skill.description == description
    assert skill.name in ("a", "my-skill") or description is None


def test_links_that_lead_nowhere_beside_a_skill_do_not_disturb_it(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    make(skills / "good")
    (skills / "long").symlink_to("x" * 300)
    (skills / "gone").symlink_to("nothing")
    (skills / "circle").symlink_to("circle")
    (skills / "odd").mkdir()
    (skills / "odd" / "SKILL.md").symlink_to("SKILL.md")
    (skills / "good" / "circle").symlink_to("circle")
    found, warnings = load_skills([skills, skills / "circle"])
    assert [skill.name for skill in found] == ["release"]
    assert len(warnings) == 2, warnings
    assert str(skills / "odd" / "SKILL.md") in warnings[0] and str(skills / "circle") in warnings[1]
    calls = Calls(skill_tools(found), tmp_path)
    assert "Run ./release.sh." in calls.text("read_skill", name="release")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_may_be_listed_but_not_entered_is_told(tmp_path: Path) -> None:
    skills = make(tmp_path / "skills" / "good").parent
    make(skills / "shut" / "inner")
    (skills / "shut").chmod(0o400)
    found, warnings = load_skills([skills])
    (skills / "shut").chmod(0o700)
    assert [skill.name for skill in found] == ["release"]
    assert len(warnings) == 1 and f"`{skills / 'shut'}`: may be listed but not entered" in warnings[0]


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (b"\xef\xbb\xbf---\r\nname: a\r\ndescription: With mark\r\n---\r\nBody\r\n", "With mark"),
        ("\n\n---\nname: a\ndescription: After blank lines\n---\nBody", "After blank lines"),
        ("---   \nname: a\ndescription: >-\n  Folded\n  text\n---\nBody", "Folded text"),
        ("---\nname: a\ndescription: yes\n---\nBody", "yes"),
        ("---\nname: a\ndescription: 2024-01-01\n...\nBody", "2024-01-01"),
        ("---\nName: a\nDescription: Capital keys\nmetadata: {a: [1]}\n---\nBody", "Capital keys"),
    ],
)
def test_what_is_odd_but_clear_is_taken_without_a_warning(tmp_path: Path, text: str | bytes, description: str) -> None:
    skill, warnings = load_one(tmp_path, text)
    assert warnings == []
    assert (skill.name, skill.description, skill.body) == ("a", description, "Body")


def test_a_name_defaults_to_the_folder(tmp_path: Path) -> None:
    skill, warnings = load_one(tmp_path, "---\ndescription: Something\n---\n")
    assert skill.name == "my-skill"
    assert "`name` is missing" in warnings[0]


def test_what_is_too_long_is_cut_and_warned_about(tmp_path: Path) -> None:
    skill, warnings = load_one(tmp_path, f"---\nname: {'n' * 70}\ndescription: {'d' * 2000}\n---\n")
    assert (len(skill.name), len(skill.description)) == (64, 1024)
    assert len(warnings) == 2


def test_bytes_that_are_no_text_are_replaced_and_warned_about(tmp_path: Path) -> None:
    skill, warnings = load_one(tmp_path, b"---\nname: a\ndescription: caf\xe9\n---\n")
    assert skill.description == "caf\ufffd"
    assert "not UTF-8" in warnings[0]


def test_a_skill_in_a_folder_in_a_folder_is_found(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "team" / "ops" / "release")
    make(tmp_path / "single", GOOD.replace("release", "single", 1))
    skills, warnings = load_skills([tmp_path / "skills", tmp_path / "single"])
    assert [skill.name for skill in skills] == ["release", "single"]
    assert warnings == []


def test_a_skill_that_lies_too_deep_is_warned_about(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "1" / "2" / "3" / "4")
    make(tmp_path / "skills" / "a" / "b" / "c" / "d" / "e", GOOD.replace("release", "deep"))
    skills, warnings = load_skills([tmp_path / "skills"])
    assert [skill.name for skill in skills] == ["release"]
    assert len(warnings) == 1
    assert str(tmp_path / "skills/a/b/c/d/e") in warnings[0]


def test_two_skills_of_one_name_are_warned_about(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "a")
    make(tmp_path / "skills" / "b", GOOD.replace("How to", "Another way to"))
    skills, warnings = load_skills([tmp_path / "skills"])
    assert [skill.description for skill in skills] == ["How to publish a release."]
    assert str(tmp_path / "skills/a/SKILL.md") in warnings[0]
    assert str(tmp_path / "skills/b/SKILL.md") in warnings[0]


def test_the_same_folder_given_twice_is_one_skill(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "a")
    (tmp_path / "alias").symlink_to("skills")
    skills, warnings = load_skills([tmp_path / "skills", tmp_path / "alias", tmp_path / "skills" / "a"])
    assert len(skills) == 1
    assert not any("is called" in warning for warning in warnings)


def test_what_cannot_be_read_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "good")
    (tmp_path / "skills" / "pipe").mkdir()
    os.mkfifo(tmp_path / "skills" / "pipe" / "SKILL.md")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "skills" / "linked").mkdir()
    (tmp_path / "skills" / "linked" / "SKILL.md").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "skills" / "circle").symlink_to(".")
    (tmp_path / "empty").mkdir()
    skills, warnings = load_skills([tmp_path / "skills", tmp_path / "missing", tmp_path / "empty"])
    assert [skill.name for skill in skills] == ["release"]
    for name in ("pipe", "linked", "missing", "empty"):
        assert any(name in warning for warning in warnings), name
    assert len(warnings) == 4


def test_a_skill_file_in_small_letters_is_read_and_warned_about(tmp_path: Path) -> None:
    (tmp_path / "skills" / "a").mkdir(parents=True)
    (tmp_path / "skills" / "a" / "skill.md").write_text(GOOD)
    skills, warnings = load_skills([tmp_path / "skills"])
    assert [skill.name for skill in skills] == ["release"]
    assert "should be called SKILL.md" in warnings[0]


def test_the_catalogue_is_one_line_a_skill(tmp_path: Path) -> None:
    assert catalogue([]) == ""
    skill, _ = load_one(tmp_path, "---\nname: a\ndescription: |\n  Two\n  lines\x1b[2J\n---\n")
    assert catalogue([skill]).split("\n")[1:] == ["- a: Two lines[2J"]


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    folder = make(tmp_path / "skills" / "release")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "check.sh").write_text("echo ok\n")
    (folder / "notes.md").write_text("Notes.\n")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to("../../secret.txt")
    return Calls(skill_tools(load_skills([tmp_path / "skills"])[0]), tmp_path)


def test_a_skill_is_read_and_its_files_are_named(calls: Calls, tmp_path: Path) -> None:
    output = calls.call("read_skill", name="release")
    assert output.stdout.head == b"# Release\nRun ./release.sh."
    assert output.note == (
        f"The skill's folder is `{tmp_path / 'skills/release'}`. Also in it: notes.md, scripts/check.sh."
    )
    assert calls.plan("read_skill", name="Release").plan.need is Need.NONE


def test_a_file_of_a_skill_is_read(calls: Calls) -> None:
    assert calls.text("read_skill", name="release", file="scripts/check.sh") == "echo ok\n"
    assert calls.text("read_skill", name="release", file="SKILL.md").endswith("Run ./release.sh.")


@pytest.mark.parametrize("file", ["../../secret.txt", "/etc/passwd", "link.txt", "~/x", "scripts/../../../secret.txt"])
def test_nothing_outside_the_folder_of_a_skill_is_read(calls: Calls, file: str) -> None:
    with pytest.raises(ToolError) as caught:
        calls.call("read_skill", name="release", file=file)
    assert "secret\n" not in caught.value.message


def test_an_unknown_skill_or_file_is_answered_with_what_there_is(calls: Calls) -> None:
    with pytest.raises(ToolError, match=r"no skill `relaese`. The skills are: `release`"):
        calls.call("read_skill", name="relaese")
    with pytest.raises(ToolError, match=r"`notes.md`, `scripts/check.sh`"):
        calls.call("read_skill", name="release", file="nots.md")


def test_a_link_planted_in_a_skill_after_planning_is_not_followed(calls: Calls, tmp_path: Path) -> None:
    call = calls.plan("read_skill", name="release", file="notes.md")
    (tmp_path / "skills/release/notes.md").unlink()
    (tmp_path / "skills/release/notes.md").symlink_to(tmp_path / "secret.txt")
    output = calls.run(call)
    assert output.outcome is Outcome.FAILED
    assert "secret\n" not in said(output)


def test_without_skills_there_is_no_tool() -> None:
    assert skill_tools([]) == []


def test_the_names_stand_where_a_model_fills_one_in(tmp_path: Path) -> None:
    make(tmp_path / "skills" / "release")
    make(tmp_path / "skills" / "boats", GOOD.replace("name: release", "name: boats"))
    (tool,) = skill_tools(load_skills([tmp_path / "skills"])[0])
    name = tool.tool().schema.document["properties"]["name"]
    assert name["description"] == "Name of the skill: boats, release"


def test_a_long_list_of_names_is_left_to_the_catalogue() -> None:
    (tool,) = skill_tools([Skill(f"s{number}", "", Path(), Path(), "") for number in range(21)])
    assert tool.tool().schema.document["properties"]["name"]["description"] == "Name of the skill"
