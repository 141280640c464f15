"""Hooks look at calls before and after they run; one that fails blocks (C108)."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mm.config.schema import Hook, HookEvent, OnError, Place
from mm.dispatch.arguments import check
from mm.dispatch.hooks import AfterVerdict, Hooks, HookVerdict, Permission
from mm.interrupt import Interrupted
from mm.messages import JSON
from mm.schemas.schema import Schema
from mm.tools.spec import Kind, Tool

PLACE = Place(Path("agent.yaml"), 3, 5)
BLOCKED = Permission.DENY


def hook(
    *command: str, event: HookEvent = HookEvent.BEFORE, matcher: str = "release", relaxed: bool = False, **given: Any
) -> Hook:
    on_error = OnError.ALLOW if relaxed else OnError.BLOCK
    return Hook(event=event, matcher=matcher, command=command, place=PLACE, on_error=on_error, **given)


def shell(text: str, **given: Any) -> Hook:
    return hook("sh", "-c", text, **given)


def says(said: JSON, **given: Any) -> Hook:
    return hook("printf", "%s", json.dumps(said), **given)


def hooks(*given: Hook, stop: threading.Event | None = None) -> Hooks:
    return Hooks(given, session_id="s1", cwd=Path("/"), environment=dict(os.environ), stop=stop or threading.Event())


def before(*given: Hook, arguments: Mapping[str, JSON] | None = None, tool: str = "release") -> HookVerdict:
    return hooks(*given).before(tool, arguments or {"v": 1}, "call-1")


def after(*given: Hook, response: str = "done") -> AfterVerdict:
    return hooks(*given).after("release", {"v": 1}, "call-1", response)


def test_a_hook_is_told_about_the_call_on_its_input() -> None:
    echo = "import sys, json; print(json.dumps({'additionalContext': sys.stdin.read()}))"
    said = before(hook(sys.executable, "-c", echo), arguments={"v": "é", "n": 9007199254740993})
    assert json.loads(said.context[0]) == {
        "hook_event_name": "preToolCall",
        "session_id": "s1",
        "cwd": "/",
        "tool_name": "release",
        "tool_input": {"v": "é", "n": 9007199254740993},
        "tool_use_id": "call-1",
    }
    seen = after(hook(sys.executable, "-c", echo, event=HookEvent.AFTER), response="out\n")
    assert json.loads(seen.context[0])["tool_response"] == "out\n"
    assert json.loads(seen.context[0])["hook_event_name"] == "postToolCall"


NULLS = (
    '{"updatedInput": null, "permissionDecision": null, "hookSpecificOutput": null}',
    '{"hookSpecificOutput": {"updatedInput": null, "additionalContext": null}}',
)


@pytest.mark.parametrize(
    "text",
    ["exit 0", "cat > /dev/null", "echo fine", "echo '[not an object'", "echo '{}'", *(f"echo '{n}'" for n in NULLS)],
)
def test_a_hook_that_ends_well_and_says_nothing_has_no_opinion(text: str) -> None:
    assert before(shell(text)) == HookVerdict()


FAILING = {
    "missing": hook("/no/such/hook"),
    "not on PATH": hook("no-such-hook-anywhere"),
    "exit 1": shell("echo oops >&2; exit 1"),
    "exit 127": shell("no-such-program-anywhere"),
    "signal": shell("kill -KILL $$"),
    "timeout": shell("sleep 100", timeout=0.2),
    "reads on": shell("cat; sleep 100", timeout=0.2),
    "broken JSON": shell('echo \'{"permissionDecision": "allow"\''),
    "deep JSON": shell("printf '{\"a\":%100000s' | tr ' ' '['"),
    "10 MB": shell("head -c 10000000 /dev/zero"),
    "unknown word": says({"permissionDecision": "maybe"}),
    "wrong type": says({"permissionDecision": True}),
    "updatedInput": says({"updatedInput": "v=2"}),
    "inner updatedInput": says({"updatedInput": {"v": "2"}, "hookSpecificOutput": {"updatedInput": ["v=2"]}}),
    "talks first": shell('echo checking; echo \'{"permissionDecision": "deny"}\''),
    "output": says({"hookSpecificOutput": "deny"}),
}


@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING.keys())
@pytest.mark.parametrize("event", HookEvent)
def test_a_hook_that_fails_blocks_unless_its_author_relaxed_that(failing: Hook, event: HookEvent) -> None:
    strict = Hook(event, failing.matcher, failing.command, PLACE, failing.timeout)
    relaxed = Hook(event, failing.matcher, failing.command, PLACE, failing.timeout, OnError.ALLOW)
    if event is HookEvent.BEFORE:
        blocked = before(strict)
        assert blocked.permission is BLOCKED
        assert "agent.yaml:3:5" in blocked.reason
        let_off = before(relaxed)
        assert (let_off.permission, len(let_off.warnings)) == (None, 1)
    else:
        assert "agent.yaml:3:5" in after(strict).withheld
        assert (after(relaxed).withheld, len(after(relaxed).warnings)) == ("", 1)


@pytest.mark.parametrize("command", ["exit 1", "exit 2"])
def test_after_the_call_no_hook_says_that_it_blocks_what_has_run(command: str) -> None:
    withheld = after(shell(command, event=HookEvent.AFTER)).withheld
    assert "block" not in withheld and ("withholds the output" in withheld or "withheld by the hook" in withheld)
    let_off = after(shell("exit 1", event=HookEvent.AFTER, relaxed=True))
    assert let_off.warnings[0].endswith("`on_error: allow` lets the output through.")
    assert "A hook that fails blocks the call." in before(shell("exit 1")).reason


@pytest.mark.parametrize("relaxed", [True, False])
def test_exit_code_2_blocks_with_its_error_output_as_the_reason(relaxed: bool) -> None:
    said = before(
        shell("echo '{\"permissionDecision\": \"allow\"}'; echo 'no \x1b[1mway' >&2; exit 2", relaxed=relaxed)
    )
    assert (said.permission, said.reason) == (BLOCKED, "no way")
    lost = before(hook(sys.executable, "/no/such/script.py", relaxed=relaxed))
    assert lost.permission is BLOCKED
    assert "/no/such/script.py" in lost.reason
    assert after(shell("echo secret >&2; exit 2", event=HookEvent.AFTER, relaxed=relaxed)).withheld == "secret"


@pytest.mark.parametrize(
    ("said", "permission", "reason"),
    [
        ({"permissionDecision": "allow"}, Permission.ALLOW, ""),
        ({"permissionDecision": "ask", "permissionDecisionReason": "big"}, Permission.ASK, "big"),
        ({"permissionDecision": "deny", "permissionDecisionReason": "late"}, BLOCKED, "late"),
        ({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "in"}}, BLOCKED, "in"),
        ({"decision": "block", "reason": "old"}, BLOCKED, "old"),
        ({"decision": "approve"}, Permission.ALLOW, ""),
        ({"continue": False, "stopReason": "halt"}, BLOCKED, "halt"),
        ({"continue": True}, None, ""),
        ({"permissionDecision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}}, BLOCKED, None),
        ({"permissionDecision": "deny", "hookSpecificOutput": {"permissionDecision": "allow"}}, BLOCKED, None),
        ({"permissionDecision": "allow", "continue": False}, BLOCKED, None),
    ],
)
def test_a_decision_is_read_in_every_accepted_place(
    said: JSON, permission: Permission | None, reason: str | None
) -> None:
    verdict = before(says(said))
    assert verdict.permission is permission
    assert verdict.reason == reason if reason is not None else verdict.reason


@pytest.mark.parametrize(
    ("words", "permission"),
    [
        (["allow", "ask", "allow"], Permission.ASK),
        (["ask", "deny", "allow"], BLOCKED),
        (["allow", "deny"], BLOCKED),
        (["", "allow"], Permission.ALLOW),
        (["ask", ""], Permission.ASK),
    ],
)
def test_of_several_hooks_the_strictest_is_heard(words: Sequence[str], permission: Permission) -> None:
    given = [says({"permissionDecision": word, "reason": word} if word else {}) for word in words]
    verdict = before(*given)
    assert (verdict.permission, verdict.reason) == (permission, permission.value)


def test_a_later_hook_sees_what_an_earlier_one_rewrote() -> None:
    code = "import sys, json\nv = json.load(sys.stdin)['tool_input']['v']\n"
    code += "print(json.dumps({'updatedInput': {'v': v + 1}}))"
    add = hook(sys.executable, "-c", code)
    assert before(add, says({}), add, arguments={"v": 1}).arguments == {"v": 3}
    assert before(says({"hookSpecificOutput": {"updatedInput": {}}})).arguments == {}
    assert before(says({})).arguments is None


def test_after_a_deny_no_further_hook_is_run(tmp_path: Path) -> None:
    before(says({"permissionDecision": "deny"}), shell(f"touch {tmp_path}/ran"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("said", [{"decision": "block"}, {"permissionDecision": "ask"}, {"continue": False}])
def test_an_objection_after_the_call_withholds_the_output(said: JSON) -> None:
    assert after(says(said, event=HookEvent.AFTER)).withheld != ""


@pytest.mark.parametrize(
    ("matcher", "matches"),
    [("release", True), ("release|bash", True), ("rel.*", True), ("rel", False), ("Release", False), ("*", True)],
)
def test_a_matcher_must_match_the_whole_name(matcher: str, matches: bool) -> None:
    verdict = before(says({"permissionDecision": "deny"}, matcher=matcher))
    assert (verdict.permission is BLOCKED) is matches


def test_a_hook_is_asked_about_its_own_event_only() -> None:
    assert before(shell("exit 2", event=HookEvent.AFTER)) == HookVerdict()
    assert after(shell("exit 2")) == AfterVerdict()


def test_a_child_that_a_hook_leaves_behind_freezes_nothing() -> None:
    start = time.monotonic()
    verdict = before(shell('sleep 5 & echo \'{"permissionDecision": "allow"}\''))
    assert verdict.permission is Permission.ALLOW
    assert time.monotonic() - start < 3


def test_an_interrupt_ends_the_hook_and_the_call(tmp_path: Path) -> None:
    stop = threading.Event()
    fifo = tmp_path / "started"
    os.mkfifo(fifo)

    def stop_when_started() -> None:
        fifo.read_text()
        stop.set()

    threading.Thread(target=stop_when_started, daemon=True).start()
    start = time.monotonic()
    with pytest.raises(Interrupted):
        hooks(shell(f"echo up > {fifo}; exec sleep 100", timeout=60), stop=stop).before("release", {}, "1")
    assert time.monotonic() - start < 4
    withheld = hooks(shell("exit 0", event=HookEvent.AFTER), stop=stop).after("release", {}, "1", "out").withheld
    assert re.search("interrupted", withheld)


TWICE = {
    "the decision": '{"permissionDecision": "deny", "permissionDecision": "allow"}',
    "inside": '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
    "the place": '{"hookSpecificOutput": {"permissionDecision": "deny"}, "hookSpecificOutput": {}}',
    "an argument": '{"updatedInput": {"v": "safe", "v": "else"}}',
}


@pytest.mark.parametrize("text", TWICE.values(), ids=TWICE.keys())
def test_a_hook_that_says_a_thing_twice_has_failed(text: str) -> None:
    said = before(hook("printf", "%s", text))
    assert said.permission is BLOCKED
    assert "twice" in said.reason


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_a_hook_that_writes_arguments_which_nothing_can_be_given_has_failed(text: str) -> None:
    assert before(says({"updatedInput": {"v": text}})).permission is BLOCKED


@pytest.mark.parametrize("text", ['{"updatedInput": %s}', '{"hookSpecificOutput": {"updatedInput": %s}}'])
def test_numbers_that_a_hook_writes_keep_their_spelling(text: str) -> None:
    schema = Schema({"properties": {"v": {"type": "string"}, "w": {"items": {"type": "string"}}}})
    written = '{"v": 1.10, "w": [2.50, "\\" 3.0"]}'
    arguments = before(hook("printf", "%s", text % written)).arguments
    assert arguments is not None
    checked = check(Tool("release", Kind.COMMAND, "A tool.", schema, spec=None), arguments)
    assert checked.arguments == {"v": "1.10", "w": ["2.50", '" 3.0']}


def test_what_a_hook_tells_the_model_is_cleaned_like_the_output_of_a_tool() -> None:
    evil = "A\x1b]52;c;aGk=\x07B\0C\ud800"
    said = {"permissionDecision": "deny", "permissionDecisionReason": evil, "additionalContext": evil}
    assert before(says(said)).reason == "ABC?"
    assert before(says(said)).context == ("ABC?",)
    assert after(says(said, event=HookEvent.AFTER)).withheld == "ABC?"
    assert before(shell("printf 'A\\033]0;x\\007B\\000C' >&2; exit 2")).reason == "ABC"
