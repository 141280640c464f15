"""Steps 6 and 9 of the journey: commands of the user's that look at calls before and after they run.

A hook that fails is a guard that fails: the call is blocked, unless its author relaxed that with `on_error: allow`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from mm.config.schema import Hook, HookEvent, OnError
from mm.dispatch.arguments import parse
from mm.dispatch.json_text import UnreadableError, read, read_literals, spell
from mm.errors import ToolError
from mm.interrupt import Interrupted
from mm.messages import JSON
from mm.tools.command import find_program
from mm.tools.process import Ended, Finished, Program, run_program
from mm.tools.spec import Arguments
from mm.visible import remove_escapes


class Permission(StrEnum):
    """What a hook says about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_REASON_LIMIT = 2000  # characters of stderr that become a reason
_NO_REASON = "a hook objects and gives no reason."
_BLOCK = 2  # the exit code by which a hook blocks
_STRICTEST_FIRST = (Permission.DENY, Permission.ASK, Permission.ALLOW)
_DECISIVE = ("permissionDecision", "decision", "continue", "updatedInput", "hookSpecificOutput")
_WORDS = {"approve": Permission.ALLOW, "block": Permission.DENY} | {verdict.value: verdict for verdict in Permission}


@dataclass(frozen=True, slots=True)
class _EventWords:
    """What a hook does to a call: before it ran, or after."""

    stops: str
    stopped: str
    passes: str


_WORDS_OF = {
    HookEvent.BEFORE: _EventWords("blocks the call", "blocked", "the call go on"),
    HookEvent.AFTER: _EventWords("withholds the output", "withheld", "the output through"),
}


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """What the hooks before a call said. `arguments` is None unless one rewrote them.

    `context` is for the model; `warnings` tell the user of hooks that failed and were let off by `on_error: allow`.
    """

    permission: Permission | None = None
    reason: str = ""
    arguments: dict[str, JSON] | None = None
    context: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AfterVerdict:
    """What the hooks after a call said. `withheld` is the reason to keep the output from the model, "" if none."""

    withheld: str = ""
    context: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Hooks:
    """The hooks of a run, in the order of the agent file. `environment` is already filtered."""

    def __init__(
        self,
        hooks: Sequence[Hook],
        *,
        session_id: str,
        cwd: Path,
        environment: Mapping[str, str],
        stop: threading.Event,
    ) -> None:
        self._hooks = tuple(hooks)
        self._session_id = session_id
        self._cwd = cwd
        self._environment = dict(environment)
        self._stop = stop

    def before(self, tool_name: str, arguments: Arguments, call_id: str) -> HookVerdict:
        """Ask every matching hook, each with what the ones before it made of the arguments; a deny ends it.

        Raises Interrupted if the person interrupts a hook.
        """
        verdict = HookVerdict()
        given = dict(arguments)
        for hook in fitting(self._hooks, HookEvent.BEFORE, tool_name):
            said = self._ask(hook, tool_name, given, call_id)
            given = given if said.arguments is None else said.arguments
            verdict = _stricter(verdict, said)
            if verdict.permission is Permission.DENY:
                break
        return verdict

    def after(self, tool_name: str, arguments: Arguments, call_id: str, response: str) -> AfterVerdict:
        """Show the hooks what the model would read. Never raises: the call did run."""
        verdict = HookVerdict()
        for hook in fitting(self._hooks, HookEvent.AFTER, tool_name):
            try:
                said = self._ask(hook, tool_name, dict(arguments), call_id, response)
            except Interrupted as interrupted:
                said = HookVerdict(Permission.DENY, str(interrupted))
            # After the call nobody can be asked about it any more: "ask" keeps the output back like "deny".
            verdict = _stricter(verdict, said)
            if verdict.permission in (Permission.DENY, Permission.ASK):
                return AfterVerdict(verdict.reason, verdict.context, verdict.warnings)
        return AfterVerdict("", verdict.context, verdict.warnings)

    def _ask(
        self, hook: Hook, tool_name: str, arguments: dict[str, JSON], call_id: str, response: str | None = None
    ) -> HookVerdict:
        event: dict[str, JSON] = {
            "hook_event_name": hook.event.value,
            "session_id": self._session_id,
            "cwd": str(self._cwd),
            "tool_name": tool_name,
            "tool_input": arguments,
            "tool_use_id": call_id,
        }
        if response is not None:
            event["tool_response"] = response
        try:
            return _read_verdict(hook, self._run(hook, json.dumps(event).encode()))
        except _FailedError as failure:
            message = f"The hook `{hook.command[0]}` ({hook.place}) {failure}"
            words = _WORDS_OF[hook.event]
            if hook.on_error is OnError.ALLOW:
                return HookVerdict(warnings=(f"{message}; `on_error: allow` lets {words.passes}.",))
            return HookVerdict(Permission.DENY, f"{message}. A hook that fails {words.stops}. Tell the user.")

    def _run(self, hook: Hook, event: bytes) -> Finished:
        try:
            program = Program(
                argv=hook.command,
                env=self._environment,
                cwd=self._cwd,
                timeout=hook.timeout,
                stdin=event,
                file=find_program(hook.command[0], self._environment.get("PATH", "")),
            )
            finished = run_program(program, stop=self._stop, spill=None)
        except ToolError as error:
            raise _FailedError(f"could not be started: {error.message}") from error
        except Exception as error:  # a guard that breaks, refuses like one that fails
            raise _FailedError(f"could not be run: {type(error).__name__}: {error}") from error
        if finished.ended is Ended.INTERRUPTED:
            raise Interrupted(f"the user interrupted the hook `{hook.command[0]}`.")
        if finished.ended is Ended.TIMED_OUT:
            raise _FailedError(f"did not end within {hook.timeout:g} s")
        return finished


def fitting(hooks: Sequence[Hook], event: HookEvent, tool_name: str) -> Iterator[Hook]:
    """The hooks that see the calls of a tool, in the order of the agent file."""
    for hook in hooks:
        if hook.event is event and (hook.matcher in ("", "*") or re.fullmatch(hook.matcher, tool_name)):
            yield hook


class _FailedError(Exception):
    """A hook gave no decision that can be relied on. The text goes on after the hook's name."""


def _read_verdict(hook: Hook, finished: Finished) -> HookVerdict:
    complaint = _clean(finished.stderr.head.decode("utf-8", "replace")).strip()[:_REASON_LIMIT]
    if finished.exit_code == _BLOCK:
        return HookVerdict(
            Permission.DENY,
            complaint or f"{_WORDS_OF[hook.event].stopped} by the hook `{hook.command[0]}`, which gave no reason.",
        )
    if finished.exit_code != 0:
        how = f"failed with exit code {finished.exit_code}"
        if finished.exit_code is None or finished.exit_code < 0:
            how = "was ended by a signal"
        raise _FailedError(f"{how}: {complaint}" if complaint else how)
    if finished.stdout.size > len(finished.stdout.head):
        raise _FailedError(f"wrote {finished.stdout.size:,} bytes, more than the {len(finished.stdout.head):,} allowed")
    text = finished.stdout.head.decode("utf-8", "replace").lstrip("\ufeff").strip()
    if text.startswith("{"):
        return _read_json(text)
    if any(f'"{key}"' in text for key in _DECISIVE):
        raise _FailedError("wrote a decision among other text; a hook must write the JSON object alone")
    return HookVerdict()


def _clean(text: str) -> str:
    """What a hook says as the model may read it: like the output of a tool."""
    return remove_escapes(text.encode("utf-8", "replace").decode())


def _read_json(text: str) -> HookVerdict:
    """Read as strictly as arguments are: a decision that is said twice is none."""
    try:
        said = read(text, sendable=False)
    except UnreadableError as error:
        raise _FailedError(f"wrote something that begins like JSON, but it {error.reason}") from error
    inner = _field(said, "hookSpecificOutput", dict) or {}
    permission, reason = _permission(said, inner)
    context = [_clean(told) for place in (said, inner) if (told := _field(place, "additionalContext", str))]
    return HookVerdict(permission, reason, _updated_input(text, said, inner), tuple(context))


def _updated_input(text: str, said: dict[str, JSON], inner: dict[str, JSON]) -> dict[str, JSON] | None:
    """The arguments that a hook wants instead, which still know how their numbers were spelt."""
    literals = read_literals(text)
    if _field(inner, "updatedInput", dict) is not None:
        literals = literals["hookSpecificOutput"]
    elif _field(said, "updatedInput", dict) is None:
        return None
    try:
        return parse(spell(literals["updatedInput"]))
    except ToolError as error:
        raise _FailedError(f"wrote `updatedInput` that cannot be used: {error.message}") from error


def _permission(said: dict[str, JSON], inner: dict[str, JSON]) -> tuple[Permission | None, str]:
    """The strictest of what is said in any of the accepted places, with the first reason found."""
    found: set[Permission] = set()
    for place in (said, inner):
        for key in ("permissionDecision", "decision"):
            word = _field(place, key, str)
            if word is not None and word not in _WORDS:
                raise _FailedError(f"wrote `{key}: {word[:50]}`, which is none of allow, deny, ask")
            found |= {_WORDS[word]} if word is not None else set()
    if _field(said, "continue", bool) is False:
        found.add(Permission.DENY)
    keys = ("permissionDecisionReason", "reason", "stopReason")
    reasons = [text for key in keys for place in (inner, said) if (text := _field(place, key, str))]
    permission = next((verdict for verdict in _STRICTEST_FIRST if verdict in found), None)
    default = "" if permission in (None, Permission.ALLOW) else _NO_REASON
    return permission, _clean(reasons[0])[:_REASON_LIMIT] if reasons else default


def _field(place: dict[str, JSON], key: str, kind: type) -> JSON:
    """A field of the right type, None if absent or null. Raises for a wrong type: it may have meant a no."""
    value = place.get(key)
    if value is not None and not isinstance(value, kind):
        raise _FailedError(f"wrote `{key}` of the wrong type")
    return value


def _stricter(verdict: HookVerdict, said: HookVerdict) -> HookVerdict:
    """Both verdicts in one: the stricter permission with its reason, the newer arguments, all of the context."""
    ranks = (*_STRICTEST_FIRST, None)
    leading = said if ranks.index(said.permission) < ranks.index(verdict.permission) else verdict
    return replace(
        leading,
        arguments=verdict.arguments if said.arguments is None else said.arguments,
        context=verdict.context + said.context,
        warnings=verdict.warnings + said.warnings,
    )
