"""Who is told, in this process, that something became due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Bell:
    """Rung after a commit, from whatever thread; whoever listens is called on the loop that it listens on."""

    def __init__(self) -> None:
        self._listening: tuple[tuple[asyncio.AbstractEventLoop, Callable[[], object]], ...] = ()

    @contextmanager
    def heard_by(self, wake: Callable[[], object]) -> Iterator[None]:
        one = (asyncio.get_running_loop(), wake)
        self._listening = (*self._listening, one)
        try:
            yield
        finally:
            self._listening = tuple(other for other in self._listening if other is not one)

    def ring(self) -> None:
        for loop, wake in self._listening:
            with suppress(RuntimeError):  # Its loop has ended.
                loop.call_soon_threadsafe(wake)
