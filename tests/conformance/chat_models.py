"""The three chat models behind one handle, so that one suite can ask the same of each."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel

from souvenance.models.openai_wire import OpenAIWire
from souvenance.models.other_providers import OtherProvider
from souvenance.ports.chat_model import ChatModel, ChatRequest, ModelInfo
from souvenance.testing import EmptyReply, Fault, Hang, Reply, ScriptedModel, ScriptedUpstream, Text, ToolCalls

Delta = str | dict[int, DeltaThinkingPart] | dict[int, DeltaToolCall]


def chat_request(*, stream: bool = True, text: str = "hello", **fields: Any) -> ChatRequest:
    """A request as the prompt assembly makes it: the body ends with the messages."""
    messages = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": text})
    head = {"model": "scripted", "stream": stream, "stream_options": {"include_usage": True}, **fields}
    body = json.dumps({**head, "messages": messages}, ensure_ascii=False).encode()
    return ChatRequest(model="scripted", messages=messages, fields=fields, stream=stream, body=body)


class Subject(Protocol):
    """A model under test, and what its other end sees."""

    model: ChatModel

    def script(self, *replies: Reply) -> None: ...

    async def speaking(self) -> None:
        """Returns once the other end hangs in a reply."""

    async def hung_up(self) -> None:
        """Returns once the other end has noticed that its caller left."""


class OverHttp:
    """OpenAIWire against the scripted upstream."""

    def __init__(self, upstream: ScriptedUpstream) -> None:
        self._upstream = upstream
        self.wire = OpenAIWire(upstream.url, api_key="sk-test", provider="testing")
        self.model: ChatModel = self.wire

    def script(self, *replies: Reply) -> None:
        self._upstream.script(*replies)

    async def speaking(self) -> None:
        await self._upstream.arrived(1)

    async def hung_up(self) -> None:
        await self._upstream.left(1)


class InProcess:
    """The shipped double itself."""

    def __init__(self) -> None:
        self._scripted = ScriptedModel()
        self.model: ChatModel = self._scripted

    def script(self, *replies: Reply) -> None:
        self._scripted.script(*replies)

    async def speaking(self) -> None:
        await self._scripted.hanging.wait()

    async def hung_up(self) -> None:
        assert self._scripted.cancelled == 1


@dataclass
class ThroughPydanticAI:
    """OtherProvider over pydantic-ai's FunctionModel."""

    replies: deque[Reply] = field(default_factory=deque)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        told = (ModelInfo(name="scripted", provider="testing", context=8_000),)
        instance = FunctionModel(self._whole, stream_function=self._stream)
        self.model: ChatModel = OtherProvider("testing", instance=instance, models=told)

    def script(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    async def speaking(self) -> None:
        await self.hanging.wait()

    async def hung_up(self) -> None:
        await self.ended.wait()

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Delta]:
        reply = self.replies.popleft()
        if isinstance(reply, Fault):
            raise ModelHTTPError(reply.status, "scripted", json.loads(reply.body))
        try:
            for delta in _deltas(reply):
                yield delta
            if isinstance(reply, Hang):
                self.hanging.set()
                await asyncio.Event().wait()
        finally:
            self.ended.set()

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = self.replies.popleft()
        if isinstance(reply, Fault):
            raise ModelHTTPError(reply.status, "scripted", json.loads(reply.body))
        text = "".join(getattr(reply, "chunks", ()))
        thoughts = "".join(getattr(reply, "reasoning", ()))
        calls = [ToolCallPart(call.name, call.arguments, call.call_id) for call in getattr(reply, "calls", ())]
        return ModelResponse(parts=[ThinkingPart(thoughts), TextPart(text), *calls])


def _deltas(reply: Reply) -> list[Delta]:
    match reply:
        case Text():
            thoughts: list[Delta] = [{0: DeltaThinkingPart(content=text)} for text in reply.reasoning]
            return [*thoughts, *reply.chunks]
        case ToolCalls():
            return [
                {at: DeltaToolCall(name=call.name, json_args=call.arguments, tool_call_id=call.call_id)}
                for at, call in enumerate(reply.calls, start=1)
            ]
        case Hang():
            return list(reply.after)
        case EmptyReply():
            return [""]
        case _:
            raise AssertionError(f"a function model cannot play {reply!r}")
