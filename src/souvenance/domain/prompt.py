"""A request as it is sent: messages in the order that prefix caches like, in parts that can be read back (C1, C6).

What changes seldom stands first, the newest user message last. The body's bytes are the concatenation of the parts; a
memory's line and a message are parts of their own, so that an erasure blanks exactly them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from souvenance.domain.ids import MemoryId, MessageId
from souvenance.domain.json_object import JsonObject
from souvenance.domain.sent import Part

Wire = JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of a message's text; one that is a memory's or a message's own words names it."""

    text: str
    memory_id: MemoryId | None = None
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of a request: `fields` and the text of `runs`, after `before` (content that a client sent)."""

    layer: str
    fields: Wire
    runs: tuple[Run, ...]
    before: str | Sequence[Wire] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AsSent:
    """One message exactly as the client sent it."""

    layer: str
    wire: Wire
    message_id: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a memory tool as the model made it; `memory_id` is the memory whose words its arguments may hold."""

    call_id: str
    name: str
    arguments: str
    memory_id: MemoryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """An assistant's message of tool calls, after `text` if it said any."""

    layer: str
    text: str
    calls: tuple[ToolCall, ...]


Piece = Said | AsSent | Called


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A whole request: `body` is what goes over the wire, `parts` the same bytes in parts."""

    messages: tuple[Wire, ...]
    parts: tuple[Part, ...]
    body: bytes = field(repr=False)


def assemble(head: Wire, pieces: Iterable[Piece]) -> Assembled:
    """The request of `head` (every field but the messages, in this order) and `pieces`; same input, same bytes."""
    opened = _json(dict(head))[:-1]
    parts = [Part(data=opened + (b"," if len(opened) > 1 else b"") + b'"messages":[')]
    messages: list[Wire] = []
    for piece in pieces:
        if messages:
            parts.append(Part(data=b","))
        parts.extend(_parts(piece))
        messages.append(wire_of(piece))
    parts.append(Part(data=b"]}"))
    joined = _joined(parts)
    return Assembled(messages=tuple(messages), parts=joined, body=b"".join(p.data for p in joined))


def wire_of(piece: Piece) -> Wire:
    """The piece as the message that is sent."""
    match piece:
        case AsSent(wire=wire):
            return wire
        case Called(text=text, calls=calls):
            return {"role": "assistant", "content": text or None, "tool_calls": [_call_wire(call) for call in calls]}
        case Said():
            return _said_wire(piece)
        case _:
            assert_never(piece)


def _said_wire(said: Said) -> Wire:
    text = "".join(run.text for run in said.runs)
    if isinstance(said.before, str):
        return {**said.fields, "content": said.before + text}
    return {**said.fields, "content": [*said.before, {"type": "text", "text": text}]}


def _call_wire(call: ToolCall) -> Wire:
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _parts(piece: Piece) -> list[Part]:
    match piece:
        case AsSent(wire=wire, message_id=message_id):
            return [Part(data=_json(wire), message_id=message_id)]
        case Called():
            return _called_parts(piece)
        case Said():
            return _said_parts(piece)
        case _:
            assert_never(piece)


def _called_parts(piece: Called) -> list[Part]:
    """The arguments of each call are a part of their own, so that what a memory says can be blanked in them (M14)."""
    parts = [Part(data=b'{"role":"assistant","content":' + _json(piece.text or None) + b',"tool_calls":[')]
    for number, call in enumerate(piece.calls):
        opened, closed = _json(_call_wire(replace(call, arguments=""))).rsplit(b'""', 1)
        parts += [
            Part(data=(b"," if number else b"") + opened + b'"'),
            Part(data=_escaped(call.arguments), memory_id=call.memory_id),
            Part(data=b'"' + closed),
        ]
    return [*parts, Part(data=b"]}")]


def _said_parts(piece: Said) -> list[Part]:
    opened = _json(dict(piece.fields))[:-1] + b',"content":'
    if isinstance(piece.before, str):
        start, end = opened + b'"' + _escaped(piece.before), b'"}'
    else:
        listed = b"".join(_json(part) + b"," for part in piece.before)
        start, end = opened + b"[" + listed + b'{"type":"text","text":"', b'"}]}'
    runs = [Part(data=_escaped(run.text), memory_id=run.memory_id, message_id=run.message_id) for run in piece.runs]
    return [Part(data=start), *runs, Part(data=end)]


def _joined(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Neighbouring parts that hold nobody's words become one."""
    joined: list[Part] = []
    for part in parts:
        if joined and _plain(part) and _plain(joined[-1]):
            joined[-1] = Part(data=joined[-1].data + part.data)
        elif part.data:
            joined.append(part)
    return tuple(joined)


def _plain(part: Part) -> bool:
    return part.memory_id is None and part.message_id is None


# Made once: `json.dumps` would make one for each of the hundreds of parts of a request.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _json(value: object) -> bytes:
    try:
        return _ENCODE(value).encode("utf-8")
    except UnicodeEncodeError:
        # A client may send half a surrogate pair as an escape; as an escape it goes on.
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _escaped(text: str) -> bytes:
    return _json(text)[1:-1]
