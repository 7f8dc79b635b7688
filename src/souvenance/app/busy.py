"""One reply at a time per conversation, within this process; across processes the turn's attempt number decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Busy:
    """Locks by name that leave nothing behind once nobody holds or awaits them."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    def is_held(self, name: str) -> bool:
        """Whether somebody holds `name` now."""
        return name in self._locks

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        """Wait until nobody else holds `name`, then hold it."""
        lock, waiting = self._locks.get(name, (asyncio.Lock(), 0))
        self._locks[name] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks.pop(name)
            if waiting > 1:
                self._locks[name] = (lock, waiting - 1)
