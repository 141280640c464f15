"""read_skill: the text of a skill, or of a file in its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mm.errors import ToolError
from mm.messages import JSON, Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import plan
from mm.tools.builtins.read import Reading, read
from mm.tools.places import Places
from mm.tools.skills import SKILL_FILE, Skill, beside, find_skill
from mm.tools.spec import ApprovedCall, Arguments, Look, Need, Output, Plan, Run, Shown
from mm.visible import make_visible_line

_MOST_NAMED = 20  # skills; the catalogue in the system text has them all


@dataclass(frozen=True, slots=True)
class SkillReading:
    skill: Skill
    file: Path


def skill_tools(skills: Sequence[Skill], size: int = 30_000) -> list[Builtin]:
    """`size` is the most characters of one reply. No skills, no tool."""

    def plan_reading(arguments: Arguments) -> Plan:
        skill = find_skill(skills, arguments["name"])
        file = _inside(skill, str(arguments.get("file") or SKILL_FILE))
        shown = (Shown("skill", Look.TEXT, (skill.name,)), Shown("file", Look.PATH, (str(file),)))
        return plan("read_skill", SkillReading(skill, file), shown, Need.NONE)

    def run(call: ApprovedCall, run: Run) -> Output:
        reading = call.plan.what
        assert isinstance(reading, SkillReading)
        if reading.file != reading.skill.file:
            return read(Reading(reading.file), reading.file.name, size, run)
        output = Output.text(Outcome.OK, reading.skill.body or "(the skill has no text)")
        files = beside(reading.skill)
        also = f" Also in it: {', '.join(files)}." if files else ""
        return replace(output, note=f"The skill's folder is `{reading.skill.folder}`.{also}")

    tool = Builtin(
        name="read_skill",
        description="Read a skill: how to do a kind of task.",
        parameters=_parameters(skills),
        plan=plan_reading,
        run=run,
        readonly=True,
    )
    return [tool] if skills else []


def _parameters(skills: Sequence[Skill]) -> dict[str, JSON]:
    """The names stand where a small model fills one in: else it takes the next best word, such as its folder's."""
    names = [make_visible_line(skill.name) for skill in skills]
    which = f": {', '.join(names)}" if len(names) <= _MOST_NAMED else ""
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": f"Name of the skill{which}"},
            "file": {"type": "string", "description": f"File in its folder (default {SKILL_FILE})"},
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def _inside(skill: Skill, text: str) -> Path:
    """The resolved path of a file of the skill. Raises ToolError for what lies elsewhere or is not there."""
    if text.casefold() == SKILL_FILE.casefold():
        return skill.file
    try:
        path = Places(skill.folder).file(text)
    except ToolError as error:
        files = ", ".join(f"`{name}`" for name in beside(skill)) or "none"
        raise ToolError(f"{error.message} The other files of `{skill.name}`: {files}.") from error
    if not path.is_relative_to(skill.folder):
        raise ToolError(f"`{text}` lies outside the folder of `{skill.name}`; read_skill reads only what is in it.")
    return path
