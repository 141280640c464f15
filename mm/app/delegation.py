"""Sub-agents: a task goes to an agent with a context of its own, and the same model, tools and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from mm.agent import Agent
from mm.errors import ExitCode
from mm.messages import Outcome
from mm.tools.spec import Output, Run
from mm.turn import TurnEnd

MOST_DEPTH = 2  # sub-agents may start sub-agents, but not for ever
MOST_DELEGATED = 10  # sub-agents for one message of the person

_INTERRUPTS = (ExitCode.INTERRUPTED, ExitCode.TERMINATED, ExitCode.HANGUP)


class Delegation:
    """The sub-agents of one run, one after the other. `make_agent` gives one of this depth: 1 for the first.

    `turn` is the number of the turn that the person waits for: with each, they are counted anew.
    """

    def __init__(self, make_agent: Callable[[int], Agent], turn: Callable[[], int]) -> None:
        self._make_agent = make_agent
        self._turn = turn
        self._started: Counter[int] = Counter()

    def to(self, depth: int) -> Callable[[str, Run], Output] | None:
        """What gives a task to a sub-agent of this depth; None where sub-agents end."""
        if depth > MOST_DEPTH:
            return None

        def delegate(task: str, run: Run) -> Output:
            turn = self._turn()
            self._started[turn] += 1
            if self._started[turn] > MOST_DELEGATED:
                return Output.reply(Outcome.FAILED, _TOO_MANY.format(MOST_DELEGATED))
            agent = self._make_agent(depth)
            try:
                return _as_output(agent.turn(task))
            finally:
                agent.history.close()  # and not the model, which others go on with

        return delegate


def _as_output(end: TurnEnd) -> Output:
    """What a task came to, as the answer to the call that gave it. Calls that were forbidden in it are handed up."""
    if end.code in _INTERRUPTS:
        output = Output.reply(Outcome.INTERRUPTED, "Interrupted by the user.")
    elif end.code in (ExitCode.DONE, ExitCode.REFUSED):
        output = Output.text(Outcome.OK, end.text)
    else:
        output = Output.text(Outcome.FAILED, f"{end.message}\n{end.text}".strip())
    return replace(output, denials=end.denials)


_TOO_MANY = "Not done: {} sub-agents have run for this message already. Do the rest yourself."
