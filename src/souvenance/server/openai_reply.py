"""Write a turn's events in the OpenAI form: as chunks of a stream, or as one response object.

What an upstream of that form sent goes on as it came, unknown fields included; only its text is replaced by what the
person sees (text calls are out of it), and `id`, `created` and `model` are the same in every chunk, `model` as the
client asked. The chunk that ends the reply, and the usage, are held back until the reply is stored (T6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from souvenance.app.turn import Delta, Done, Noted, Opened, Speaking, TurnEvent
from souvenance.domain.json_object import JsonObject
from souvenance.errors import SouvenanceError
from souvenance.ports.chat_model import ModelChunk, ToolCallDelta
from souvenance.server.event_line import data_event
from souvenance.server.openai_request import NOT_REMEMBERED
from souvenance.server.problems import openai_stream_error

CONVERSATION = "X-Souvenance-Conversation"
MEMORY = "X-Souvenance-Memory"
DROPPED = "X-Souvenance-Dropped"
END = data_event("[DONE]")
# How a turn may end that the OpenAI form has no word for.
_FINISHES = {"command": "stop", "cut_off": "length"}


def headers_of(first: TurnEvent, ref: str) -> dict[str, str]:
    """Which conversation answered: the client's own name for it, else its id; and whether memory was there. Of a
    temporary chat, how many messages were dropped (O4).
    """
    if not isinstance(first, Opened):
        return {}
    if first.dropped is not None:
        return {DROPPED: str(first.dropped)}
    if first.conversation is None:
        return {MEMORY: "unavailable"}
    return {CONVERSATION: ref or first.conversation.conversation_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every piece of a reply repeats; an upstream's own `reply_id` wins. `created` is in Unix seconds."""

    reply_id: str
    created: int
    model: str


class OpenAIVoice:
    """The chunks of one streamed reply."""

    def __init__(self, frame: Frame, *, wants_usage: bool, ref: str = "") -> None:
        self.frame = frame
        self._id = ""
        self._wants_usage = wants_usage
        self._ref = ref
        self._spoke = False
        self._finish: JsonObject | None = None
        self._usages: list[JsonObject] = []

    def headers(self, first: TurnEvent) -> Mapping[str, str]:
        return headers_of(first, self._ref)

    def say(self, event: TurnEvent) -> Iterator[bytes]:
        match event:
            case Opened() | Noted() | Speaking():
                return
            case Delta(text=text, chunk=chunk):
                yield from self._delta(text, chunk)
            case Done():
                yield from self._ended(event)
            case _:
                assert_never(event)

    def trouble(self, error: SouvenanceError) -> bytes:
        return data_event(openai_stream_error(error))

    def _delta(self, text: str, chunk: ModelChunk | None) -> Iterator[bytes]:
        wire = (chunk.wire or _wire_of(chunk)) if chunk is not None else _own(text)
        choice = first_choice(wire)
        if choice is None:
            yield from self._without_choice(wire)
            return
        delta = _shown(_object(choice.get("delta")), text)
        if self._spoke:
            delta.pop("role", None)
        if choice.get("finish_reason"):
            self._finish = {**wire, "choices": [{**choice, "delta": {}}]}
        if any(delta.values()):
            yield self._piece(wire, {**choice, "delta": delta, "finish_reason": None})

    def _without_choice(self, wire: JsonObject) -> Iterator[bytes]:
        if wire.get("usage"):
            self._usages.append(wire)
        else:
            yield self._piece(wire, None)

    def _piece(self, wire: JsonObject, choice: JsonObject | None) -> bytes:
        if choice is not None and not self._spoke:
            delta = {"role": "assistant", **_object(choice.get("delta"))}
            choice = {**choice, "delta": delta}
            self._spoke = True
        kept = {name: value for name, value in wire.items() if name != "usage" or self._wants_usage}
        self._id = self._id or str(wire.get("id") or self.frame.reply_id)
        head = {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self.frame.created,
            "model": self.frame.model,
        }
        return data_event({**head, **kept, **head, "choices": [] if choice is None else [choice]})

    def _ended(self, done: Done) -> Iterator[bytes]:
        if _is_forgotten(done):
            yield from self._delta(NOT_REMEMBERED, None)
        wire = self._finish or _own("")
        choice = first_choice(wire) or {}
        finish = choice.get("finish_reason") or _FINISHES.get(done.finish, done.finish)
        yield self._piece(wire, {**choice, "delta": {}, "finish_reason": finish})
        if self._wants_usage:
            yield self._piece(self._usage(done), None)
        yield END

    def _usage(self, done: Done) -> JsonObject:
        usages = [usage for usage in self._usages if _says_it_all(usage, done)]
        return usages[-1] if usages else {"usage": usage_of(done)}


def whole(events: Sequence[TurnEvent], frame: Frame) -> dict[str, object]:
    """The one response object of a request that does not stream."""
    done = next(event for event in events if isinstance(event, Done))
    chunks = [event.chunk for event in events if isinstance(event, Delta) and event.chunk is not None]
    wires = [chunk.wire for chunk in chunks if chunk.wire is not None and first_choice(chunk.wire) is not None]
    wire: JsonObject = wires[-1] if wires else {}
    choice = first_choice(wire) or {"index": 0, "logprobs": None}
    finish = choice.get("finish_reason") or _FINISHES.get(done.finish, done.finish)
    text = visible(events) + (NOT_REMEMBERED if _is_forgotten(done) else "")
    message = _message(_object(choice.get("message")), chunks, text)
    usage = wire["usage"] if _says_it_all(wire, done) else usage_of(done)
    return {
        **wire,
        "id": wire.get("id") or frame.reply_id,
        "object": "chat.completion",
        "created": wire.get("created") or frame.created,
        "model": frame.model,
        "choices": [{**choice, "message": message, "finish_reason": finish}],
        "usage": usage,
    }


def visible(events: Sequence[TurnEvent]) -> str:
    """The reply as a person sees it."""
    return "".join(event.text for event in events if isinstance(event, Delta))


def _is_forgotten(done: Done) -> bool:
    """Whether a person must be told that memory had no part in this reply (T6); a client's tool call stays as it is."""
    return done.memory_unavailable and done.finish != "tool_calls"


def usage_of(done: Done) -> dict[str, int]:
    total = done.tokens_in + done.tokens_out
    return {"prompt_tokens": done.tokens_in, "completion_tokens": done.tokens_out, "total_tokens": total}


def _says_it_all(wire: JsonObject, done: Done) -> bool:
    """Whether the upstream's usage is that of the whole turn; not so when memory tools took requests of their own."""
    usage = _object(wire.get("usage"))
    reported = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    counted = (done.tokens_in, done.tokens_out)
    return bool(usage) and counted in (reported, (0, 0))


def first_choice(wire: JsonObject) -> JsonObject | None:
    """The choice that is the reply, of an object that has any."""
    choices = wire.get("choices")
    objects = [choice for choice in choices if isinstance(choice, Mapping)] if isinstance(choices, list) else []
    return next((choice for choice in objects if choice.get("index", 0) == 0), None)


def _own(text: str) -> JsonObject:
    """A chunk that no upstream sent: a recall reply, a stored one said again, text that was held back."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def _wire_of(chunk: ModelChunk) -> JsonObject:
    """A chunk of a provider with another wire form, in this one."""
    delta: dict[str, Any] = {"content": chunk.text}
    if chunk.reasoning:
        delta["reasoning_content"] = chunk.reasoning
    if chunk.tool_calls:
        delta["tool_calls"] = [_call(call) for call in chunk.tool_calls]
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": chunk.finish}]}


def _call(call: ToolCallDelta) -> dict[str, object]:
    """The first piece of a call has its id and name; the later ones only more arguments."""
    function = {"name": call.name, "arguments": call.arguments} if call.name else {"arguments": call.arguments}
    named = {"id": call.call_id, "type": "function"} if call.call_id else {}
    return {"index": call.index, **named, "function": function}


def _shown(delta: JsonObject, text: str) -> dict[str, Any]:
    """A delta that says `text`. A refusal is text in a field of its own and stays there."""
    if delta.get("refusal") and not delta.get("content"):
        return dict(delta)
    shown = {name: value for name, value in delta.items() if name != "content"}
    return {**shown, "content": text} if text or "content" in delta else shown


def _message(said: JsonObject, chunks: Sequence[ModelChunk], text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", **said, "content": text}
    if said.get("refusal") and not said.get("content"):
        message["content"] = None
    if not said:
        calls = [_whole_call(call) for chunk in chunks for call in chunk.tool_calls]
        reasoning = "".join(chunk.reasoning for chunk in chunks)
        message |= {"tool_calls": calls} if calls else {}
        message |= {"reasoning_content": reasoning} if reasoning else {}
    if message.get("tool_calls") and not text:
        message["content"] = None
    return message


def _whole_call(call: ToolCallDelta) -> dict[str, object]:
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _object(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
