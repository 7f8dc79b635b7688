"""From a scripted reply to what goes over the wire: steps that the server carries out one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from souvenance.domain.json_object import JsonObject
from souvenance.ports.chat_model import Usage
from souvenance.testing.script import (
    BadLine,
    Call,
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

CREATED = 1_767_225_600
EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The status line and headers; with `length` None the body goes out in HTTP chunks."""

    status: int = 200
    content_type: str = EVENT_STREAM
    length: int | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """Wait until released, or until the client leaves."""


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection in the middle of the answer."""


Step = Head | Send | Pause | Hold | Drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the answer needs to know of the request."""

    number: int
    model: str
    stream: bool
    with_usage: bool
    size: int

    def usage(self, reply: Usage | None, pieces: int) -> Usage:
        """The scripted usage, or one that follows from the sizes: four bytes a token in, one token a piece out."""
        return reply or Usage(tokens_in=max(1, self.size // 4), tokens_out=max(1, pieces))


def asked(body: bytes, number: int) -> Asked:
    """Read a request body; one that is not a JSON object counts as a plain request for no model."""
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    fields: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    options = fields.get("stream_options")
    return Asked(
        number=number,
        model=str(fields.get("model", "")),
        stream=bool(fields.get("stream", False)),
        with_usage=isinstance(options, dict) and bool(options.get("include_usage")),
        size=len(body),
    )


def steps(reply: Reply, request: Asked) -> Iterator[Step]:
    """What the server does to give this reply."""
    match reply:
        case Fault():
            yield from _page(reply.status, reply.content_type, reply.body, reply.headers)
        case HtmlPage():
            yield from _page(200, "text/html; charset=utf-8", reply.page.encode())
        case Raw():
            yield Head(status=reply.status, content_type=reply.content_type)
            yield from (Send(piece) for piece in reply.pieces)
        case Text() | ToolCalls() | Hang() | HalfStream() | BadLine() | StreamError() | EmptyReply():
            yield from _streamed(reply, request) if request.stream else _whole(reply, request)
        case _:
            assert_never(reply)


_Spoken = Text | ToolCalls | Hang | HalfStream | BadLine | StreamError | EmptyReply


def _streamed(reply: _Spoken, request: Asked) -> Iterator[Step]:
    if isinstance(reply, Text) and reply.first_after:
        yield Pause(reply.first_after)
    yield Head()
    yield _event(_chunk(request, {"role": "assistant", "content": ""}))
    yield from _words(reply, request)
    match reply:
        case HalfStream():
            yield Drop()
        case BadLine():
            yield Send(f"data: {reply.line}\n\n".encode())
        case StreamError():
            yield _event({"error": dict(reply.error)})
        case Hang():
            yield Hold()
            yield from _ending(request, "stop", None, len(reply.after))
        case Text():
            yield from _ending(request, reply.finish, reply.usage, len(reply.chunks))
        case ToolCalls():
            yield from (_event(_chunk(request, delta)) for delta in _call_deltas(reply.calls, request))
            yield from _ending(request, "tool_calls", reply.usage, len(reply.calls))
        case EmptyReply():
            yield from _ending(request, "stop", None, 0)
        case _:
            assert_never(reply)


def _words(reply: _Spoken, request: Asked) -> Iterator[Step]:
    between = 0.0
    if isinstance(reply, Text):
        between = reply.between
        yield from (_event(_chunk(request, {"reasoning_content": text})) for text in reply.reasoning)
    for text in _texts(reply):
        if between:
            yield Pause(between)
        yield _event(_chunk(request, {"content": text}))


def _ending(request: Asked, finish: str, usage: Usage | None, pieces: int) -> Iterator[Step]:
    yield _event(_chunk(request, {}, finish))
    if request.with_usage:
        yield _event(
            {**_frame(request, "chat.completion.chunk"), "choices": [], "usage": _usage(request, usage, pieces)}
        )
    yield Send(b"data: [DONE]\n\n")


def _whole(reply: _Spoken, request: Asked) -> Iterator[Step]:
    match reply:
        case Hang():
            yield Hold()
        case HalfStream():
            yield Head(content_type="application/json", length=4_096)
            yield Send(b'{"id":"chatcmpl-')
            yield Drop()
        case BadLine():
            yield from _page(200, "application/json", reply.line.encode())
            return
        case StreamError():
            yield from _page(200, "application/json", _json({"error": dict(reply.error)}))
            return
        case Text():
            yield Pause(reply.first_after)
        case ToolCalls() | EmptyReply():
            yield from ()
        case _:
            assert_never(reply)
    yield from _page(200, "application/json", _json(_completion(reply, request)))


def _completion(reply: _Spoken, request: Asked) -> JsonObject:
    texts = _texts(reply)
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts)}
    finish = reply.finish if isinstance(reply, Text) else "stop"
    usage = reply.usage if isinstance(reply, Text | ToolCalls) else None
    if isinstance(reply, Text) and reply.reasoning:
        message["reasoning_content"] = "".join(reply.reasoning)
    if isinstance(reply, ToolCalls):
        finish = "tool_calls"
        message["tool_calls"] = [
            {"id": _call_id(call, request, at), "type": "function", "function": _function(call)}
            for at, call in enumerate(reply.calls)
        ]
    return {
        **_frame(request, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(request, usage, len(texts)),
    }


def _call_deltas(calls: Sequence[Call], request: Asked) -> Iterator[JsonObject]:
    for at, call in enumerate(calls):
        head, *rest = pieces_of(call.arguments, call.pieces)
        function = {"name": call.name, "arguments": head}
        first = {"index": at, "id": _call_id(call, request, at), "type": "function", "function": function}
        yield {"tool_calls": [first]}
        yield from ({"tool_calls": [{"index": at, "function": {"arguments": piece}}]} for piece in rest)


def _texts(reply: _Spoken) -> tuple[str, ...]:
    match reply:
        case Hang():
            return reply.after
        case EmptyReply():
            return ()
        case _:
            return reply.chunks


def _call_id(call: Call, request: Asked, at: int) -> str:
    return call.call_id or f"call_{request.number}_{at}"


def _function(call: Call) -> JsonObject:
    return {"name": call.name, "arguments": call.arguments}


def _frame(request: Asked, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": CREATED, "model": request.model}


def _chunk(request: Asked, delta: JsonObject, finish: str | None = None) -> JsonObject:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_frame(request, "chat.completion.chunk"), "choices": [choice]}


def _usage(request: Asked, stated: Usage | None, pieces: int) -> JsonObject:
    usage = request.usage(stated, pieces)
    total = usage.tokens_in + usage.tokens_out
    return {"prompt_tokens": usage.tokens_in, "completion_tokens": usage.tokens_out, "total_tokens": total}


def _page(
    status: int, content_type: str, body: bytes, headers: tuple[tuple[str, str], ...] = ()
) -> Iterator[Head | Send]:
    yield Head(status=status, content_type=content_type, length=len(body), headers=headers)
    yield Send(body)


def _event(value: JsonObject) -> Send:
    return Send(b"data: " + _json(value) + b"\n\n")


def _json(value: JsonObject) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
