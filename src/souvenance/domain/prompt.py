"""A request as it is sent: messages in the order that prefix caches like, in parts that can be read back (C1, C6).

What changes seldom stands first, the newest user message last. The body's bytes are the concatenation of the parts; a
memory's line, a message and a summary node are parts of their own, so that an erasure blanks exactly them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from json.encoder import encode_basestring
from typing import assert_never

from souvenance.domain.ids import MemoryId, MessageId, NodeId
from souvenance.domain.json_object import JsonObject
from souvenance.domain.sent import Part

Wire = JsonObject


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of a message's text; one that is a memory's, a message's or a node's own words names it.

    `layer` is what its tokens count as, "" for what its piece does.
    """

    text: str
    memory_id: MemoryId | None = None
    message_id: MessageId | None = None
    node_id: NodeId | None = None
    layer: str = ""

    @cached_property
    def part(self) -> Part:
        """The run as it is written; kept with it, since a memory's line stands in one prompt after another."""
        return Part(
            data=_escaped(self.text), memory_id=self.memory_id, message_id=self.message_id, node_id=self.node_id
        )


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
    parts = _Parts()
    parts.frame(opened + (b"," if len(opened) > 1 else b"") + b'"messages":[')
    messages: list[Wire] = []
    for piece in pieces:
        if messages:
            parts.frame(b",")
        _write(piece, parts)
        messages.append(wire_of(piece))
    parts.frame(b"]}")
    joined = parts.joined()
    return Assembled(messages=tuple(messages), parts=joined, body=b"".join([part.data for part in joined]))


class _Parts:
    """Parts in the making: neighbouring bytes that are nobody's words become one part."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._nobodys: list[bytes] = []
        self.frame = self._nobodys.append

    def add(self, part: Part) -> None:
        if part.memory_id is None and part.message_id is None and part.node_id is None:
            self.frame(part.data)
        elif part.data:
            if self._nobodys:
                self._flush()
            self._parts.append(part)

    def joined(self) -> tuple[Part, ...]:
        self._flush()
        return tuple(self._parts)

    def _flush(self) -> None:
        if data := b"".join(self._nobodys):
            self._parts.append(Part(data=data))
        self._nobodys.clear()


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
    text = "".join([run.text for run in said.runs])
    if isinstance(said.before, str):
        return {**said.fields, "content": said.before + text}
    return {**said.fields, "content": [*said.before, {"type": "text", "text": text}]}


def _call_wire(call: ToolCall) -> Wire:
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _write(piece: Piece, parts: _Parts) -> None:
    match piece:
        case AsSent(wire=wire, message_id=message_id):
            parts.add(Part(data=_json(wire), message_id=message_id))
        case Called():
            _write_called(piece, parts)
        case Said():
            _write_said(piece, parts)
        case _:
            assert_never(piece)


def _write_called(piece: Called, parts: _Parts) -> None:
    """The arguments of each call are a part of their own, so that what a memory says can be blanked in them (M14)."""
    parts.frame(b'{"role":"assistant","content":' + _json(piece.text or None) + b',"tool_calls":[')
    for number, call in enumerate(piece.calls):
        opened, closed = _json(_call_wire(replace(call, arguments=""))).rsplit(b'""', 1)
        parts.frame((b"," if number else b"") + opened + b'"')
        parts.add(Part(data=_escaped(call.arguments), memory_id=call.memory_id))
        parts.frame(b'"' + closed)
    parts.frame(b"]}")


def _write_said(piece: Said, parts: _Parts) -> None:
    role = piece.fields.get("role")
    alone = _BARE.get(role) if isinstance(role, str) and len(piece.fields) == 1 else None
    parts.frame(alone or _json(dict(piece.fields))[:-1] + b',"content":')
    if isinstance(piece.before, str):
        parts.frame(b'"' + _escaped(piece.before))
        end = b'"}'
    else:
        listed = b"".join(_json(part) + b"," for part in piece.before)
        parts.frame(b"[" + listed + b'{"type":"text","text":"')
        end = b'"}]}'
    for run in piece.runs:
        parts.add(run.part)
    parts.frame(end)


# Made once: `json.dumps` would make one for each of the hundreds of parts of a request.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


_BARE = {role: f'{{"role":"{role}","content":'.encode() for role in ("system", "user", "assistant")}
"""How most messages of a request begin."""


def _json(value: object) -> bytes:
    try:
        return _ENCODE(value).encode("utf-8")
    except UnicodeEncodeError:
        # A client may send half a surrogate pair as an escape; as an escape it goes on.
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def _escaped(text: str) -> bytes:
    """A text as it stands between the quotes of a JSON string."""
    try:
        return encode_basestring(text)[1:-1].encode("utf-8")
    except UnicodeEncodeError:
        return _json(text)[1:-1]
