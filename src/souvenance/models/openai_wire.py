"""Any OpenAI-compatible upstream: its bytes out as they were decided, its chunks in as they come."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import cached_property

import httpx2

from souvenance.domain.json_object import JsonObject
from souvenance.errors import ModelBroken, ModelError, ModelRefused, ModelTimedOut, ModelUnreachable, UnknownModel
from souvenance.models.base_url import is_loopback, normalise
from souvenance.models.loopback import Loopback
from souvenance.models.model_list import read_models
from souvenance.models.model_names import may_be_unlisted
from souvenance.models.sse import Event, EventReader, EventTooLong
from souvenance.models.wire_form import ReplyReader
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ModelInfo

IDLE_SECONDS = 120.0
CONNECT_SECONDS = 10.0
LIST_SECONDS = 5.0
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30.0)
MAX_BODY_BYTES = 64 * 1024 * 1024
# After `[DONE]` the last bytes are waited for a moment, so that the connection can serve the next request.
DRAIN_SECONDS = 0.2
DONE = b"[DONE]"
HALF_A_STREAM = "half a stream: it ended without a finish reason"

log = logging.getLogger(__name__)


class OpenAIWire:
    """A `ChatModel` over one OpenAI-compatible address. Every call shares one pool of connections.

    `idle_seconds` bounds each silence, not the whole reply. A loopback address is asked directly; any other follows
    the proxy settings of the environment. The key is sent to this address only and is in no message, log or repr.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        provider: str = "openai",
        idle_seconds: float = IDLE_SECONDS,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.base_url = normalise(base_url)
        self.provider = provider
        self._idle = idle_seconds
        self._headers = {"accept-encoding": "identity", **dict(headers)}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._client: httpx2.AsyncClient | None = None
        self._direct: Loopback | None = None

    def __repr__(self) -> str:
        key = "***" if "authorization" in self._headers else "none"
        return f"OpenAIWire({self.base_url!r}, provider={self.provider!r}, api_key={key})"

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        """`request.body` is posted byte for byte; one chunk comes per object of the upstream.

        An upstream that ends with `[DONE]` but never said why it finished gets a last chunk `finish="stop"` without
        `wire`. One that answers a streaming request with a whole response gives one chunk without `wire`.
        """
        reader = ReplyReader()
        async with self._post(request) as response:
            if request.stream and "json" not in _kind(response):
                async with aclosing(_events(request.model, response, reader)) as events:
                    async for event in events:
                        yield reader.read(_parsed(request.model, event.data, failed=event.name == "error"))
                if not reader.finished:
                    yield ModelChunk(finish="stop")
            else:
                whole = reader.read_whole(_parsed(request.model, await _body(response)))
                yield replace(whole, wire=None) if request.stream else whole
        if not reader.said_anything:
            raise ModelBroken(request.model, problem="an empty reply")

    async def models(self) -> tuple[ModelInfo, ...]:
        """What `GET /models` lists, by name; empty when the upstream has no such list."""
        return await self._listed() or ()

    async def info(self, model: str) -> ModelInfo:
        """The listed model; an upstream that lists nothing is believed to have any."""
        listed = await self._listed()
        if listed is None and may_be_unlisted(model):
            return ModelInfo(name=model, provider=self.provider)
        for known in listed or ():
            if known.name == model:
                return known
        raise UnknownModel(model, known=tuple(known.name for known in listed or ()))

    async def close(self) -> None:
        """End every connection; the next call opens new ones."""
        client, self._client, self._direct = self._client, None, None
        if client is not None:
            await client.aclose()

    async def _listed(self) -> tuple[ModelInfo, ...] | None:
        """None when the upstream has no list at all."""
        url = f"{self.base_url}/models"
        try:
            response = await self._http().get(url, headers=self._headers, timeout=httpx2.Timeout(LIST_SECONDS))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _not_reached(self.provider, error, LIST_SECONDS) from error
        if response.status_code in (404, 405, 501):
            return None
        if not response.is_success:
            raise _refusal(self.provider, response, response.content)
        return read_models(_parsed(self.provider, response.content), provider=self.provider)

    @asynccontextmanager
    async def _post(self, request: ChatRequest) -> AsyncIterator[httpx2.Response]:
        """The open response, once its head says that a reply follows; closed, whatever happens, on the way out."""
        try:
            response = await self._sent(request.body)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _not_reached(request.model, error, self._idle) from error
        try:
            if not response.is_success:
                raise _refusal(request.model, response, await _what_came(response))
            if "html" in _kind(response):
                raise ModelBroken(request.model, problem="an HTML page instead of a reply: is the base URL right?")
            yield response
        except httpx2.HTTPError as error:
            raise _cut_off(request.model, error, self._idle) from error
        finally:
            await response.aclose()

    async def _sent(self, body: bytes) -> httpx2.Response:
        headers = {**self._headers, "content-type": "application/json"}
        client = self._http()
        if self._direct is None:
            posted = client.build_request("POST", self._chat, content=body, headers=headers)
            return await client.send(posted, stream=True)
        # A local server needs nothing of a client's proxies, redirects and cookies.
        extensions = {"timeout": client.timeout.as_dict()}
        posted = httpx2.Request("POST", self._chat, content=body, headers=headers, extensions=extensions)
        return await self._direct.handle_async_request(posted)

    @cached_property
    def _chat(self) -> httpx2.URL:
        return httpx2.URL(f"{self.base_url}/chat/completions")

    def _http(self) -> httpx2.AsyncClient:
        if self._client is None:
            if is_loopback(self.base_url) and self.base_url.startswith("http:"):
                self._direct = Loopback()
            self._client = httpx2.AsyncClient(
                timeout=httpx2.Timeout(self._idle, connect=CONNECT_SECONDS),
                limits=LIMITS,
                transport=self._direct,
                trust_env=not is_loopback(self.base_url),
            )
        return self._client


async def _events(model: str, response: httpx2.Response, reader: ReplyReader) -> AsyncGenerator[Event, None]:
    """The events of a stream up to `[DONE]`. Raises ModelBroken when it ends with neither that nor a finish."""
    lines = EventReader()
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                for event in lines.feed(piece):
                    if event.data == DONE:
                        await _drain(pieces)
                        return
                    yield event
    except EventTooLong as error:
        raise ModelBroken(model, problem=str(error)) from error
    except (httpx2.NetworkError, httpx2.ProtocolError, httpx2.ReadTimeout):
        if not reader.finished:
            raise
        return
    for event in lines.close():
        if event.data == DONE:
            return
        yield event
    if not reader.finished:
        raise ModelBroken(model, problem=HALF_A_STREAM)


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in pieces:
                continue


async def _body(response: httpx2.Response) -> bytes:
    """The whole body, at most MAX_BODY_BYTES of it."""
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > MAX_BODY_BYTES:
                break
    return bytes(body[:MAX_BODY_BYTES])


async def _what_came(response: httpx2.Response) -> bytes:
    """The body of a refusal; what there is of it, should the connection break."""
    try:
        return await _body(response)
    except httpx2.HTTPError:
        log.warning("refusal_body_incomplete", extra={"status": response.status_code})
        return b""


def _parsed(model: str, data: bytes, *, failed: bool = False) -> JsonObject:
    """A JSON object. Raises ModelBroken when it is none, ModelRefused when it is the upstream's error."""
    if not data.strip():
        raise ModelBroken(model, problem="an empty reply")
    try:
        value: object = json.loads(data)
    except ValueError as error:
        raise ModelBroken(model, problem=f"bad JSON in its answer ({error})") from error
    if not isinstance(value, dict):
        raise ModelBroken(model, problem="JSON that is not an object in its answer")
    if failed or value.get("error"):
        raise ModelRefused(model, status=_stated_status(value.get("error")), body=data)
    return value


def _stated_status(error: object) -> int:
    """The HTTP status that an error inside a stream names, or 502."""
    code = (error.get("code") or error.get("status")) if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 502


def _kind(response: httpx2.Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].lower()


def _refusal(model: str, response: httpx2.Response, body: bytes) -> ModelRefused:
    kind = response.headers.get("content-type", "application/octet-stream")
    retry = response.headers.get("retry-after", "")
    return ModelRefused(model, status=response.status_code, body=body, content_type=kind, retry_after=retry)


def _not_reached(model: str, error: Exception, seconds: float) -> ModelError:
    """What it means that no answer began."""
    if isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout):
        return ModelTimedOut(model, seconds=seconds)
    return ModelUnreachable(model, reason=str(error) or type(error).__name__)


def _cut_off(model: str, error: httpx2.HTTPError, seconds: float) -> ModelError:
    """What it means that an answer broke off."""
    if isinstance(error, httpx2.TimeoutException):
        return ModelTimedOut(model, seconds=seconds)
    return ModelBroken(model, problem=f"half a stream: the connection broke ({str(error) or type(error).__name__})")
