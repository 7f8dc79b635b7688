"""Model servers on this machine: which one answers, and what context its models really have."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

import httpx2

from souvenance.domain.json_object import JsonObject
from souvenance.models.model_list import entries
from souvenance.models.native_form import llamacpp_model, lmstudio_model, ollama_loaded, ollama_model
from souvenance.ports.chat_model import ModelInfo

ServerKind = Literal["ollama", "lmstudio", "llamacpp", "vllm", "other"]

# Every `/v1/models` of ours says so in this header and as the owner of each model.
OUR_HEADER = "x-souvenance-version"
OUR_OWNER = "souvenance"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A server that really serves models, and their names."""

    kind: ServerKind
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """One origin (`http://127.0.0.1:11434`) on this machine, asked without a proxy and without patience."""

    origin: str
    seconds: float = 0.3

    async def recognise(self) -> Seen | None:
        """What answers here; None for nobody, for what serves no models, and for Souvenance itself."""
        async with self._http() as http:
            listing = await self._listing(http)
            if listing is None:
                return None
            owners = {str(entry.get("owned_by", "")).lower() for entry in entries(listing)}
            names = tuple(sorted(str(entry["id"]) for entry in entries(listing) if "id" in entry))
            tags, props, lmstudio = await asyncio.gather(
                self._ask(http, "/api/tags"), self._ask(http, "/props"), self._ask(http, "/api/v0/models")
            )
        kind: ServerKind = "other"
        if "models" in tags:
            kind = "ollama"
        elif "default_generation_settings" in props or "llamacpp" in owners:
            kind = "llamacpp"
        elif any("max_context_length" in entry for entry in entries(lmstudio)) or lmstudio.get("data") == []:
            kind = "lmstudio"
        elif "vllm" in owners:
            kind = "vllm"
        # An empty list proves nothing by itself: only a server that is known otherwise may have no model yet.
        return Seen(kind=kind, models=names) if names or kind != "other" else None

    async def describe(self, kind: ServerKind, models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
        """The same models with the context and abilities that this kind of server states; unchanged if it does not."""
        async with self._http() as http:
            match kind:
                case "ollama":
                    loaded = ollama_loaded(await self._ask(http, "/api/ps"))
                    shown = await asyncio.gather(*(self._show(http, info.name) for info in models))
                    return tuple(
                        ollama_model(info, about, loaded=loaded.get(info.name)) if about else info
                        for info, about in zip(models, shown, strict=True)
                    )
                case "lmstudio":
                    listing = await self._ask(http, "/api/v0/models")
                    return tuple(lmstudio_model(info, listing) for info in models)
                case "llamacpp":
                    props = await self._ask(http, "/props")
                    return tuple(llamacpp_model(info, props) for info in models)
                case "vllm" | "other":
                    return tuple(models)
                case _:
                    assert_never(kind)

    async def _listing(self, http: httpx2.AsyncClient) -> JsonObject | None:
        """The OpenAI list of a server that is not ours."""
        try:
            response = await http.get("/v1/models")
            listing = response.json()
        except (httpx2.HTTPError, ValueError):
            return None
        if OUR_HEADER in response.headers or not response.is_success or not isinstance(listing, dict):
            return None
        ours = any(entry.get("owned_by") == OUR_OWNER for entry in entries(listing))
        return None if ours or not isinstance(listing.get("data"), list) else listing

    async def _show(self, http: httpx2.AsyncClient, model: str) -> JsonObject:
        return await self._ask(http, "/api/show", {"model": model})

    async def _ask(self, http: httpx2.AsyncClient, path: str, body: Mapping[str, str] | None = None) -> JsonObject:
        """A JSON object; empty when this server has no such page."""
        try:
            response = await (http.get(path) if body is None else http.post(path, content=json.dumps(body)))
            value = response.json() if response.is_success else None
        except (httpx2.HTTPError, ValueError) as error:
            log.debug("local_server_silent", extra={"origin": self.origin, "path": path, "error": type(error).__name__})
            return {}
        return value if isinstance(value, dict) else {}

    def _http(self) -> httpx2.AsyncClient:
        # Plain http only: nothing is verified, so no store of certificates is read.
        return httpx2.AsyncClient(base_url=self.origin, timeout=self.seconds, trust_env=False, verify=False)
