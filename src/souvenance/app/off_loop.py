"""Keep long work off the event loop, so that one caller's long text does not stop everybody's streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_LONG = 20_000
"""Characters that take about as long as a hop to a thread and back is worth."""

_running: set[asyncio.Task[Any]] = set()


async def off_loop(characters: int, work: Callable[[], T]) -> T:
    """What `work` returns, run in a thread when it is about a long text."""
    return await asyncio.to_thread(work) if characters > _LONG else work()


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns; it goes on to its end even when the caller is cancelled meanwhile."""
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return await asyncio.shield(task)
