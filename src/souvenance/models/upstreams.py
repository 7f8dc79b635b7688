"""All configured providers as one `ChatModel`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from souvenance.errors import ModelError, NoModel, UnknownModel
from souvenance.models.base_url import origin
from souvenance.models.hosted import hosted_context
from souvenance.models.local_servers import LocalServer, ServerKind
from souvenance.models.model_names import Route, named_apart, renamed, route
from souvenance.models.openai_wire import OpenAIWire
from souvenance.models.other_providers import OtherProvider
from souvenance.ports.chat_model import ChatModel, ChatRequest, ModelChunk, ModelInfo
from souvenance.ports.clock import Clock

# A local server's context changes when a model is loaded; a hosted list changes a few times a month.
KEEP_LOCAL = timedelta(seconds=60)
KEEP_HOSTED = timedelta(minutes=10)
KEEP_FAILURE = timedelta(seconds=30)
# A name that is on no list makes the lists be read again, but not more often than this.
ASK_LOCAL_AGAIN_AFTER = timedelta(seconds=5)
ASK_HOSTED_AGAIN_AFTER = timedelta(seconds=60)
ASK_SECONDS = 2.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider under its own name. `context` and `can_call_tools`, where a person set them, win over what it says.

    `base_url` is that of an OpenAI-compatible server, "" for the others. Behind plain `http` a local server is taken
    for granted and asked for its real contexts; `kind` None finds out which one it is.
    """

    name: str
    model: ChatModel
    base_url: str = ""
    kind: ServerKind | None = None
    context: int | None = None
    can_call_tools: bool | None = None

    @property
    def is_local(self) -> bool:
        return self.base_url.startswith("http://")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """What a provider answered, and until when that counts."""

    models: tuple[ModelInfo, ...]
    failure: ModelError | None
    read_at: datetime
    good_until: datetime


class Upstreams:
    """A `ChatModel` over several providers; their names are unique.

    A model's name is its own where one provider has it, else `provider/name`, which is always taken. A request under
    such a name goes out with the provider's own name in `model`, every other byte of its body untouched.
    """

    def __init__(self, providers: Sequence[Provider], *, clock: Clock) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._clock = clock
        self._listings: dict[str, _Listing] = {}
        self._locks = {provider.name: asyncio.Lock() for provider in providers}

    async def reply(self, request: ChatRequest) -> AsyncGenerator[ModelChunk, None]:
        """The routed provider's reply. Raises what that provider raises."""
        found = await self._route(request.model)
        body = renamed(request.body, request.model, found.name) if request.body else b""
        asked = replace(request, model=found.name, body=body)
        async with aclosing(self._providers[found.provider].model.reply(asked)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def models(self) -> tuple[ModelInfo, ...]:
        """The models of every provider that answers, in the order of the providers; those that fail are left out."""
        return named_apart(_lists(await self._all()))

    async def info(self, model: str) -> ModelInfo:
        """Under the name it was asked by. Raises the failure of a provider that could not say, else UnknownModel."""
        found = await self._route(model)
        provider = self._providers[found.provider]
        listing = await self._listing(provider)
        if not any(known.name == found.name for known in listing.models):
            listing = await self._listing(provider, newest=True)
        for known in listing.models:
            if known.name == found.name:
                return replace(known, name=model)
        if listing.failure is not None:
            raise listing.failure
        if provider.base_url and listing.models:
            raise UnknownModel(model, known=tuple(known.name for known in listing.models))
        told = await provider.model.info(found.name)
        (described,) = await self._described(provider, (told,))
        return replace(described, name=model)

    async def close(self) -> None:
        """End the connections of every provider."""
        for provider in self._providers.values():
            if isinstance(provider.model, OpenAIWire | OtherProvider):
                await provider.model.close()

    async def _route(self, model: str) -> Route:
        """Where a name leads, after a second look at the lists if need be. Raises NoModel without any provider."""
        if not self._providers:
            raise NoModel
        found = route(model, _lists(await self._all()))
        if found is not None:
            return found
        listings = await self._all(newest=True)
        found = route(model, _lists(listings))
        if found is not None:
            return found
        for listing in listings.values():
            if listing.failure is not None:
                raise listing.failure
        raise UnknownModel(model, known=tuple(info.name for info in named_apart(_lists(listings))))

    async def _all(self, *, newest: bool = False) -> dict[str, _Listing]:
        """Every provider's list, asked for side by side."""
        now = self._clock.now()
        kept = {name: self._listings[name] for name in self._providers if name in self._listings}
        if not newest and len(kept) == len(self._providers) and all(now < each.good_until for each in kept.values()):
            return kept
        listings = await asyncio.gather(
            *(self._listing(provider, newest=newest) for provider in self._providers.values())
        )
        return dict(zip(self._providers, listings, strict=True))

    async def _listing(self, provider: Provider, *, newest: bool = False) -> _Listing:
        """The list kept while it is good; `newest` asks again unless it was read just now. One caller asks."""
        async with self._locks[provider.name]:
            now = self._clock.now()
            kept = self._listings.get(provider.name)
            pause = ASK_LOCAL_AGAIN_AFTER if provider.is_local else ASK_HOSTED_AGAIN_AFTER
            if kept is not None and now < (min(kept.read_at + pause, kept.good_until) if newest else kept.good_until):
                return kept
            fresh = await self._read(provider, now)
            self._listings[provider.name] = fresh
            return fresh

    async def _read(self, provider: Provider, now: datetime) -> _Listing:
        try:
            models = await self._described(provider, await provider.model.models())
        except ModelError as failure:
            log.warning("models_not_listed", extra={"provider": provider.name, "code": failure.code})
            return _Listing(models=(), failure=failure, read_at=now, good_until=now + KEEP_FAILURE)
        keep = KEEP_LOCAL if provider.is_local else KEEP_HOSTED
        return _Listing(models=models, failure=None, read_at=now, good_until=now + keep)

    async def _described(self, provider: Provider, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
        """The same models with what the server itself, the table and the settings know of them."""
        if provider.is_local and models:
            server = LocalServer(origin(provider.base_url), ASK_SECONDS)
            kind = provider.kind or await _kind(server)
            models = await server.describe(kind, models)
        return tuple(
            replace(
                info,
                provider=provider.name,
                context=provider.context or info.context or (None if provider.is_local else hosted_context(info.name)),
                can_call_tools=info.can_call_tools if provider.can_call_tools is None else provider.can_call_tools,
            )
            for info in models
        )


def _lists(listings: Mapping[str, _Listing]) -> dict[str, tuple[ModelInfo, ...]]:
    return {name: listing.models for name, listing in listings.items()}


async def _kind(server: LocalServer) -> ServerKind:
    seen = await server.recognise()
    return "other" if seen is None else seen.kind
