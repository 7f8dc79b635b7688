"""The doors of one application, each of which opens when it is first knocked at.

Forms, views and routes of every resource take longer to build than a first answer: a resource is imported and joins the
routes when one of its paths is asked for. Whoever serves opens the others soon after the start (`warm`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.types import Message

from souvenance.server.api import PREFIX, RESOURCES
from souvenance.server.views.problem import PROBLEMS

QUIET = 0.3
"""Seconds without a request after which a door may be opened unasked: it takes a tenth of one."""
PATIENCE = 10
"""How often that is waited for; then one is opened in the midst of requests."""

_ROOM = "souvenance.server"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Door:
    """A module with a router, and what every path of it starts with. `first`: it is asked before all others."""

    module: str
    starts: tuple[str, ...]
    prefix: str = ""
    in_schema: bool = True
    first: bool = False

    def open(self, app: FastAPI) -> None:
        router = import_module(self.module).router
        responses = PROBLEMS if self.prefix == PREFIX else None
        app.include_router(router, prefix=self.prefix, include_in_schema=self.in_schema, responses=responses)
        if self.first:
            app.router.routes.insert(0, app.router.routes.pop())


def _doors() -> Iterator[_Door]:
    openai, health = f"{_ROOM}.openai_door", f"{_ROOM}.api.health"
    # Whoever asks here waits for a first token.
    yield _Door(module=openai, prefix="/v1", starts=("/v1/",), first=True)
    for name, beginnings in RESOURCES.items():
        starts = tuple(f"{PREFIX}/{beginning}" for beginning in beginnings)
        yield _Door(module=f"{_ROOM}.api.{name}", prefix=PREFIX, starts=starts)
    yield _Door(module=openai, starts=("/models", "/chat/"), in_schema=False)
    yield _Door(module=health, starts=("/health/",), in_schema=False)


class Doors:
    """Those of `app`; only its event loop's thread may open one."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._closed = list(_doors())
        self._asked_at = 0.0

    def open_for(self, path: str) -> None:
        """Let every route join that could answer `path`."""
        self._asked_at = time.monotonic()
        for door in [door for door in self._closed if path.startswith(door.starts)]:
            self._open(door)

    def open_all(self) -> None:
        for door in list(self._closed):
            self._open(door)

    async def warm(self) -> None:
        """Open those that are closed, one by one, while nobody asks for anything: requests do not wait for this."""
        for door in list(self._closed):
            for _ in range(PATIENCE):
                if time.monotonic() - self._asked_at >= QUIET:
                    break
                await asyncio.sleep(QUIET)
            self._open(door)
            await self._ask_nowhere()
            await asyncio.sleep(0)

    def _open(self, door: _Door) -> None:
        if door in self._closed:
            door.open(self._app)
            self._closed.remove(door)

    async def _ask_nowhere(self) -> None:
        """FastAPI makes a router ready to answer when it first looks for a route there."""
        nowhere = {"type": "http", "method": "GET", "path": "/nowhere", "headers": [], "query_string": b""}
        with suppress(HTTPException):
            await self._app.router({**nowhere, "app": self._app}, _hear_nothing, _say_nothing)


async def _hear_nothing() -> Message:
    return {"type": "http.disconnect"}


async def _say_nothing(message: Message) -> None:
    """Nobody listens."""
