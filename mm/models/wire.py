"""The streamed answer of an OpenAI-compatible server → one Reply. Pure: bytes in, pieces and a reply out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from mm.messages import JSON, Finish, Reply, Usage
from mm.models.calls import CallCollector, join_halves
from mm.models.model import Delta
from mm.models.sse import MAX_LINE, EventReader, LineTooLongError
from mm.models.think import ThinkSplitter

_CUT = frozenset({"length", "max_tokens", "model_length", "max_length"})
_FILTERED = frozenset({"content_filter", "safety", "recitation"})
_SURROGATE = re.compile("[\ud800-\udfff]")


class WireError(Exception):
    """The server said that it failed, or its answer is not one. `partial` is the text that had arrived.

    `code` is the status that the server names inside its answer, if it does.
    """

    def __init__(self, message: str, *, code: int | None = None, partial: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.partial = partial


class DeadStreamError(WireError):
    """The connection ended before the answer did."""


class ReplyReader:
    """Reads one answer. `feed` bytes as they come, then `end`; `names` are the tools that were offered.

    `begun` says that something of the answer itself has come: text, reasoning, or a call.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.begun = False
        self._events = EventReader()
        self._calls = CallCollector(names)
        self._content = ThinkSplitter()
        self._reasoning: list[str] = []
        self._halves = {"content": "", "reasoning": ""}
        self._finish = ""
        self._whole = False  # a whole completion came instead of a stream
        self._usage = Usage()

    @property
    def partial(self) -> str:
        """The answer text that has arrived so far."""
        return self._content.text

    @property
    def done(self) -> bool:
        """The server has said that nothing more comes."""
        return self._events.done

    def feed(self, data: bytes) -> list[Delta]:
        """Raises WireError when the server reports an error in its answer."""
        return [delta for value in self._values(lambda: self._events.feed(data)) for delta in self._take(value)]

    def end(self) -> tuple[list[Delta], Reply]:
        """The last pieces, and the reply. Raises DeadStreamError if the answer is not whole."""
        deltas = [delta for value in self._values(self._events.end) for delta in self._take(value)]
        if self._events.damaged or not (self._finish or self._whole or self._events.done):
            raise self._incomplete()
        deltas += self._content.feed(_heal(self._halves["content"])) + self._content.end()
        deltas += self._take_reasoning(_heal(self._halves["reasoning"]), last=True)
        self._content.settle()
        reply = Reply(
            text=self._content.text,
            reasoning="".join(self._reasoning) + self._content.reasoning,
            calls=self._calls.calls(),
            finish=Finish.LENGTH if self._finish in _CUT else Finish.DONE,
            usage=self._usage,
        )
        self._refuse_empty(reply)
        return deltas, reply

    def _values(self, read: Callable[[], list[JSON]]) -> list[JSON]:
        try:
            return read()
        except LineTooLongError:
            size = MAX_LINE // 1024**2
            message = f"The server sent over {size} MiB without an end of line, which is no answer of a model."
            raise WireError(message, partial=self.partial) from None

    def _incomplete(self) -> WireError:
        stray = self._events.stray
        if stray.startswith("<"):
            return WireError("The server answered with a web page instead of a completion.")
        if stray and not self._events.damaged:
            return WireError(f"The server sent what is not an answer: {stray[:300]}", partial=self.partial)
        return DeadStreamError("The connection closed before the answer was complete.", partial=self.partial)

    def _refuse_empty(self, reply: Reply) -> None:
        """An answer without anything in it is an error where the server gave its reason beside the protocol."""
        if self._finish in _FILTERED:
            raise WireError("The provider's content filter stopped the answer.", partial=reply.text)
        if self._events.stray and not (reply.text or reply.calls or reply.reasoning):
            raise WireError(f"The server sent what is not an answer: {self._events.stray[:300]}")

    def _take(self, value: JSON) -> list[Delta]:
        if isinstance(value, list):
            return [delta for item in value for delta in self._take(item)]
        if isinstance(value, str):
            raise WireError(value, partial=self.partial)
        if not isinstance(value, dict):
            return []
        self._refuse_error(value)
        self._usage = _usage(value) or self._usage
        return self._take_choice(_first_choice(value))

    def _take_choice(self, choice: Mapping[str, JSON]) -> list[Delta]:
        self._refuse_error(choice)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish.lower()
        if self._finish == "error":
            raise WireError("The server ended the answer with an error.", partial=self.partial)
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(message, dict) and not isinstance(delta, dict):
            delta, self._whole = message, True
        if not isinstance(delta, dict):
            text = choice.get("text")
            return self._take_content(text) if isinstance(text, str) else []
        return self._take_delta(delta)

    def _take_delta(self, delta: Mapping[str, JSON]) -> list[Delta]:
        entries = _call_entries(delta)
        self._calls.add(entries)
        self.begun = self.begun or bool(entries)
        reasoning = next((text for key in _REASONING if (text := _content(delta.get(key), thinking=True))), "")
        content = delta.get("content")
        hidden = _content(content, thinking=True) if isinstance(content, list) else ""
        refusal = delta.get("refusal")
        deltas = self._take_reasoning(reasoning or hidden)
        deltas += self._take_content(_content(content))
        return deltas + self._take_content(refusal if isinstance(refusal, str) else "")

    def _take_content(self, piece: str) -> list[Delta]:
        if not piece:
            return []
        self.begun = True
        return self._content.feed(self._pair("content", piece))

    def _take_reasoning(self, piece: str, *, last: bool = False) -> list[Delta]:
        piece = piece if last else self._pair("reasoning", piece)
        self._reasoning.append(piece)
        self.begun = self.begun or bool(piece)
        return [Delta(piece, reasoning=True)] if piece else []

    def _pair(self, kind: str, piece: str) -> str:
        """Hold back half a surrogate pair until its other half is here; replace what never becomes a character."""
        piece = join_halves(self._halves[kind] + piece)
        half = piece[-1:] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        self._halves[kind] = half
        return _heal(piece[: len(piece) - len(half)])

    def _refuse_error(self, value: Mapping[str, JSON]) -> None:
        error = value.get("error")
        if not error and "choices" not in value and _looks_like_error(value):
            error = value
        if error:
            raise WireError(error_text(error), code=error_code(error), partial=self.partial)


_REASONING = ("reasoning_content", "reasoning", "thinking")


def error_text(error: JSON) -> str:
    """The words in a server's error, whatever its shape: text, `{message}`, `{error: {message}}`, `{detail}`."""
    if isinstance(error, dict):
        for key in ("message", "error", "detail", "msg", "error_message"):
            if error.get(key):
                return error_text(error[key])
        return str(error)
    if isinstance(error, list) and error:
        return error_text(error[0])
    return str(error).strip() or "The server reported an error without saying which."


def error_code(error: JSON) -> int | None:
    """The HTTP status that a server names inside its error."""
    if not isinstance(error, dict):
        return None
    for key in ("code", "status", "status_code"):
        value = error.get(key)
        if isinstance(value, str) and value.isdecimal():
            value = int(value[:4])
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return error_code(error.get("error"))


def _looks_like_error(value: Mapping[str, JSON]) -> bool:
    if value.get("object") == "error" or value.get("type") == "error":
        return True
    return bool(value.get("detail")) or ("message" in value and bool({"code", "type", "status"} & value.keys()))


def _first_choice(value: Mapping[str, JSON]) -> Mapping[str, JSON]:
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index") in (0, None, "0"):
            return choice
    return {}


def _call_entries(delta: Mapping[str, JSON]) -> list[JSON]:
    calls = delta.get("tool_calls")
    if isinstance(calls, dict):
        return [calls]
    if isinstance(calls, list):
        return calls
    old = delta.get("function_call")
    return [{"index": 0, "function": old}] if isinstance(old, dict) else []


def _content(value: JSON, *, thinking: bool = False) -> str:
    """The text of a content: a text as it is, of a list of parts those of the wanted kind."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return ""
    return "".join(_part(part, thinking) for part in value)


def _part(part: JSON, thinking: bool) -> str:
    if isinstance(part, str):
        return "" if thinking else part
    if not isinstance(part, dict):
        return ""
    is_thinking = part.get("type") in ("thinking", "reasoning")
    if is_thinking != thinking:
        return ""
    inner = part.get("thinking") or part.get("text") or part.get("content")
    return _content(inner) if isinstance(inner, (str, list)) else ""


def _usage(value: Mapping[str, JSON]) -> Usage | None:
    usage = value.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = (_count(usage.get(key)) for key in ("prompt_tokens", "completion_tokens"))
    return Usage(prompt, completion) if prompt is not None or completion is not None else None


def _count(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _heal(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
