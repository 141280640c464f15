"""The end of a session, read from its records: what a person has to see to go on with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mm.dispatch.brief import text_in_short
from mm.messages import Outcome, Role, ToolCall
from mm.session.records import Record, Session, start_of_last_turn
from mm.terminal.calls import outcome_word
from mm.terminal.cells import clip
from mm.terminal.chat_agent import CallLine, LastExchange

_LONGEST = 60  # cells of a call's arguments
_UNKNOWN = "started, outcome unknown"
_UNANSWERED = "not answered: mm ended before"


def last_exchange(records: Sequence[Record], elsewhere: str) -> LastExchange | None:
    """The last turn of a person's, None if there is none."""
    start = start_of_last_turn(records)
    if start is None:
        return None
    turn = records[start:]
    answers = [record.content for record in turn if record.role is Role.ASSISTANT and not record.calls]
    return LastExchange(turn[0].content, answers[-1] if answers else "", list(_calls(turn)), elsewhere)


def left_elsewhere(session: Session, folder: str, agent_file: str) -> str:
    """One line if the session was led in another folder or with another agent file than it now goes on with."""
    other_folder, other_file = session.cwd != folder, session.agent != agent_file
    if not (other_folder or other_file):
        return ""
    was, now = ([f"in {place}"] if other_folder else [] for place in (session.cwd, folder))
    if other_file:
        was, now = [*was, _with(session.agent)], [*now, _with(agent_file)]
    return f"It was led {' '.join(was)}; from here on it goes on {' '.join(now)}."


def _with(agent_file: str) -> str:
    return f"with the tools of {agent_file}" if agent_file else "without an agent file"


def _calls(turn: Sequence[Record]) -> Iterator[CallLine]:
    """Each call of the replies, with how it ended; what has no answer, mm did not come to."""
    rest = list(turn)
    while rest:
        reply = rest.pop(0)
        answers: list[Record] = []
        while rest and rest[0].role is Role.TOOL:
            answers.append(rest.pop(0))
        for call in reply.calls if reply.role is Role.ASSISTANT else ():
            answer = next((record for record in answers if record.call_id == call.id), None)
            if answer is not None:
                answers.remove(answer)
            yield _line(call, answer)


def _line(call: ToolCall, answer: Record | None) -> CallLine:
    if answer is None:
        return CallLine(call.name, _in_short(call), _UNANSWERED)
    ran = answer.calls[0] if answer.calls else call
    return CallLine(ran.name, _in_short(ran), _UNKNOWN if answer.is_running else _ending(answer.outcome))


def _in_short(call: ToolCall) -> str:
    return clip(text_in_short(call.arguments), _LONGEST)


def _ending(outcome: str) -> str:
    return outcome_word(Outcome(outcome)) if outcome in list(Outcome) else outcome
