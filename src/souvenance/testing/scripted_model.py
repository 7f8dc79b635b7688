"""A `ChatModel` in the process that says what it is told to."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Self, assert_never

from souvenance.errors import ModelBroken, ModelRefused, SouvenanceError, UnknownModel
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ModelInfo, ToolCallDelta, Usage
from souvenance.testing.script import (
    BadLine,
    EmptyReply,
    Fault,
    HalfStream,
    Hang,
    HtmlPage,
    Raw,
    Reply,
    StreamError,
    Text,
    ToolCalls,
    pieces_of,
)

Answer = Reply | SouvenanceError


class ScriptedModel:
    """Answers each request with the next reply of its script, then with what `respond` says, then by an echo.

    A `SouvenanceError` in the script is raised. `requests` keeps every request in order; `cancelled` counts the
    replies that were closed or cancelled before their end.
    """

    def __init__(
        self,
        *script: Answer,
        respond: Callable[[ChatRequest], Answer] | None = None,
        models: tuple[ModelInfo, ...] = (ModelInfo(name="scripted", provider="testing", context=128_000),),
    ) -> None:
        self._script: deque[Answer] = deque(script)
        self._respond = respond or _echo
        self._models = models
        self.requests: list[ChatRequest] = []
        self.cancelled = 0
        self.hanging = asyncio.Event()
        self.released = asyncio.Event()

    def script(self, *replies: Answer) -> Self:
        """Queue more replies."""
        self._script.extend(replies)
        return self

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        """The scripted reply. `Hang` sets `hanging`, then waits for `released`."""
        self.requests.append(request)
        answer = self._script.popleft() if self._script else self._respond(request)
        try:
            if request.stream:
                async for chunk in self._pieces(answer, request):
                    yield chunk
            else:
                yield _together([chunk async for chunk in self._pieces(answer, request)])
        except (GeneratorExit, asyncio.CancelledError):
            self.cancelled += 1
            raise

    async def models(self) -> tuple[ModelInfo, ...]:
        return self._models

    async def info(self, model: str) -> ModelInfo:
        for known in self._models:
            if known.name == model:
                return known
        raise UnknownModel(model, known=tuple(known.name for known in self._models))

    async def _pieces(self, answer: Answer, request: ChatRequest) -> AsyncIterator[ModelChunk]:
        if isinstance(answer, SouvenanceError):
            raise answer
        first_after, between = (answer.first_after, answer.between) if isinstance(answer, Text) else (0.0, 0.0)
        if first_after:
            await asyncio.sleep(first_after)
        for chunk in _spoken(answer):
            if between:
                await asyncio.sleep(between)
            yield chunk
        if isinstance(answer, Hang):
            self.hanging.set()
            await self.released.wait()
        yield _last(answer, request)


def _spoken(answer: Reply) -> Iterator[ModelChunk]:
    match answer:
        case Text():
            yield from (ModelChunk(reasoning=text) for text in answer.reasoning)
            yield from (ModelChunk(text=text) for text in answer.chunks)
        case ToolCalls():
            yield from (ModelChunk(text=text) for text in answer.chunks)
            yield from _calls(answer)
        case HalfStream() | BadLine() | StreamError():
            yield from (ModelChunk(text=text) for text in answer.chunks)
        case Hang():
            yield from (ModelChunk(text=text) for text in answer.after)
        case Fault() | HtmlPage() | EmptyReply() | Raw():
            return
        case _:
            assert_never(answer)


def _calls(answer: ToolCalls) -> Iterator[ModelChunk]:
    for at, call in enumerate(answer.calls):
        head, *rest = pieces_of(call.arguments, call.pieces)
        first = ToolCallDelta(index=at, call_id=call.call_id or f"call_{at}", name=call.name, arguments=head)
        yield ModelChunk(tool_calls=(first,))
        yield from (ModelChunk(tool_calls=(ToolCallDelta(index=at, arguments=piece),)) for piece in rest)


def _last(answer: Reply, request: ChatRequest) -> ModelChunk:
    """The chunk that ends the reply, or the error that an upstream of this behaviour comes to."""
    match answer:
        case Text():
            return ModelChunk(finish=answer.finish, usage=answer.usage or _usage(request, len(answer.chunks)))
        case ToolCalls():
            return ModelChunk(finish="tool_calls", usage=answer.usage or _usage(request, len(answer.calls)))
        case Hang():
            return ModelChunk(finish="stop", usage=_usage(request, len(answer.after)))
        case Fault():
            raise ModelRefused(request.model, status=answer.status, body=answer.body, content_type=answer.content_type)
        case StreamError():
            raise ModelRefused(request.model, status=502, body=json.dumps({"error": dict(answer.error)}).encode())
        case HalfStream() | BadLine() | HtmlPage() | EmptyReply() | Raw():
            raise ModelBroken(request.model, problem=_PROBLEMS[type(answer)])
        case _:
            assert_never(answer)


_PROBLEMS: Mapping[type[Reply], str] = {
    HalfStream: "half a stream",
    BadLine: "a line that is not JSON",
    HtmlPage: "an HTML page instead of a reply",
    EmptyReply: "an empty reply",
    Raw: "bytes that only a scripted upstream can send",
}


def _together(chunks: list[ModelChunk]) -> ModelChunk:
    calls: dict[int, ToolCallDelta] = {}
    for delta in (delta for chunk in chunks for delta in chunk.tool_calls):
        first = calls.setdefault(delta.index, ToolCallDelta(index=delta.index))
        calls[delta.index] = ToolCallDelta(
            index=delta.index,
            call_id=first.call_id or delta.call_id,
            name=first.name or delta.name,
            arguments=first.arguments + delta.arguments,
        )
    return ModelChunk(
        text="".join(chunk.text for chunk in chunks),
        reasoning="".join(chunk.reasoning for chunk in chunks),
        tool_calls=tuple(calls.values()),
        finish=chunks[-1].finish,
        usage=chunks[-1].usage,
    )


def _usage(request: ChatRequest, pieces: int) -> Usage:
    size = len(request.body) or len(json.dumps([dict(message) for message in request.messages]))
    return Usage(tokens_in=max(1, size // 4), tokens_out=max(1, pieces))


def _echo(request: ChatRequest) -> Reply:
    users = (message.get("content") for message in reversed(request.messages) if message.get("role") == "user")
    words = f"You said: {next(users, '')}".split(" ")
    return Text(chunks=(words[0], *(" " + word for word in words[1:])))
