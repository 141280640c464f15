"""clarify: asks the person several questions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import Outcome
from mm.tools.builtin import Builtin
from mm.tools.builtins.plans import free
from mm.tools.spec import ApprovedCall, Arguments, Output, Plan, Run

Ask: TypeAlias = Callable[[Sequence[tuple[str, Sequence[str]]]], Sequence[str]]
"""Questions, each with its choices (none: any answer), to one answer each; "" where it was skipped."""

PARAMETERS = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1},
                    "choices": {"type": "array", "items": {"type": "string"}, "description": "Answers to choose from"},
                },
                "required": ["question"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}
_NOBODY = (
    "Nobody can be asked: mm runs without a person at the terminal. Take the most likely meaning, go on, "
    "and say in your answer what you assumed."
)


def clarify_tools(ask: Ask | None) -> list[Builtin]:
    """`ask` is None where nobody can be asked. It may raise KeyboardInterrupt."""

    def plan(arguments: Arguments) -> Plan:
        questions = [(item["question"], tuple(item.get("choices", ()))) for item in arguments["questions"]]
        return free("clarify", tuple(questions), questions="\n".join(question for question, _ in questions))

    def run(call: ApprovedCall, run: Run) -> Output:
        if ask is None:
            raise ToolError(_NOBODY)
        questions = call.plan.what
        assert isinstance(questions, tuple)
        try:
            answers = ask(questions)
        except KeyboardInterrupt:
            run.stop.set()
            raise Interrupted from None
        return Output.text(Outcome.OK, _told(questions, answers))

    return [
        Builtin(
            name="clarify",
            description="Ask the user questions, all at once, when you cannot go on without the answers.",
            parameters=PARAMETERS,
            plan=plan,
            run=run,
            interactive=True,
        )
    ]


def _told(questions: Sequence[tuple[str, Sequence[str]]], answers: Sequence[str]) -> str:
    given = [*answers, *[""] * len(questions)]
    pairs = zip((question for question, _ in questions), given, strict=False)
    return "\n\n".join(f"{question}\n→ {answer or '(skipped: decide yourself)'}" for question, answer in pairs)
