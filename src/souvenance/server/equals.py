"""Tell a request that is sent again from one that only looks the same (I3, T6).

A request of the same key and bytes is a retry as long as the reply to the first was not acknowledged. So one that
comes while the first is being answered leaves the acknowledgement to the last of them, and one that comes while the
reply is being acknowledged waits until it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from souvenance.app.busy import Busy


class Equals:
    """The requests that are being answered, by a name that only equal ones share; "" is like no other."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._settling = Busy()

    @asynccontextmanager
    async def joined(self, name: str) -> AsyncIterator[None]:
        """Count a request in, and let it begin once no equal one is being acknowledged."""
        self._counts[name] += 1
        try:
            if name:
                async with self._settling.alone(name):
                    pass
            yield
        finally:
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]

    async def settle(self, name: str, stack: AsyncExitStack) -> bool:
        """Hold equal requests back until `stack` ends; whether this one's reply is to be acknowledged."""
        if not name:
            return True
        await stack.enter_async_context(self._settling.alone(name))
        return self._counts[name] == 1
