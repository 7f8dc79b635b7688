"""An open line of server-sent events: headers at once, events as they come, a comment after a long silence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.datastructures import MutableHeaders
from starlette.types import Send

from souvenance.server.problems import encoded


class EventLine:
    """Sends whole events only, so that a comment never falls into one."""

    def __init__(self, send: Send, quiet_seconds: float) -> None:
        self._send = send
        self._quiet = quiet_seconds
        self._last = asyncio.get_running_loop().time()

    async def say(self, event: bytes) -> None:
        self._last = asyncio.get_running_loop().time()
        await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def keep_alive(self) -> None:
        """Say something whenever nothing was said for `quiet_seconds`; runs until it is cancelled."""
        while True:
            waited = asyncio.get_running_loop().time() - self._last
            if waited >= self._quiet:
                await self.say(KEEPALIVE_COMMENT)
            else:
                await asyncio.sleep(self._quiet - waited)


@asynccontextmanager
async def open_line(send: Send, headers: Mapping[str, str], quiet_seconds: float) -> AsyncIterator[EventLine]:
    """Send the headers and hold the line open; the caller ends it with `hang_up` once everything is settled."""
    shown = MutableHeaders({"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"})
    shown.update({"X-Accel-Buffering": "no", **headers})
    await send({"type": "http.response.start", "status": 200, "headers": shown.raw})
    line = EventLine(send, quiet_seconds)
    ticking = asyncio.create_task(line.keep_alive())
    try:
        yield line
    finally:
        ticking.cancel()
        await asyncio.wait((ticking,))


async def hang_up(send: Send) -> None:
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def named_event(name: str, data: object, *, event_id: str | None = None) -> bytes:
    """One event of the REST door: its name and its data as one line of JSON."""
    return format_sse_event(data_str=encoded(data).decode(), event=name, id=event_id)


def data_event(data: object) -> bytes:
    """One event of the OpenAI form: data only."""
    return format_sse_event(data_str=data if isinstance(data, str) else encoded(data).decode())
