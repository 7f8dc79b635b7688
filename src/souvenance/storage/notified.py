"""What PostgreSQL tells every process that listens: that something became due (HOUSE, journey 2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from sqlalchemy import URL, NullPool, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

CHANNEL = "souvenance_due"
TELL = select(func.pg_notify(CHANNEL, ""))
"""Tells those who listen once the transaction is committed; it reads no table."""
CONNECT_SECONDS = 10
AGAIN_SECONDS = 5.0
"""Until a lost connection is made anew; what is due is found by looking meanwhile."""

_log = logging.getLogger(__name__)


@asynccontextmanager
async def notified(
    url: URL, wake: Callable[[], object], *, again_seconds: float = AGAIN_SECONDS
) -> AsyncIterator[None]:
    """Call `wake` whenever something became due in this database, over a connection of its own, made anew when lost."""
    listening = asyncio.create_task(_listen_on(url, wake, again_seconds), name="due.listened")
    try:
        yield
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


async def _listen_on(url: URL, wake: Callable[[], object], again_seconds: float) -> None:
    while True:
        try:
            await _listen(url, wake)
        except (DBAPIError, OSError, TimeoutError) as error:
            _log.warning("due_not_heard", extra={"error": type(error).__name__})
        await asyncio.sleep(again_seconds)


async def _listen(url: URL, wake: Callable[[], object]) -> None:
    """Until the connection is lost; what was told before it stood is made up for by one call."""
    lost = asyncio.Event()
    engine = create_async_engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": CONNECT_SECONDS, "server_settings": {"application_name": "souvenance listening"}},
    )
    async with engine.connect() as connection:
        # Of asyncpg, which has no types of its own.
        driver = cast(Any, (await connection.get_raw_connection()).driver_connection)
        driver.add_termination_listener(lambda *_: lost.set())
        await driver.add_listener(CHANNEL, lambda *_: wake())
        wake()
        await lost.wait()
        await connection.invalidate()
