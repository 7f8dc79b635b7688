"""Replies as pydantic-ai gives them, read as `ModelChunk`s."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic_ai import messages
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse
from pydantic_ai.usage import RequestUsage

from souvenance.ports.chat_model import ModelChunk, ToolCallDelta, Usage

_FINISHES = {"tool_call": "tool_calls"}


def read_event(event: ModelResponseStreamEvent, calls: dict[int, int]) -> ModelChunk | None:
    """What an event adds; `calls` numbers the parts that are tool calls."""
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)) if text:
            return ModelChunk(text=text)
        case messages.PartStartEvent(part=messages.ThinkingPart(content=text)) if text:
            return ModelChunk(reasoning=text)
        case messages.PartStartEvent(index=index, part=messages.ToolCallPart() as part):
            number = calls.setdefault(index, len(calls))
            return _call(number, part.tool_call_id, part.tool_name, part.args)
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)) if text:
            return ModelChunk(text=text)
        case messages.PartDeltaEvent(delta=messages.ThinkingPartDelta(content_delta=str(text))) if text:
            return ModelChunk(reasoning=text)
        case messages.PartDeltaEvent(index=index, delta=messages.ToolCallPartDelta() as delta) if index in calls:
            return _call(calls[index], "", delta.tool_name_delta or "", delta.args_delta)
        case _:
            return None


def _call(number: int, call_id: str, name: str, arguments: str | Mapping[str, object] | None) -> ModelChunk:
    delta = ToolCallDelta(index=number, call_id=call_id, name=name, arguments=_json(arguments))
    return ModelChunk(tool_calls=(delta,))


def _json(arguments: str | Mapping[str, object] | None) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def read_end(stream: StreamedResponse, *, has_calls: bool) -> ModelChunk:
    usual = "tool_calls" if has_calls else "stop"
    finish = stream.finish_reason or usual
    return ModelChunk(finish=_FINISHES.get(finish, finish), usage=_usage(stream.usage))


def read_whole(response: ModelResponse) -> ModelChunk:
    calls = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
    finish = response.finish_reason or ("tool_calls" if calls else "stop")
    return ModelChunk(
        text="".join(part.content for part in response.parts if isinstance(part, messages.TextPart)),
        reasoning="".join(part.content for part in response.parts if isinstance(part, messages.ThinkingPart)),
        tool_calls=tuple(
            ToolCallDelta(index=at, call_id=part.tool_call_id, name=part.tool_name, arguments=_json(part.args))
            for at, part in enumerate(calls)
        ),
        finish=_FINISHES.get(finish, finish),
        usage=_usage(response.usage),
    )


def _usage(usage: RequestUsage) -> Usage | None:
    return Usage(tokens_in=usage.input_tokens, tokens_out=usage.output_tokens) if usage.has_values() else None
