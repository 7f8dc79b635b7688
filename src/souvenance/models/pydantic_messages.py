"""Requests in the OpenAI chat form, written as pydantic-ai writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings, ToolChoice
from pydantic_ai.tools import ToolDefinition

from souvenance.domain.json_object import JsonObject

# OpenAI's field: pydantic-ai's setting, where the value is the same.
_SAME = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "logit_bias": "logit_bias",
    "parallel_tool_calls": "parallel_tool_calls",
}


def messages_of(messages: Sequence[JsonObject]) -> list[ModelMessage]:
    """The history; messages of one side in a row become one message, as the other wire forms want it."""
    names: dict[str, str] = {}
    history: list[ModelMessage] = []
    for message in messages:
        if message.get("role") == "assistant":
            parts = list(_assistant_parts(message, names))
            if parts:
                history.append(ModelResponse(parts=parts))
            continue
        asked = _request_part(message, names)
        if history and isinstance(history[-1], ModelRequest):
            history[-1] = ModelRequest(parts=[*history[-1].parts, asked])
        else:
            history.append(ModelRequest(parts=[asked]))
    return history


def parameters_of(tools: Sequence[JsonObject]) -> ModelRequestParameters:
    """The tools that may be called."""
    functions = [tool["function"] for tool in tools if isinstance(tool.get("function"), Mapping)]
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=function["name"],
                description=function.get("description"),
                parameters_json_schema=function.get("parameters") or {"type": "object", "properties": {}},
                strict=function.get("strict"),
            )
            for function in functions
        ]
    )


def settings_of(fields: JsonObject, *, idle_seconds: float) -> ModelSettings:
    """The settings that the other providers know; fields that only OpenAI has are left out."""
    settings = ModelSettings(timeout=idle_seconds)
    for field, setting in _SAME.items():
        if fields.get(field) is not None:
            settings[setting] = fields[field]  # type: ignore[literal-required]
    stop = fields.get("stop")
    if stop:
        settings["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    choice = _tool_choice(fields.get("tool_choice"))
    if choice is not None:
        settings["tool_choice"] = choice
    return settings


def _tool_choice(choice: object) -> ToolChoice:
    if choice in ("auto", "none", "required"):
        return choice
    function = choice.get("function") if isinstance(choice, Mapping) else None
    return [str(function["name"])] if isinstance(function, Mapping) and "name" in function else None


def _request_part(message: JsonObject, names: Mapping[str, str]) -> ModelRequestPart:
    content = message.get("content")
    match message.get("role"):
        case "system" | "developer":
            return SystemPromptPart(content=_text(content))
        case "tool":
            call_id = str(message.get("tool_call_id", ""))
            name = names.get(call_id) or str(message.get("name") or "tool")
            return ToolReturnPart(tool_name=name, content=_text(content), tool_call_id=call_id)
        case _:
            return UserPromptPart(content=content if isinstance(content, str) else list(_user_content(content)))


def _assistant_parts(message: JsonObject, names: dict[str, str]) -> Iterator[ModelResponsePart]:
    text = _text(message.get("content"))
    if text:
        yield TextPart(content=text)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        names[call["id"]] = function["name"]
        yield ToolCallPart(tool_name=function["name"], args=function.get("arguments"), tool_call_id=call["id"])


def _user_content(content: object) -> Iterator[UserContent]:
    for part in _parts(content):
        image = part.get("image_url")
        if isinstance(part.get("text"), str):
            yield part["text"]
        elif isinstance(image, Mapping):
            url = str(image["url"])
            yield BinaryContent.from_data_uri(url) if url.startswith("data:") else ImageUrl(url=url)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in _parts(content) if isinstance(part.get("text"), str))


def _parts(content: object) -> Sequence[Mapping[str, Any]]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, Sequence) else []
