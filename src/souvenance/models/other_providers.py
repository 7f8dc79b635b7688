"""Providers with a wire form of their own (Anthropic, Google, Mistral …), through pydantic-ai.

pydantic-ai takes a second to import, so nothing of it is imported before the first call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from souvenance.errors import ModelBroken, ModelUnreachable, UnknownModel
from souvenance.models.model_names import may_be_unlisted
from souvenance.models.openai_wire import IDLE_SECONDS
from souvenance.ports.chat_model import ChatRequest, ModelChunk, ModelInfo

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class OtherProvider:
    """A `ChatModel` over one provider as pydantic-ai names it: `anthropic`, `google`, `mistral` …

    `api_key` is handed to the provider's client; without one its own environment variable counts. `instance` is a
    pydantic-ai model that answers every request, whatever its name (tests pass a FunctionModel). Chunks carry no
    `wire`. Fields of the request that only OpenAI has are left out.
    """

    def __init__(
        self,
        provider: str,
        *,
        api_key: str | None = None,
        models: tuple[ModelInfo, ...] = (),
        instance: Model | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.provider = provider
        self._api_key = api_key
        self._models = models
        self._instance = instance
        self._idle = idle_seconds
        self._made: dict[str, Model] = {}

    def __repr__(self) -> str:
        return f"OtherProvider({self.provider!r}, api_key={'***' if self._api_key else 'none'})"

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        """One chunk per event of pydantic-ai; without streaming one chunk with the whole."""
        model = await asyncio.to_thread(self._model, request.model)
        from souvenance.models import pydantic_calls

        said_anything = False
        ask = pydantic_calls.streamed if request.stream else pydantic_calls.whole
        async with aclosing(ask(model, request, self._idle)) as pieces:
            async for chunk in pieces:
                said_anything = said_anything or bool(chunk.text.strip() or chunk.reasoning or chunk.tool_calls)
                yield chunk
        if not said_anything:
            raise ModelBroken(request.model, problem="an empty reply")

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models it was told of, else those that pydantic-ai knows of this provider, by name."""
        return self._models or await asyncio.to_thread(_known_models, self.provider)

    async def info(self, model: str) -> ModelInfo:
        """What is known of a model it was told of, or that pydantic-ai's tables know; no provider is asked."""
        for known in self._models:
            if known.name == model:
                return known
        described = await asyncio.to_thread(_describe, self.provider, model)
        if described.context is None or not may_be_unlisted(model):
            raise UnknownModel(model, known=tuple(known.name for known in await self.models()))
        return described

    async def close(self) -> None:
        """Forget the clients; each provider's SDK ends its own connections."""
        self._made.clear()

    def _model(self, name: str) -> Model:
        """The client for a model, made once. It imports for a second: call it in a thread."""
        if self._instance is not None:
            return self._instance
        if name not in self._made:
            with _library_needed(f"{self.provider}:{name}"):
                from souvenance.models.pydantic_models import make_model
            self._made[name] = make_model(self.provider, name, self._api_key)
        return self._made[name]


def _known_models(provider: str) -> tuple[ModelInfo, ...]:
    with _library_needed(provider):
        from souvenance.models.pydantic_models import known_models
    return known_models(provider)


def _describe(provider: str, name: str) -> ModelInfo:
    with _library_needed(f"{provider}:{name}"):
        from souvenance.models.pydantic_models import describe
    return describe(provider, name)


@contextmanager
def _library_needed(model: str) -> Iterator[None]:
    """Says how to install pydantic-ai, should it be missing."""
    try:
        yield
    except ImportError as error:
        raise ModelUnreachable(model, reason="pydantic-ai is missing: pip install 'souvenance[models]'") from error
