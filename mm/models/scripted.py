"""A model whose replies are written down: for examples, tests and demonstrations without any server."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from mm.config.schema import ModelConfig
from mm.counts import count
from mm.errors import ModelError, UsageError
from mm.folders import with_home
from mm.interrupt import Interrupted
from mm.messages import JSON, Finish, Message, Reply, ToolCall, ToolOffer, Usage
from mm.models.model import Delta, OnDelta, OnNotice

Check: TypeAlias = Callable[[Sequence[Message], Sequence[ToolOffer]], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One reply. `pieces` is its text as it streams, each piece after `delay` seconds.

    `expect` holds texts that the latest message of the request must contain; `check` looks at the whole request and
    raises AssertionError. `error` fails the request instead, after the pieces.
    """

    pieces: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish: Finish = Finish.DONE
    delay: float = 0.0
    expect: tuple[str, ...] = ()
    check: Check | None = None
    error: str = ""
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def saying(cls, text: str) -> Step:
        return cls(pieces=(text,))

    @classmethod
    def calling(cls, name: str, arguments: JSON = None, *, text: str = "") -> Step:
        """A step with one call; `arguments` is a value to be encoded, or the raw text."""
        return cls(pieces=(text,) if text else (), calls=(_call(name, arguments),))


class ScriptedModel:
    """Answers each request with the next step. `requests` keeps what was asked.

    Made from a config (`scripted:FILE`), or from a list of steps, texts (said) and Replies.
    """

    def __init__(self, source: ModelConfig | Sequence[Step | Reply | str], *, context: int | None = None) -> None:
        if isinstance(source, ModelConfig):
            self.label = str(source)
            self._steps = read_script(with_home(source.name))
            self._context = source.context
        else:
            self.label = "scripted:list"
            self._steps = [_step(item) for item in source]
            self._context = context
        self.requests: list[tuple[tuple[Message, ...], tuple[ToolOffer, ...]]] = []
        self.closed = False

    def ask(
        self,
        messages: Sequence[Message],
        offers: Sequence[ToolOffer],
        *,
        on_delta: OnDelta,
        on_notice: OnNotice,
        on_sent: Callable[[], None],
        stop: threading.Event,
    ) -> Reply:
        """See `Model.ask`. Raises ModelError when the script is at its end or a step expected another request."""
        number = len(self.requests) + 1
        self.requests.append((tuple(messages), tuple(offers)))
        if number > len(self._steps):
            has = count(len(self._steps), "reply", "replies")
            message = f"`{self.label}` is at its end: it has {has}, and {number} were asked."
            raise ModelError(message, "Add a step, or ask less.")
        step = self._steps[number - 1]
        self._compare(number, step, messages, offers)
        on_sent()
        return self._play(number, step, on_delta, stop)

    def context_size(self) -> int | None:
        return self._context

    def close(self) -> None:
        self.closed = True

    def _play(self, number: int, step: Step, on_delta: OnDelta, stop: threading.Event) -> Reply:
        if step.reasoning:
            on_delta(Delta(step.reasoning, reasoning=True))
        for piece in step.pieces:
            if stop.wait(step.delay):
                raise Interrupted
            on_delta(Delta(piece))
        if stop.is_set():
            raise Interrupted
        text = "".join(step.pieces)
        if step.error:
            raise ModelError(f"`{self.label}`: {step.error}", partial=text)
        calls = tuple(replace(call, id=call.id or f"call_{number}_{place}") for place, call in enumerate(step.calls, 1))
        return Reply(text=text, reasoning=step.reasoning, calls=calls, finish=step.finish, usage=step.usage)

    def _compare(self, number: int, step: Step, messages: Sequence[Message], offers: Sequence[ToolOffer]) -> None:
        latest = messages[-1].content if messages else ""
        for text in step.expect:
            if text not in latest:
                wanted = f"Step {number} of `{self.label}` expects {text!r} in the latest message"
                raise ModelError(f"{wanted}, which is: {latest[:400]!r}.")
        if step.check is not None:
            step.check(messages, offers)


def read_script(path: Path) -> list[Step]:
    """The steps of a script file: a YAML or JSON list. Raises UsageError, naming the step and the key."""
    try:
        steps = yaml.safe_load(_text(path))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"The script `{path}` cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(steps, list):
        raise UsageError(f"The script `{path}` is not a list.", "Each item is a text, or a mapping: `- text: Hello`.")
    return [_read_step(path, number, item) for number, item in enumerate(steps, 1)]


_ANOTHER = "Name a file: `scripted:FILE`."


def _text(path: Path) -> str:
    """What a script file holds. Only a regular file is opened: a FIFO would hang mm."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise UsageError(f"The script `{path}` is {what}.", _ANOTHER)
        return path.read_text("utf-8")
    except FileNotFoundError:
        hint = (
            "A relative path behind `-m` starts at the working directory, one in an agent file at the folder of that."
        )
        raise UsageError(f"There is no script `{path}`.", hint) from None
    except OSError as error:
        raise UsageError(f"The script `{path}` cannot be read: {error.strerror}.", _ANOTHER) from error


_KEYS = ("text", "pieces", "calls", "reasoning", "finish", "delay", "expect", "error", "usage")


def _read_step(path: Path, number: int, item: JSON) -> Step:
    place = f"Step {number} of `{path}`"
    if isinstance(item, str):
        return Step.saying(item)
    if not isinstance(item, dict):
        raise UsageError(f"{place} is neither a text nor a mapping.")
    unknown = [key for key in item if key not in _KEYS]
    if unknown:
        known = ", ".join(f"`{key}`" for key in _KEYS)
        raise UsageError(f"{place}: `{unknown[0]}` is not a key.", f"Known are {known}.")
    try:
        return _step_of(item)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        hint = "A call is `{name: TOOL, arguments: {…}}`; `finish` is `done` or `length`."
        raise UsageError(f"{place} cannot be read: {error}", hint) from error


def _step_of(item: Mapping[str, Any]) -> Step:
    usage = item.get("usage") or {}
    return Step(
        pieces=_texts(item.get("pieces") or item.get("text")),
        calls=tuple(_call(call["name"], call.get("arguments"), call.get("id", "")) for call in item.get("calls") or ()),
        reasoning=item.get("reasoning") or "",
        finish=Finish(item.get("finish") or Finish.DONE),
        delay=float(item.get("delay") or 0),
        expect=_texts(item.get("expect")),
        error=item.get("error") or "",
        usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
    )


def _step(item: Step | Reply | str) -> Step:
    if isinstance(item, str):
        return Step.saying(item)
    if isinstance(item, Reply):
        pieces = (item.text,) if item.text else ()
        return Step(pieces, item.calls, item.reasoning, item.finish, usage=item.usage)
    return item


def _call(name: str, arguments: JSON, identity: str = "") -> ToolCall:
    if isinstance(arguments, str):
        return ToolCall(identity, name, arguments)
    return ToolCall(identity, name, json.dumps({} if arguments is None else arguments, ensure_ascii=False))


def _texts(value: JSON) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(str(item) for item in value) if isinstance(value, list) else (str(value),)
