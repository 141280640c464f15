"""A model behind an OpenAI-compatible server, asked over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import httpx

import mm
from mm.config.schema import ModelConfig
from mm.errors import MMError, ModelError
from mm.interrupt import Interrupted
from mm.messages import Message, Reply, ToolOffer
from mm.models import request
from mm.models.context import CutWatch, NotThereError, ask_context_size
from mm.models.exchange import Answered, Arrived, Connections, Exchange, Sent, SilenceError, Timeouts
from mm.models.failures import LOOPBACK, Explainer, Failure, refuses_usage
from mm.models.model import OnDelta, OnNotice
from mm.models.wire import ReplyReader, WireError

_DELAYS = (0.5, 1.0, 2.0, 4.0)  # seconds before the second, third, … attempt
_LONGEST_WAIT = 60.0  # seconds of a Retry-After that mm waits out
_GRACE = 0.5  # seconds for a server to end an answer that is whole


class OpenAIModel:
    """A model that is asked over HTTP. `config.base_url` is all of the URL before `/chat/completions`."""

    def __init__(
        self,
        config: ModelConfig,
        *,
        timeouts: Timeouts | None = None,
        delays: Sequence[float] = _DELAYS,
    ) -> None:
        if not config.base_url:
            raise MMError(f"`{config}` has no `base_url`.", "Give the model a `base_url` in the agent file.")
        self.label = str(config)
        self._config = config
        self._base_url = config.base_url.rstrip("/").removesuffix("/chat/completions")
        self._timeouts = timeouts or Timeouts()
        self._delays = delays
        self._headers = _headers(config)
        self._explain = _explainer(config, self._base_url)
        self._connections = Connections(self._make_client)
        self._usage = True  # ask for token counts, until a server refuses
        self._cuts = CutWatch(config.provider, config.name)
        self._context = config.context
        self._context_asked = False

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
        """See `Model.ask`. Retries what may pass by itself, as long as nothing of the answer was shown."""
        attempt = _Attempt(self, messages, offers, on_delta, on_sent, stop)
        for delay in (*self._delays, None):
            try:
                reply, body = attempt.run()
            except Failure as failure:
                wait = delay if failure.after is None else failure.after
                if not failure.again or attempt.shown or delay is None or wait is None or wait > _LONGEST_WAIT:
                    raise failure.error from None
                on_notice(f"{failure.error.message} Trying again in {wait:g} s.")
                if stop.wait(wait):
                    raise Interrupted from None
                continue
            self._cuts.look(reply.usage.prompt_tokens, request.count_words(body), on_notice)
            return reply
        raise AssertionError("the last attempt returns or raises")

    def context_size(self) -> int | None:
        """Configured, or what the server says. One that was down, or just starting, is asked again."""
        if self._context is None and not self._context_asked:
            client = self._connections.client()
            try:
                self._context = ask_context_size(client, self._config, self._base_url, self._headers)
            except NotThereError:
                return None
            self._context_asked = True
        return self._context

    def list_models(self, patience: float) -> httpx.Response:
        """What the server says when it is asked for its models, over the client that a turn would use.

        Raises MMError where no answer comes within `patience` seconds, and where the key is refused.
        """
        client = self._connections.client()
        try:
            answer = client.get(f"{self._base_url}/models", headers=self._headers, timeout=patience)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise self._explain.transport(error).error from error
        if answer.status_code in (401, 403):
            raise self._explain.status(answer.status_code, answer.headers, answer.content).error
        return answer

    def close(self) -> None:
        self._connections.close()

    def __repr__(self) -> str:
        return f"OpenAIModel({self.label})"

    def _make_client(self) -> httpx.Client:
        """Loopback never goes through a proxy, and needs no kept connections: llama.cpp closes them at any moment.

        Plain HTTP needs no certificate authorities, which take long to load.
        """
        url = httpx.URL(self._base_url)
        longest = max(self._timeouts.first, self._timeouts.silence)
        timeout = httpx.Timeout(longest + 60, connect=self._timeouts.connect)
        near = url.host in LOOPBACK
        limits = httpx.Limits(max_keepalive_connections=0 if near else 4)
        try:
            return httpx.Client(timeout=timeout, limits=limits, trust_env=not near, verify=url.scheme != "http")
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            hint = 'Check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and SSL_CERT_FILE; for socks: pip install "httpx[socks]"'
            raise ModelError(f"No HTTP client can be made: {_first_line(error)}", hint) from error


class _Attempt:
    """The attempts at one request: what is sent, and whether something of the answer was shown already."""

    def __init__(
        self,
        model: OpenAIModel,
        messages: Sequence[Message],
        offers: Sequence[ToolOffer],
        on_delta: OnDelta,
        on_sent: Callable[[], None],
        stop: threading.Event,
    ) -> None:
        self._model = model
        self._messages = messages
        self._offers = offers
        self._on_delta = on_delta
        self._on_sent = on_sent
        self._stop = stop
        self._sent = False
        self.shown = False

    def run(self) -> tuple[Reply, bytes]:
        """One attempt: the reply and the body that was sent. Raises Failure."""
        body = self._body()
        reader = ReplyReader(offer.name for offer in self._offers)
        explain = self._model._explain
        exchange = self._exchange(body)
        try:
            with exchange:
                return self._read(exchange, reader), body
        except WireError as error:
            raise explain.stream(error) from error
        except (httpx.HTTPError, httpx.InvalidURL, SilenceError, OSError, ValueError) as error:
            if _was_stale(error, exchange):
                return self.run()
            failure = explain.transport(error)
            failure.error.partial = reader.partial
            raise failure from error
        except _UsageRefused:
            self._model._usage = False
            return self.run()

    def _body(self) -> bytes:
        model = self._model
        official = httpx.URL(model._base_url).host == "api.openai.com"
        body = request.build(
            self._messages,
            self._offers,
            model._config,
            with_usage=model._usage,
            limit_key="max_completion_tokens" if official else "max_tokens",
        )
        return request.encode(body)

    def _exchange(self, body: bytes) -> Exchange:
        model = self._model
        url = f"{model._base_url}/chat/completions"
        client = model._connections.client()
        sent = client.build_request("POST", url, content=body, headers=model._headers)
        return Exchange(model._connections, sent, model._timeouts)

    def _read(self, exchange: Exchange, reader: ReplyReader) -> Reply:
        answer = Answered(0, {})
        problem = b""
        for step in exchange.steps(self._stop):
            if isinstance(step, Sent):
                self._tell_sent()
            elif isinstance(step, Answered):
                answer = step
            elif isinstance(step, Arrived) and answer.status == 200:
                self._show(reader, step.data)
                exchange.begun = reader.begun
                if reader.done:
                    exchange.finish(_GRACE)
                    break
            elif isinstance(step, Arrived):
                exchange.begun = True
                problem += step.data
        if answer.status != 200:
            if self._model._usage and refuses_usage(answer.status, problem):
                raise _UsageRefused
            raise self._model._explain.status(answer.status, answer.headers, problem)
        deltas, reply = reader.end()
        for delta in deltas:
            self._on_delta(delta)
        return reply

    def _tell_sent(self) -> None:
        if not self._sent:
            self._sent = True
            self._on_sent()

    def _show(self, reader: ReplyReader, data: bytes) -> None:
        for delta in reader.feed(data):
            self.shown = True
            self._on_delta(delta)


class _UsageRefused(Exception):  # noqa: N818 - a branch, not an error
    """The server does not know `stream_options`."""


def _was_stale(error: Exception, exchange: Exchange) -> bool:
    """Whether a kept connection turned out to be closed by the server in the meantime: that is no failure."""
    broke = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError))
    return broke and not exchange.fresh and not exchange.answered


def _headers(config: ModelConfig) -> dict[str, str]:
    headers = {
        "accept": "text/event-stream, application/json",
        "content-type": "application/json",
        "user-agent": f"mm/{mm.__version__}",
    }
    if config.api_key:
        headers["authorization"] = f"Bearer {config.api_key.strip()}"
    headers.update({name.lower(): value.strip() for name, value in config.headers.items()})
    for name, value in headers.items():
        if not (name + value).isascii() or not value.isprintable():
            what = "`api_key`" if name == "authorization" else f"The header `{name}`"
            raise MMError(f"{what} of `{config}` holds characters that no header may hold.", "Set it anew.")
    return headers


def _explainer(config: ModelConfig, base_url: str) -> Explainer:
    try:
        return Explainer(config, base_url)
    except httpx.InvalidURL as error:
        raise MMError(f"`base_url: {base_url}` is not a URL: {error}.", "It looks like http://HOST:PORT/v1.") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
