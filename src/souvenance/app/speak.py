"""Ask the model, show what it says as it comes, and run the memory tools it calls (V1, V2).

No transaction is open here. What the model wishes to store is only collected; the turn's last write decides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from souvenance.app.hear_model import hear_model
from souvenance.app.kit import Kit
from souvenance.app.lay_out import tool_name
from souvenance.app.memory_calls import Result, run_call, store_pair, wish_of_call
from souvenance.app.plan_turn import Plan
from souvenance.app.reply import Call, Reply, Round
from souvenance.app.turn import Delta, Noted
from souvenance.domain.ids import OwnerId
from souvenance.domain.journal import Actor
from souvenance.domain.json_object import JsonObject
from souvenance.domain.prompt import Assembled, Called, Piece, Said, ToolCall, assemble, wire_of
from souvenance.domain.text_calls import Call as TextCall
from souvenance.domain.text_calls import Malformed, Shown, TextCallParser
from souvenance.errors import ModelError
from souvenance.ports.chat_model import ChatRequest, ModelChunk


async def speak(kit: Kit, owner_id: OwnerId, plan: Plan, reply: Reply) -> AsyncGenerator[Delta | Noted, None]:
    """The reply as it comes; `reply` grows with it. Close it early and the call upstream ends.

    Raises ModelError; what came before stands in `reply`.
    """
    pieces = plan.layout.pieces
    for number in range(kit.limits.tool_rounds + 1):
        head = _head(plan, last=number == kit.limits.tool_rounds)
        asked = assemble(head, pieces)
        told = Round(asked=asked, estimated_in=_estimate(kit, plan, pieces))
        reply.rounds.append(told)
        listener = _Listener(kit, plan, reply, told)
        async with aclosing(_one_round(kit, owner_id, listener, request_of(head, asked))) as events:
            async for event in events:
                yield event
        if not listener.ours or reply.their_calls:
            return
        reply.finish = "stop"
        pieces = (*pieces, *_tool_traffic(listener.ours, listener.results, told))


async def _one_round(
    kit: Kit, owner_id: OwnerId, listener: _Listener, request: ChatRequest
) -> AsyncGenerator[Delta | Noted, None]:
    """What one request gives to see, and the memory tools that it calls, run."""
    try:
        async with aclosing(hear_model(kit, request)) as chunks:
            async for chunk in chunks:
                for event in listener.hear(chunk):
                    yield event
        for event in listener.end():
            yield event
        await listener.run_calls(owner_id)
    except (ModelError, GeneratorExit, asyncio.CancelledError):
        listener.keep_whole_calls()
        raise
    for result in listener.results:
        if result.note is not None:
            yield result.note


class _Listener:
    """Hears one round: shows text without calls, collects tool calls, hides what is ours from a client."""

    def __init__(self, kit: Kit, plan: Plan, reply: Reply, told: Round) -> None:
        self._kit = kit
        self._plan, self._reply, self._told = plan, reply, told
        self._parser = TextCallParser(kit.limits) if plan.policy.text_calls else None
        self._calls: dict[int, Call] = {}
        self._ended = False
        self.results: list[Result] = []

    @property
    def ours(self) -> list[Call]:
        return [call for _, call in sorted(self._calls.items()) if self._plan.layout.is_ours(call.name)]

    def hear(self, chunk: ModelChunk) -> list[Delta | Noted]:
        self._told.text.append(chunk.text)
        for piece in chunk.tool_calls:
            call = self._calls.setdefault(piece.index, Call())
            call.call_id, call.name = call.call_id or piece.call_id, call.name or piece.name
            call.arguments += piece.arguments
        if chunk.usage is not None:
            self._told.usage = chunk.usage
        text, notes = self._read(chunk)
        hidden = bool(self.ours)
        if chunk.finish is not None:
            self._ended = True
            self._reply.their_calls = len(self._calls) > len(self.ours)
            self._reply.finish = chunk.finish
        if text:
            self._reply.shown.append(text)
            self._told.shown.append(text)
        passed = _without(chunk, self._our_indexes()) if hidden else chunk
        if hidden and not self._reply.their_calls and (chunk.finish is not None or chunk.usage is not None):
            passed = None
        return [*([Delta(text=text, chunk=passed)] if text or passed is not None else []), *notes]

    def end(self) -> list[Delta | Noted]:
        """What was held back by the time a stream ends that never said that it was finished."""
        return [] if self._ended else self.hear(ModelChunk(finish="stop"))

    async def run_calls(self, owner_id: OwnerId) -> None:
        """Run our calls in order; `results` grows with their answers."""
        for call in self.ours:
            result = await run_call(self._kit, owner_id, self._plan, self._reply, call)
            self.results.append(result)

    def keep_whole_calls(self) -> None:
        """When the reply breaks off, what the model had wholly asked for counts with what it had said (T6)."""
        for call in self.ours[len(self.results) :]:
            wish_of_call(self._kit, self._plan, self._reply, call)

    def _our_indexes(self) -> frozenset[int]:
        return frozenset(i for i, call in self._calls.items() if self._plan.layout.is_ours(call.name))

    def _read(self, chunk: ModelChunk) -> tuple[str, list[Noted]]:
        """The text that may be shown now; complete calls in it become wishes."""
        if self._parser is None:
            return chunk.text, []
        events = self._parser.feed(chunk.text)
        if chunk.finish is not None:
            events += self._parser.finish()
        return self._sort(events)

    def _sort(self, events: Sequence[Shown | TextCall | Malformed]) -> tuple[str, list[Noted]]:
        shown, notes = [], []
        for event in events:
            if isinstance(event, Shown):
                shown.append(event.text)
            elif isinstance(event, TextCall):
                self._reply.wishes.append((store_pair(self._kit, self._plan, event.key, event.value), Actor.TEXT_CALL))
            else:
                notes.append(Noted(kind="malformed_call", text=f"Not stored: {event.reason}"))
        return "".join(shown), notes


def _head(plan: Plan, *, last: bool) -> JsonObject:
    """The request's fields; in the last round without our tools, so that the model must speak."""
    head = dict(plan.layout.head)
    if last and plan.layout.our_tools:
        theirs = [tool for tool in head.pop("tools", []) if tool_name(tool) not in plan.layout.our_tools]
        if theirs:
            head["tools"] = theirs
    return head


def request_of(head: JsonObject, asked: Assembled) -> ChatRequest:
    """The request that these fields and messages make."""
    other = {name: value for name, value in head.items() if name not in {"model", "tools", "stream"}}
    return ChatRequest(
        model=str(head["model"]),
        messages=asked.messages,
        tools=tuple(head.get("tools", ())),
        fields=other,
        stream=bool(head["stream"]),
        body=asked.body,
    )


def _estimate(kit: Kit, plan: Plan, pieces: Sequence[Piece]) -> int:
    added = pieces[len(plan.layout.pieces) :]
    told = sum(kit.tokenizer.count(json.dumps(wire_of(piece), ensure_ascii=False)) for piece in added)
    return sum(plan.layout.layers.values()) + told


def _tool_traffic(calls: Sequence[Call], results: Sequence[Result], told: Round) -> list[Piece]:
    """What the next round must see: the calls as the model made them, and their answers."""
    made = tuple(
        ToolCall(call_id=call.call_id, name=call.name, arguments=call.arguments, memory_id=result.memory_id)
        for call, result in zip(calls, results, strict=True)
    )
    answered = [
        Said(layer="tools", fields={"role": "tool", "tool_call_id": call.call_id}, runs=result.answer)
        for call, result in zip(calls, results, strict=True)
    ]
    return [Called(layer="tools", text="".join(told.shown), calls=made), *answered]


def _without(chunk: ModelChunk, ours: frozenset[int]) -> ModelChunk | None:
    """The chunk without our tool calls, None when nothing else is in it."""
    left = tuple(piece for piece in chunk.tool_calls if piece.index not in ours)
    if not (chunk.text or chunk.reasoning or left or chunk.finish or chunk.usage):
        return None
    wire = None if chunk.wire is None else _wire_without(chunk.wire, ours)
    return ModelChunk(
        text=chunk.text, reasoning=chunk.reasoning, tool_calls=left, finish=chunk.finish, usage=chunk.usage, wire=wire
    )


def _wire_without(wire: JsonObject, ours: frozenset[int]) -> JsonObject:
    choices: list[Any] = []
    for choice in wire.get("choices", ()):
        part = "delta" if "delta" in choice else "message"
        told = dict(choice.get(part) or {})
        calls = [c for n, c in enumerate(told.pop("tool_calls", None) or ()) if c.get("index", n) not in ours]
        if calls:
            told["tool_calls"] = calls
        choices.append({**choice, part: told})
    return {**wire, "choices": choices}
