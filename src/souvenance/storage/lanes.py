"""Lanes: threads that each keep one connection open, so that a piece of work is one hop there and back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection

from souvenance.errors import StoreUnavailable

T = TypeVar("T")


class Lane:
    """Runs jobs on connections of its own, at most `threads` at a time.

    A job whose caller is cancelled before it began does not begin; one that has begun runs to its end and its result is
    dropped. So a transaction is never left open. The threads are its own: an executor's futures cost more than the hop.
    """

    def __init__(self, connect: Callable[[], Connection], *, threads: int, name: str) -> None:
        self._connect = connect
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, name=f"{name}-{n}", daemon=True) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    async def run(self, job: Callable[[Connection], T]) -> T:
        """Raises StoreUnavailable once the lane is closed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        with self._closing:
            if self._closed:
                raise StoreUnavailable("it is closed")
            self._jobs.put(_Job(job, loop, done))
        return await done

    def close(self) -> None:
        """Let the jobs in hand end, then close every connection."""
        with self._closing:
            self._closed = True
            for _ in self._threads:
                self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        connection: Connection | None = None
        while (job := self._jobs.get()) is not None:
            if job.done.cancelled():
                continue
            try:
                connection = connection or self._connect()
                job.tell(job.done.set_result, job.work(connection))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the result is awaited
                job.tell(job.done.set_exception, error)
                if isinstance(error, StoreUnavailable) and connection is not None:
                    # What it met may cling to the connection: the next job gets a new one.
                    connection.close()
                    connection = None
        if connection is not None:
            connection.close()


@dataclass(frozen=True, slots=True)
class _Job:
    """A piece of work, and who waits for it."""

    work: Callable[[Connection], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]

    def tell(self, say: Callable[[Any], None], outcome: object) -> None:
        # A loop that has ended meanwhile waits for nothing any more.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._say, say, outcome)

    def _say(self, say: Callable[[Any], None], outcome: object) -> None:
        if not self.done.done():
            say(outcome)
