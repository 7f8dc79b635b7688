"""Hear a turn in a task of its own, so that waiting for its next event can end without disturbing the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from souvenance.app.turn import TurnEvent
from souvenance.server.hang_up import end


@dataclass(frozen=True, slots=True)
class _Ended:
    error: Exception | None = None


class EventPump:
    """The events of one turn, one ahead of who reads them. The turn lives in one task from its start to its end."""

    def __init__(self, events: AsyncGenerator[TurnEvent, None]) -> None:
        self._events = events
        self._heard: asyncio.Queue[TurnEvent | _Ended] = asyncio.Queue(maxsize=1)
        self._peeked: TurnEvent | _Ended | None = None

    async def next(self) -> TurnEvent | None:
        """The next event, None at the end; raises what the turn raised."""
        heard, self._peeked = self._peeked or await self._heard.get(), None
        if not isinstance(heard, _Ended):
            return heard
        if heard.error is not None:
            raise heard.error
        return None

    async def peek(self, seconds: float) -> None:
        """Wait at most `seconds` for what `next` would give; raises now what it would raise."""
        # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the event.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                self._peeked = await self._heard.get()
        if isinstance(self._peeked, _Ended) and self._peeked.error is not None:
            raise self._peeked.error

    async def run(self) -> None:
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    await self._heard.put(event)
            await self._heard.put(_Ended())
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the events are read
            await self._heard.put(_Ended(error))


@asynccontextmanager
async def pumping(events: AsyncGenerator[TurnEvent, None]) -> AsyncIterator[EventPump]:
    """Hear `events` until the block ends; a turn that is not over then is cut off, and awaited to its end."""
    pump = EventPump(events)
    running = asyncio.create_task(pump.run())
    try:
        yield pump
    finally:
        await end(running)
