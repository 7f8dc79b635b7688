"""What a scripted model or upstream says, as values: one per request, taken in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from souvenance.domain.json_object import JsonObject
from souvenance.ports.chat_model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call; `arguments` is JSON text, sent in `pieces` deltas."""

    name: str
    arguments: str = "{}"
    call_id: str = ""
    pieces: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A reply in these chunks, then `finish`; `first_after` seconds pass before the first chunk (for benches) and
    `between` before each one (so that something can happen while the upstream speaks).
    """

    chunks: tuple[str, ...]
    reasoning: tuple[str, ...] = ()
    finish: str = "stop"
    usage: Usage | None = None
    first_after: float = 0.0
    between: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """A reply of tool calls in parallel, after some text."""

    calls: tuple[Call, ...]
    chunks: tuple[str, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer with an error status; `body` goes out byte for byte."""

    status: int
    body: bytes = b'{"error":{"message":"scripted fault","type":"scripted"}}'
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """These chunks, then silence until released or until the client leaves; once released, the reply ends."""

    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfStream:
    """These chunks, then the connection is dropped."""

    chunks: tuple[str, ...] = ("Half a",)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """These chunks, then a data line that is not JSON."""

    chunks: tuple[str, ...] = ("Fine so far",)
    line: str = '{"id": "chatcmpl-'


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamError:
    """These chunks, then an error object inside the stream."""

    chunks: tuple[str, ...] = ("So far",)
    error: JsonObject = field(default_factory=lambda: {"message": "overloaded", "code": 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlPage:
    """A web page with status 200, as a captive portal or a wrong address sends it."""

    page: str = "<!doctype html><title>Welcome</title><p>Please sign in."


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyReply:
    """A well-formed reply without one character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Exactly these bytes as the response's body, written piece by piece."""

    pieces: tuple[bytes, ...]
    content_type: str = "text/event-stream"
    status: int = 200


Reply = Text | ToolCalls | Fault | Hang | HalfStream | BadLine | StreamError | HtmlPage | EmptyReply | Raw


def say(*chunks: str) -> Text:
    """A plain reply in these chunks."""
    return Text(chunks=chunks)


def call(name: str, arguments: str = "{}", *, call_id: str = "") -> ToolCalls:
    """A reply that is one tool call."""
    return ToolCalls(calls=(Call(name=name, arguments=arguments, call_id=call_id),))


def pieces_of(text: str, count: int) -> tuple[str, ...]:
    """`text` cut into at most `count` pieces of like length; at least one."""
    size = max(1, -(-len(text) // max(1, count)))
    return tuple(text[start : start + size] for start in range(0, len(text), size)) or ("",)
