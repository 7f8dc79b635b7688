"""An event loop of its own, in a thread, for those who await nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, TypeVar

from souvenance.errors import StoreUnavailable
from souvenance.library import Souvenance

T = TypeVar("T")
Opening = Callable[[], AbstractAsyncContextManager[Souvenance]]


class LoopThread:
    """An event loop in a thread that lives as long as one opened memory."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._opened: Future[Souvenance] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        # Re-entrant: the collector may end an iterator of ours while this very thread holds it.
        self._gate = threading.RLock()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="souvenance-loop", daemon=True)
        self._thread.start()

    def opened(self) -> Souvenance:
        """What was opened; raises what opening it raised."""
        return self._opened.result()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of `work` on the loop; an interrupt of the caller cancels it there."""
        called = None if threading.current_thread() is self._thread else self._submitted(work)
        if called is None:
            raise StoreUnavailable("it is closed, or called from its own thread")
        try:
            return called.result()
        except CancelledError as error:
            raise StoreUnavailable("it was closed meanwhile") from error
        except BaseException:
            called.cancel()
            raise

    def finish(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do it on the loop and wait; on the loop's own thread (a collected iterator) without waiting."""
        if threading.current_thread() is self._thread and self._loop is not None:
            asyncio.run_coroutine_threadsafe(work(), self._loop)
        elif done := self._submitted(work):
            with suppress(CancelledError):  # Closing ends everything anyway.
                done.result()

    def each(self, make: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
        """The items one by one, each made on the loop; closing the iterator ends the generator there."""
        items = self.call(lambda: _made(make))
        try:
            while batch := self.call(lambda: _next(items)):
                yield batch[0]
        finally:
            self.finish(lambda: _ended(items))

    def close(self) -> None:
        """Close what was opened and end the thread; again is harmless."""
        with self._gate:
            if self._loop is not None and self._stop is not None and not self._closing:
                self._loop.call_soon_threadsafe(self._stop.set)
            self._closing = True
        self._thread.join()

    def _submitted(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T] | None:
        """Handed to the loop before it is told to stop, or not at all."""
        with self._gate:
            if self._loop is None or self._closing:
                return None
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with self._opening() as memory:
                self._opened.set_result(memory)
                await self._stop.wait()
        except Exception as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)


async def _made(make: Callable[[], AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    return make()


async def _next(items: AsyncIterator[T]) -> tuple[T, ...]:
    """The next item alone, nothing at the end."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return ()


async def _ended(items: AsyncGenerator[T, None]) -> None:
    with suppress(RuntimeError):  # An interrupt has cancelled it, and it is still ending.
        await items.aclose()
