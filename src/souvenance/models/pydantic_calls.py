"""Calls through pydantic-ai's direct interface: a request of ours in, chunks and errors of ours out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TypedDict

from pydantic_ai import direct, exceptions
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings

from souvenance.errors import BadValue, ModelBroken, ModelError, ModelRefused, ModelTimedOut, ModelUnreachable
from souvenance.models.openai_wire import HALF_A_STREAM
from souvenance.models.pydantic_chunks import read_end, read_event, read_whole
from souvenance.models.pydantic_messages import messages_of, parameters_of, settings_of
from souvenance.ports.chat_model import ChatRequest, ModelChunk


async def whole(model: Model, request: ChatRequest, idle_seconds: float) -> AsyncGenerator[ModelChunk, None]:
    """The reply in one chunk."""
    arguments = _arguments(model, request, idle_seconds)
    with _as_model_errors(request.model, idle_seconds):
        async with asyncio.timeout(idle_seconds):
            response = await direct.model_request(model, **arguments)
        yield read_whole(response)


async def streamed(model: Model, request: ChatRequest, idle_seconds: float) -> AsyncGenerator[ModelChunk, None]:
    """The reply as it comes; each wait for the next event is bounded by `idle_seconds`."""
    arguments = _arguments(model, request, idle_seconds)
    with _as_model_errors(request.model, idle_seconds):
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(idle_seconds):
                stream = await stack.enter_async_context(direct.model_request_stream(model, **arguments))
            events = aiter(stream)
            calls: dict[int, int] = {}
            while True:
                async with asyncio.timeout(idle_seconds):
                    event = await anext(events, None)
                if event is None:
                    break
                chunk = read_event(event, calls)
                if chunk is not None:
                    yield chunk
            if _is_half(stream):
                raise ModelBroken(request.model, problem=HALF_A_STREAM)
            yield read_end(stream, has_calls=bool(calls))


def _is_half(stream: StreamedResponse) -> bool:
    """Whether a real provider's stream ended without a reason; pydantic-ai takes such an end for a good one."""
    told = stream.finish_reason or (stream.provider_details or {}).get("finish_reason")
    return stream.provider_name is not None and told is None


class _Arguments(TypedDict):
    messages: list[ModelMessage]
    model_settings: ModelSettings
    model_request_parameters: ModelRequestParameters


def _arguments(model: Model, request: ChatRequest, idle_seconds: float) -> _Arguments:
    """Raises BadValue for messages or tools that are not of the chat form.

    The history is prepared for the model as an agent's would be: else a system message in the middle would be moved to
    the front, where it changes the cached prefix (C6).
    """
    try:
        parameters = parameters_of(request.tools)
        return _Arguments(
            messages=model.prepare_messages(messages_of(request.messages), parameters),
            model_settings=settings_of(request.fields, idle_seconds=idle_seconds),
            model_request_parameters=parameters,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadValue("messages", value=error, expected="messages and tools of the OpenAI chat form") from error


@contextmanager
def _as_model_errors(model: str, idle_seconds: float) -> Iterator[None]:
    """What pydantic-ai raises inside comes out as the error of ours that says the same."""
    try:
        yield
    except TimeoutError as error:
        raise ModelTimedOut(model, seconds=idle_seconds) from error
    except exceptions.AgentRunError as error:
        raise _translated(model, error, idle_seconds) from error


def _translated(model: str, error: exceptions.AgentRunError, idle_seconds: float) -> ModelError:
    match error:
        case exceptions.ModelHTTPError(status_code=status, body=body):
            return ModelRefused(model, status=status, body=json.dumps(body, default=str).encode())
        case exceptions.ModelTimeoutError() | exceptions.ModelRequestTimeout():
            return ModelTimedOut(model, seconds=idle_seconds)
        case exceptions.ModelConnectionError(phase="read"):
            return ModelBroken(model, problem=f"half a stream: {error.message}")
        case exceptions.ModelConnectionError():
            return ModelUnreachable(model, reason=error.message)
        case exceptions.ModelAPIError(body=body):
            return ModelRefused(model, status=502, body=json.dumps(body, default=str).encode())
        case _:
            return ModelBroken(model, problem=f"what pydantic-ai cannot read: {error.message}")
