"""A house behind a real socket, beside the test in one loop; what its clients and its upstream see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from openai import AsyncOpenAI

from souvenance.ports.chat_model import ChatModel
from souvenance.ports.clock import Clock
from souvenance.server.guard import Access
from souvenance.server.pace import Pace
from souvenance.server.serve import serve
from souvenance.settings import DatabaseUrl, Settings, UpstreamSettings
from souvenance.storage.sqlite import FILE
from souvenance.testing import ScriptedUpstream
from souvenance.wiring import House, open_house
from tests.sqlite_file import migrated_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running server: its address, its REST client, and the house behind it."""

    address: str
    house: House
    rest: httpx2.AsyncClient
    stop: asyncio.Event
    clients: AsyncExitStack

    def openai(self, key: str = "local", *, base: str = "/v1", **options: Any) -> AsyncOpenAI:
        """The real client of the OpenAI form; it repeats nothing by itself."""
        client = AsyncOpenAI(base_url=f"{self.address}{base}", api_key=key, max_retries=0, **options)
        self.clients.push_async_callback(client.close)
        return client

    async def bot(self, name: str = "Mira", **more: Any) -> str:
        """A new bot's id."""
        made = await self.rest.post("/bots", json={"name": name, **more})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])


def settings_for(
    folder: Path, *, database_url: str | None = None, upstream: ScriptedUpstream | None = None, **more: Any
) -> Settings:
    """Nothing is looked for on this machine; the one upstream, if any, is the scripted one."""
    upstreams = {} if upstream is None else {"scripted": UpstreamSettings(name="scripted", base_url=upstream.url)}
    url = None if database_url is None else DatabaseUrl(database_url)
    if url is None and not (folder / FILE).exists():
        migrated_folder(folder)
    return Settings(folder=folder, database_url=url, upstreams=upstreams, detect_local=False, detect_keys=False, **more)


@asynccontextmanager
async def served(
    settings: Settings,
    *,
    clock: Clock | None = None,
    access: Access | None = None,
    pace: Pace | None = None,
    models: ChatModel | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    """The server on a free port until the block ends; then it stops as it does on a signal."""
    house = await open_house(settings, clock=clock, models=models)
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    serving = asyncio.create_task(
        serve(
            house,
            port=0,
            access=access or Access(),
            pace=pace or Pace(patience=30.0),
            announce=told.set_result,
            stop=stop,
            **options,
        )
    )
    try:
        await asyncio.wait((told, serving), return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        address = told.result()
        async with httpx2.AsyncClient(base_url=f"{address}/api/v1", timeout=30.0) as rest, AsyncExitStack() as clients:
            yield Served(address=address, house=house, rest=rest, stop=stop, clients=clients)
    finally:
        stop.set()
        await serving
        await house.close()
