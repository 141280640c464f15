"""Step 7 of the journey: may exactly this run? The only place that makes an `ApprovedCall`.

Rules beat the mode: deny > ask > allow > yolo. A person's "always" or `--allow` answers a file's `ask`, never a
`deny`. No consent, no run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mm.config.grants import Changed, Granted, Grants
from mm.config.schema import Permissions
from mm.dispatch.hooks import Permission
from mm.dispatch.person import Answer, ConsentRequest, Decision, Person
from mm.errors import MMError, ToolError
from mm.interrupt import Interrupt
from mm.messages import Outcome
from mm.tools.masking import mask_secrets
from mm.tools.spec import ApprovedCall, Arguments, Need, Plan, Tool

SaidByHook: TypeAlias = Literal[Permission.ALLOW, Permission.ASK] | None
"""What the hooks said of a call that comes to consent: one that they denied never does."""


class NotApprovedError(ToolError):
    """The call may not run. `outcome` says why: denied, refused by a person, or nobody could be asked.

    `remedy` is for the user: what would let such a call run.
    """

    def __init__(self, message: str, outcome: Outcome, remedy: str = "") -> None:
        super().__init__(message)
        self.outcome = outcome
        self.remedy = remedy


class EditedError(Exception):
    """The person edited the arguments: the call goes through steps 3 to 7 again with this text."""

    def __init__(self, arguments: str) -> None:
        super().__init__("edited")
        self.arguments = arguments


def is_denied(name: str, permissions: Permissions, on_command_line: Collection[str]) -> bool:
    """Whether a rule says that the tool never runs, whatever else is said about it."""
    return name in on_command_line or name in permissions.deny


@dataclass(slots=True)
class Consent:
    """The rules of a run and what the person has said so far.

    `allowed` and `denied` come from the command line; `grants` is what was written down for this agent file;
    `person` is None when nobody can be asked.
    """

    permissions: Permissions
    yolo: bool
    person: Person | None
    interrupt: Interrupt
    grants: Grants | None = None
    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    warn: Callable[[str], None] = lambda text: None
    _session: dict[tuple[str, str], Changed] = field(default_factory=dict)  # as told, should it be another later

    def __post_init__(self) -> None:
        """A permissions file that cannot be read is said once: the person would wonder why they are asked."""
        if self.grants is not None:
            self.grants.entries()
            if self.grants.problem:
                self.warn(self.grants.problem)

    def approve(
        self,
        call_id: str,
        tool: Tool,
        arguments: Arguments,
        plan: Plan,
        *,
        hook: SaidByHook = None,
        complaint: Callable[[str], str] = lambda arguments: "",
    ) -> ApprovedCall:
        """Approve this very plan.

        Raises NotApprovedError, or EditedError when the person changed the arguments. KeyboardInterrupt passes.
        """
        if is_denied(tool.name, self.permissions, self.denied):
            raise NotApprovedError(_DENIED.format(tool.name), Outcome.DENIED)
        reason = self._reason_to_ask(tool, plan, hook)
        if reason is not None:
            if self.person is None:
                remedy = self._remedy(tool, plan, hook)
                raise NotApprovedError(_UNASKED.format(tool.name), Outcome.UNASKED, remedy)
            self._ask(self.person, ConsentRequest(tool, arguments, plan, reason, complaint))
        return ApprovedCall(call_id, tool, arguments, plan)

    def rules(self) -> list[str]:
        """The rules in force, one line each."""
        named = (
            ("never runs", self.denied | self.permissions.deny),
            ("allowed on the command line", self.allowed),
            ("asked about", self.permissions.ask),
            ("runs without asking", self.permissions.allow),
            ("allowed for this session", {name for name, _ in self._session}),
        )
        lines = [f"{what}: {', '.join(sorted(names))}" for what, names in named if names]
        if self.grants is not None:
            lines += [f"allowed always ({entry.id}): {entry.tool}: {entry.shown}" for entry in self.grants.entries()]
        rest = "runs without asking (yolo)" if self.yolo else "is asked about, but for reading in this folder"
        lines.append(f"everything else {rest}" if lines else f"everything {rest}")
        if self.grants is not None and self.grants.problem:
            lines.append(self.grants.problem)
        return lines

    def _reason_to_ask(self, tool: Tool, plan: Plan, hook: SaidByHook) -> str | None:
        """Why a person has to be asked ("" where it is plain), or None if nobody has to be."""
        if plan.need is Need.ALWAYS:
            return "it would change what mm itself trusts"
        if hook is Permission.ASK:
            return "a hook wants you to be asked"
        if self._said_always(tool, plan):
            return None
        if tool.name in self.permissions.ask:
            return f"`{tool.name}` is in `ask` of the agent file"
        if tool.name in self.permissions.allow or hook is Permission.ALLOW or self.yolo or plan.need is Need.NONE:
            return None
        return self._changed(tool, plan)

    def _remedy(self, tool: Tool, plan: Plan, hook: SaidByHook) -> str:
        """What would help where nobody could be asked: only that, for this very reason to ask."""
        if plan.need is Need.ALWAYS:
            return _ONLY_A_PERSON.format(tool.name, "it would change what mm itself trusts")
        if hook is Permission.ASK:
            return _ONLY_A_PERSON.format(tool.name, "a hook wants a person to be asked about this call")
        if tool.name in self.permissions.ask:
            return _TO_ALLOW_ASK.format(tool.name)
        return _TO_ALLOW.format(tool.name)

    def _said_always(self, tool: Tool, plan: Plan) -> bool:
        if tool.name in self.allowed or (tool.name, plan.definition) in self._session:
            return True
        return self.grants is not None and isinstance(self.grants.find(tool.name, plan.definition), Granted)

    def _changed(self, tool: Tool, plan: Plan) -> str:
        """Whether an "always" of before does not fit any more, and which parts of the tool are not as they were."""
        found = self.grants.find(tool.name, plan.definition) if self.grants else None
        if plan.parts and not isinstance(found, Changed):
            said = [changed for (name, _), changed in self._session.items() if name == tool.name]
            found = said[-1] if said else None
        if not isinstance(found, Changed):
            return ""
        names = ", ".join(found.names(plan.parts))
        changed = f"; what changed: {names}" if names else ""
        return f"`{tool.name}` has changed since you allowed it always; it was: {found.shown}{changed}"

    def _ask(self, person: Person, request: ConsentRequest) -> None:
        tool, plan = request.tool, request.plan
        answer = person.decide(request)
        self.interrupt.check()  # Ctrl-C right after the answer
        if answer.decision is Decision.EDIT:
            raise EditedError(answer.arguments)
        if answer.decision is Decision.NO:
            raise NotApprovedError(_refusal(tool, answer), Outcome.REFUSED)
        if plan.need is not Need.ALWAYS:
            self._keep(tool, plan, answer.decision)

    def _keep(self, tool: Tool, plan: Plan, decision: Decision) -> None:
        """Remember an "always" before the call runs, so that its queued siblings are not asked about."""
        if decision in (Decision.ALWAYS_SESSION, Decision.ALWAYS_SAVED):
            self._session[tool.name, plan.definition] = Changed(_covered(plan), plan.parts)
        if decision is Decision.ALWAYS_SAVED and self.grants is not None:
            try:
                self.grants.add(tool.name, plan.definition, _covered(plan), plan.parts)
            except MMError as error:
                self.warn(f"`{tool.name}` is allowed for this session only: {error.message}")


_RECOGNISED = 300  # characters that are kept of what an "always" allows
_MASKED = 4000  # of these many first ones: so that no secret is cut in its middle, where it could not be told


def _covered(plan: Plan) -> str:
    """What an "always" allows, to recognise it by: without secrets, and cut. Its digest is what it is bound to."""
    text = mask_secrets(plan.covers[:_MASKED])
    return (text if len(text) <= _RECOGNISED else f"{text[: _RECOGNISED - 1]}…") or "any arguments"


def _refusal(tool: Tool, answer: Answer) -> str:
    reason = f" and said: {answer.reason}" if answer.reason else ""
    reason += "" if reason.endswith((".", "!", "?")) else "."
    return f"The user said no to this call of `{tool.name}`{reason} Nothing was run. Do not send it again unchanged."


_DENIED = "The rules of this agent deny `{}`. Nothing was run, and nobody can allow it here. Do without it."
_ONLY_A_PERSON = (
    "`{0}` was refused: {1}. Only a person at a terminal can allow that, no flag and no rule: "
    "run the same in a terminal, without a pipe."
)
_TO_ALLOW_ASK = (
    "`{0}` was refused: it is in `permissions: {{ask: …}}` of the agent file, and nobody can be asked. "
    "To allow it: --allow {0}; --yolo does not."
)
_TO_ALLOW = (
    "`{0}` was refused: it needs consent, and nobody can be asked. "
    "To allow it: --allow {0}, or `permissions: {{allow: [{0}]}}` in the agent file; --yolo allows everything."
)
_UNASKED = (
    "Refused: running `{}` needs the user's consent, and nobody can be asked here. Nothing was run. "
    "Do not try again; say what you would have run and why."
)
