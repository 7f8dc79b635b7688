"""Lanes: threads that each keep one connection open, so that a piece of work is one hop there and back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection

from souvenance.errors import StoreUnavailable

T = TypeVar("T")


class Lane:
    """Runs jobs on connections of its own, at most `threads` at a time.

    A job whose caller is cancelled before it began does not begin; one that has begun runs to its end and its result is
    dropped. So a transaction is never left open.
    """

    def __init__(self, connect: Callable[[], Connection], *, threads: int, name: str) -> None:
        self._connect = connect
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._mine = threading.local()
        self._open: set[Connection] = set()

    async def run(self, job: Callable[[Connection], T]) -> T:
        """Raises StoreUnavailable once the lane is closed."""
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, self._job, job)
        except RuntimeError as error:
            raise StoreUnavailable("it is closed") from error
        return await running

    def close(self) -> None:
        """Let the jobs in hand end, then close every connection."""
        self._threads.shutdown(wait=True)
        while self._open:
            self._open.pop().close()

    def _job(self, job: Callable[[Connection], T]) -> T:
        connection: Connection | None = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self._mine.connection = self._connect()
            self._open.add(connection)
        try:
            return job(connection)
        except StoreUnavailable:
            # What it met may cling to the connection: the next job gets a new one.
            self._mine.connection = None
            self._open.discard(connection)
            connection.close()
            raise
