"""How the house talks to a language model: one request, a stream of chunks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Protocol

from souvenance.domain.json_object import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is known of a model. `context` is in tokens; None means unknown (W7 then assumes 8,192). Prices are for a
    million tokens, 0 where they are not known.
    """

    name: str
    provider: str = ""
    context: int | None = None
    can_call_tools: bool = True
    price_in: float = 0.0
    price_out: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request in the OpenAI chat form: what is sent, already decided.

    `messages` and `tools` are wire objects; `fields` are the body's other fields (temperature, stop, unknown ones),
    passed on untouched. `body` is the exact bytes of the whole request in canonical form (other fields in their order,
    `messages` last): an adapter of the OpenAI wire form sends these very bytes.
    """

    model: str
    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    fields: JsonObject = field(default_factory=dict)
    stream: bool = True
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A piece of a tool call; `call_id` and `name` come with the first piece of an index."""

    index: int
    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the model itself reports them."""

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChunk:
    """One piece of a reply. `wire` is the upstream's own object where the upstream speaks the OpenAI form, untouched.

    Without streaming, the one chunk holds the whole reply and `wire` the whole response object.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    finish: str | None = None
    usage: Usage | None = None
    wire: JsonObject | None = None


class ChatModel(Protocol):
    """Answers one request. Closing the iterator ends the call upstream.

    Raises UnknownModel, ModelUnreachable, ModelRefused, ModelTimedOut, ModelBroken.
    """

    def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        """The reply in pieces, at least one. Use `contextlib.aclosing` around it.

        One piece carries `finish`; only pieces without text (usage) may follow it.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models that can be used right now, in a steady order; empty when there is none."""
        ...

    async def info(self, model: str) -> ModelInfo:
        """What is known of one model; UnknownModel when none of the configured providers has it."""
        ...
