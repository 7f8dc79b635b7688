"""Notice a client that hangs up, and give what was being done for it the time to put things in order."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

T = TypeVar("T")

# Long enough for a reply that is being cut off to be stored.
CANCEL_AGAIN_SECONDS = 10.0


class ClientLeft(Exception):
    """Nobody is there to be answered any more; never leaves this room."""


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a task of its own. Once the client hangs up (or this task is cancelled) it is cancelled too, and
    awaited to its end: a reply cut off is stored before this returns. Raises ClientLeft.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_hung_up(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(watching)
        await end(working)
    if working.cancelled():
        raise ClientLeft
    return working.result()


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel `task` and wait until it is over; once more after a while, since a library may lose a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CANCEL_AGAIN_SECONDS)


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
