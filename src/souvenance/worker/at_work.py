"""A worker that runs beside something else, for as long as that does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from souvenance.worker.loop import Worker


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[None]:
    """While the block runs the worker works; at its end it is stopped, within its grace."""
    stop = asyncio.Event()
    running = asyncio.create_task(worker.run(stop), name="worker")
    try:
        yield
    finally:
        stop.set()
        await running
