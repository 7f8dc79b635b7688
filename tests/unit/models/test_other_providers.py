from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest
from pydantic_ai import exceptions
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel, FunctionStreamedResponse

from souvenance.errors import (
    BadValue,
    ModelBroken,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnreachable,
    UnknownModel,
)
from souvenance.models.other_providers import OtherProvider
from souvenance.models.pydantic_messages import messages_of, parameters_of, settings_of
from souvenance.ports.chat_model import ChatRequest, ModelChunk
from tests.conformance.chat_models import chat_request

Stream = Callable[[list[ModelMessage], AgentInfo], AsyncIterator[str | dict[int, DeltaToolCall]]]


async def answer(stream: Stream, request: ChatRequest | None = None, *, idle: float = 5.0) -> list[ModelChunk]:
    other = OtherProvider("testing", instance=FunctionModel(stream_function=stream), idle_seconds=idle)
    async with aclosing(other.reply(request or chat_request())) as chunks:
        return [chunk async for chunk in chunks]


def failing_with(error: Exception, *, after: str = "") -> Stream:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        if after:
            yield after
        raise error

    return stream


def shape(message: ModelMessage) -> list[tuple[type, Any]]:
    return [(type(part), getattr(part, "content", None)) for part in message.parts]


def test_the_chat_form_becomes_requests_and_responses_in_turn() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "remember", "arguments": '{"text":"tea"}'}}
    history = messages_of(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "saved"},
            {"role": "user", "content": "Thanks"},
        ]
    )
    first, said, last = history
    assert isinstance(first, ModelRequest)
    assert shape(first) == [(SystemPromptPart, "Be brief."), (UserPromptPart, "Hi")]
    assert isinstance(said, ModelResponse)
    assert said.parts == [TextPart("Hello"), ToolCallPart("remember", '{"text":"tea"}', "c1")]
    assert shape(last) == [(ToolReturnPart, "saved"), (UserPromptPart, "Thanks")]
    assert isinstance(last.parts[0], ToolReturnPart)
    assert last.parts[0].tool_name == "remember"


def test_pictures_stand_where_they_stood_between_words() -> None:
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
    ]
    (message,) = messages_of([{"role": "user", "content": parts}])
    ((_, content),) = shape(message)
    text, picture, link = content
    assert (text, link) == ("Look:", ImageUrl("https://example.org/cat.png"))
    assert isinstance(picture, BinaryContent)
    assert (picture.data, picture.media_type) == (b"\0\0\0", "image/png")


def test_tools_and_settings_are_those_of_the_request() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "remember", "description": "Saves", "parameters": schema}}
    (definition,) = parameters_of([tool]).function_tools
    assert (definition.name, definition.description, definition.parameters_json_schema) == ("remember", "Saves", schema)
    fields = {"temperature": 0, "max_completion_tokens": 9, "stop": "END", "tool_choice": "auto", "x_odd": 1}
    assert settings_of(fields, idle_seconds=7) == {
        "timeout": 7,
        "temperature": 0,
        "max_tokens": 9,
        "stop_sequences": ["END"],
        "tool_choice": "auto",
    }


def test_a_choice_of_one_tool_names_it() -> None:
    choice = {"type": "function", "function": {"name": "remember"}}
    assert settings_of({"tool_choice": choice}, idle_seconds=1)["tool_choice"] == ["remember"]


async def test_the_model_is_shown_the_whole_history() -> None:
    seen: list[ModelMessage] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        seen.extend(messages)
        yield "ok"

    await answer(stream)
    assert [shape(message) for message in seen] == [[(SystemPromptPart, "Be brief."), (UserPromptPart, "hello")]]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (exceptions.ModelHTTPError(529, "m", {"error": "overloaded"}), ModelRefused),
        (exceptions.ModelTimeoutError("m", "slow"), ModelTimedOut),
        (exceptions.ModelRequestTimeout("m", 5), ModelTimedOut),
        (exceptions.ModelConnectionError("m", "refused", phase="connect"), ModelUnreachable),
        (exceptions.ModelConnectionError("m", "reset", phase="read"), ModelBroken),
        (exceptions.ModelAPIError("m", "odd", body={"a": 1}), ModelRefused),
        (exceptions.UnexpectedModelBehavior("odd"), ModelBroken),
    ],
)
async def test_what_the_library_raises_becomes_one_of_our_errors(raised: Exception, expected: type[ModelError]) -> None:
    with pytest.raises(expected) as caught:
        await answer(failing_with(raised, after="So"))
    assert caught.value.__cause__ is raised


async def test_silence_past_the_limit_is_a_time_out() -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "Well"
        await asyncio.Event().wait()

    with pytest.raises(ModelTimedOut):
        await answer(stream, idle=0.05)


async def test_a_providers_stream_that_ends_without_a_reason_is_half_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "Once"

    monkeypatch.setattr(FunctionStreamedResponse, "provider_name", "anthropic")
    with pytest.raises(ModelBroken, match="half a stream"):
        await answer(stream)


async def test_a_system_message_in_the_middle_stays_there() -> None:
    seen: list[ModelMessage] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        seen.extend(messages)
        yield "ok"

    said = [("system", "Be brief."), ("user", "a"), ("assistant", "b"), ("system", "since then"), ("user", "c")]
    messages = tuple({"role": role, "content": text} for role, text in said)
    await answer(stream, ChatRequest(model="m", messages=messages))
    assert "since then" not in str(seen[0])
    assert "since then" in str(seen[2])


async def test_messages_of_another_form_are_the_callers_fault() -> None:
    request = ChatRequest(model="m", messages=({"role": "assistant", "tool_calls": [{"id": "c"}]},))
    with pytest.raises(BadValue, match="messages"):
        await answer(failing_with(AssertionError()), request)


async def test_a_provider_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.anthropic", raising=False)
    other = OtherProvider("anthropic", api_key="sk-1")
    with pytest.raises(ModelUnreachable, match=r"souvenance\[anthropic\]"):
        await anext(other.reply(chat_request()))
    assert "sk-1" not in repr(other)


async def test_a_provider_that_nobody_knows_is_unknown() -> None:
    with pytest.raises(UnknownModel):
        await anext(OtherProvider("no-such-provider").reply(chat_request()))


async def test_known_models_of_a_provider_are_listed_in_a_steady_order() -> None:
    names = [info.name for info in await OtherProvider("anthropic").models()]
    assert names == sorted(names)
    assert any(name.startswith("claude") for name in names)


async def test_a_model_that_no_table_knows_is_unknown() -> None:
    other = OtherProvider("openai")  # the one provider whose library the tests have
    assert (await other.info("gpt-4o")).context == 128_000
    for name in ("nobody", "gpt-4o@alice"):
        with pytest.raises(UnknownModel):
            await other.info(name)


def test_pydantic_ai_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, souvenance.models.upstreams; sys.exit('pydantic_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
