"""What went wrong with a request, in words: the cause, what to try, and whether trying again may help."""

from __future__ import annotations

import email.utils
import json
import re
import ssl
import time
from collections.abc import Mapping

import httpx

from mm.config.schema import ModelConfig
from mm.errors import ModelError, TooLongError
from mm.models.exchange import SilenceError
from mm.models.wire import DeadStreamError, WireError, error_text

_NUMBER = re.compile(r"^\[Errno -?\d+\] ")  # the words behind it say the same
_LONGEST = 600  # characters of a server's message that are shown
_START = {
    "ollama": "Is ollama running? Start it with `ollama serve`.",
    "llamacpp": "Is llama-server running? Start it with `llama-server -m MODEL.gguf --jinja`.",
    "lmstudio": "Is LM Studio's server running? Start it with `lms server start`.",
}
_FETCH = {
    "ollama": "Fetch it with `ollama pull {name}`; `ollama list` shows what is there.",
    "lmstudio": "`lms ls` shows what is there; load it with `lms load {name}`.",
}
_PERMANENT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})


class Failure(Exception):  # noqa: N818 - carries an error, and is never shown itself
    """One failed attempt. `after` is the wait in seconds that the server asked for."""

    def __init__(self, error: ModelError, *, again: bool = False, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.again = again
        self.after = after


class Explainer:
    """Words failures for one model. Keys and secret headers never get into them."""

    def __init__(self, config: ModelConfig, base_url: str) -> None:
        self._config = config
        self._base_url = base_url
        self._host = httpx.URL(base_url).host
        values = [config.api_key or "", *config.headers.values()]
        words = [word for value in values for word in (value, *value.split()) if len(word) >= 8]
        self._secrets = sorted({*words, httpx.URL(base_url).password} - {""}, key=len, reverse=True)

    def transport(self, error: Exception) -> Failure:
        """The connection could not be made, or broke."""
        text = _NUMBER.sub("", self._clean(str(error))) or type(error).__name__
        if isinstance(error, SilenceError):
            when = "to begin its answer" if error.first else "in the middle of its answer"
            return self._fail(f"`{self._config}` was silent for {error.seconds:g} s {when}.", _SLOW)
        if isinstance(error, httpx.ConnectTimeout):
            return self._fail(f"No connection to {self._where()} in time.", self._reach(), again=True)
        if _is_tls(error):
            hint = "Check `base_url`, the clock, and SSL_CERT_FILE if the network has its own authority."
            return self._fail(f"No secure connection to {self._where()}: {text}.", hint)
        if isinstance(error, httpx.ProxyError):
            return self._fail(f"The proxy refused: {text}.", "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.", again=True)
        if isinstance(error, httpx.ConnectError):
            nobody = self._host in LOOPBACK
            return self._fail(f"{self._where()} cannot be reached: {text}.", self._reach(), again=not nobody)
        if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            return self._fail(f"No request can be sent to {self._where()}: {text}.", "Check `base_url` and `headers`.")
        return self._fail(f"The connection to {self._where()} broke: {text}.", _AGAIN, again=True)

    def stream(self, error: WireError) -> Failure:
        """The server broke off, or said inside its answer that it failed."""
        text = self._clean(error.message)
        if isinstance(error, DeadStreamError):
            return self._fail(f"`{self._config}`: {text}", _AGAIN, again=True, partial=error.partial)
        again = error.code is not None and _may_help(error.code)
        hint = _context_hint(text) or _AGAIN
        return self._fail(f"`{self._config}` failed: {text}", hint, again=again, partial=error.partial)

    def status(self, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
        """The server answered with an error status."""
        text, value = self._server_says(body)
        said = f": {text}" if text else "."
        if 300 <= status < 400:
            target = self._clean(headers.get("location", "elsewhere"))
            return self._fail(f"{self._where()} redirects to {target}.", "Set `base_url` to where it redirects.")
        if status in (401, 403):
            return self._fail(f"{self._where()} refused the key ({status}){said}", self._key_hint())
        if status == 404:
            return self._fail(f"{self._where()} does not know `{self._config.name}` (404){said}", self._missing(text))
        if status == 429:
            after = retry_after(headers.get("retry-after"))
            again = not (_PERMANENT & {str(value.get(key)) for key in ("code", "type")})
            hint = "Wait, or use another model with -m." if again else "Check the plan and the billing of the account."
            return self._fail(f"{self._where()} is asked too much (429){said}", hint, again=again, after=after)
        if status >= 500 or status == 408:
            after = retry_after(headers.get("retry-after"))
            message = f"{self._where()} failed ({status}){said}"
            return self._fail(message, _context_hint(text) or _AGAIN, again=_may_help(status), after=after)
        hint = _context_hint(text) or "Check `model`, its `extra` and the tools in the agent file."
        return self._fail(f"{self._where()} refused the request ({status}){said}", hint)

    def _fail(
        self, message: str, hint: str, *, again: bool = False, after: float | None = None, partial: str = ""
    ) -> Failure:
        kind = TooLongError if hint == _TOO_LONG else ModelError
        return Failure(kind(message, hint, partial=partial), again=again, after=after)

    def _where(self) -> str:
        return f"{self._config.provider} at {httpx.URL(self._base_url).copy_with(userinfo=b'')}"

    def _reach(self) -> str:
        start = _START.get(self._config.provider)
        return start if start else "Check `base_url`, the network and the proxy settings."

    def _missing(self, text: str) -> str:
        fetch = _FETCH.get(self._config.provider)
        if fetch:
            return fetch.format(name=self._config.name)
        if not text and "/v1" not in self._base_url:
            return "Does `base_url` lack a `/v1` at its end?"
        return "Check the name of the model, and `base_url`."

    def _key_hint(self) -> str:
        if not self._config.api_key:
            return "No key was sent. Set `api_key: ${VARIABLE}` in the agent file, or the provider's own variable."
        return "Check the key, and that it may use this model."

    def _server_says(self, body: bytes) -> tuple[str, Mapping[str, object]]:
        """The message in an error's body, and its record."""
        text = body.decode("utf-8", "replace").strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return ("" if text.startswith("<") else self._clean(text)), {}
        inner = value.get("error", value) if isinstance(value, dict) else value
        return self._clean(error_text(inner)), inner if isinstance(inner, dict) else {}

    def _clean(self, text: str) -> str:
        """One line of bounded length without secrets."""
        text = " ".join(text.split())
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_AGAIN = "Try again."
_TOO_LONG = (
    "The conversation does not fit: shorten the message, use /compact in the chat, or give the model more context."
)
_SLOW = "A smaller model or a shorter conversation answers sooner."


def retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header: a number of seconds, or a date."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def refuses_usage(status: int, body: bytes) -> bool:
    """Whether a server refused a request because it does not know `stream_options`."""
    words = (b"stream_options", b"include_usage", b"extra", b"unknown", b"unrecognized", b"unexpected")
    return status in (400, 422) and any(word in body.lower() for word in words)


def _may_help(status: int) -> bool:
    return status in (408, 429) or (status >= 500 and status not in (501, 505))


def _context_hint(text: str) -> str:
    lower = text.lower()
    if "context" in lower and any(word in lower for word in ("exceed", "length", "size", "window", "maximum")):
        return _TOO_LONG
    return ""


def _is_tls(error: Exception) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
