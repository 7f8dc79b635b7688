"""The store on PostgreSQL: any number of processes on one database (Z2, HOUSE 8).

Writes run at READ COMMITTED and hold the rows they build on (owner, scope, conversation: `FOR UPDATE`); reads at
REPEATABLE READ, READ ONLY, so that one unit sees one snapshot.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection, Transaction
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Unit
from souvenance.storage import claims, faults, migrate
from souvenance.storage.bell import Bell
from souvenance.storage.faults import Fault
from souvenance.storage.notified import TELL, notified
from souvenance.storage.unit import SqlUnit

T = TypeVar("T")

POOL = 10
POOL_SECONDS = 10
_SERVER_SETTINGS = {
    "application_name": "souvenance",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    "jit": "off",
}

_log = logging.getLogger(__name__)


class PostgresStore:
    """`ports.store.Store` on one database.

    A transaction once begun is carried to its end even when its caller is cancelled: it commits whole or not at all,
    and no connection is left in the middle of one.
    """

    def __init__(self, engine: AsyncEngine, *, probe: Callable[[str], None] | None) -> None:
        self.engine = engine
        self._reads = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._probe = probe or _nothing
        self._bell = Bell()
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        probe: Callable[[str], None] | None = None,
        migrations: migrate.Migrations = migrate.CURRENT,
    ) -> PostgresStore:
        """Open a database, `postgresql+asyncpg://…`, brought to the newest revision.

        `probe` is told `<label>:before` and `<label>:after` each commit. Raises StoreTooNew or StoreUnavailable.
        """
        engine = make_engine(url)
        try:
            await migrate.prepare_postgres(engine, migrations)
        except (DBAPIError, PoolTimeoutError, OSError) as error:
            await engine.dispose()
            raise StoreUnavailable(faults.reason(error)) from error
        except BaseException:
            await engine.dispose()
            raise
        return cls(engine, probe=probe)

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        def transact(connection: Connection) -> T:
            return self._write(connection, owner_id, work, label)

        return await self._to_its_end(_persistently(self.engine, transact), label)

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        def look(connection: Connection) -> T:
            with connection.begin():
                return work(SqlUnit(connection, owner_id))

        return await self._to_its_end(_persistently(self._reads, look), label)

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        def rehearsed(connection: Connection) -> T:
            with connection.begin() as transaction:
                result = work(SqlUnit(connection, owner_id))
                transaction.rollback()
            return result

        return await self._to_its_end(_persistently(self.engine, rehearsed), label)

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        def transact(connection: Connection) -> Due | None:
            with connection.begin() as transaction:
                found = claims.claim(connection, worker=worker, now=now, lease=lease, kinds=kinds)
                if found is not None:
                    self._commit(transaction, "due.claimed")
            return found

        return await self._to_its_end(_persistently(self.engine, transact), "due.claimed")

    @asynccontextmanager
    async def listening(self, wake: Callable[[], object]) -> AsyncIterator[None]:
        """All processes on the same database are heard."""
        with self._bell.heard_by(wake):
            async with notified(self.engine.url, wake):
                yield

    async def owners_with_ended_offers(self, now: datetime) -> list[OwnerId]:
        def look(connection: Connection) -> list[OwnerId]:
            with connection.begin():
                return claims.owners_with_ended_offers(connection, now)

        return await self._to_its_end(_persistently(self._reads, look), "erasure.ended")

    async def will_purge(self) -> None:
        """Nothing to note: see `scrub`."""

    async def scrub(self, *, deleted: bool) -> bool:
        """Nothing to do here: what deleted rows leave behind is the database's own to clean (autovacuum, WAL)."""
        return True

    async def close(self) -> None:
        self._closed = True
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.engine.dispose()

    def _write(self, connection: Connection, owner_id: OwnerId, work: Callable[[Unit], T], label: str) -> T:
        unit = SqlUnit(connection, owner_id)
        with connection.begin() as transaction:
            result = work(unit)
            if unit.made_due:
                connection.execute(TELL)
            self._commit(transaction, label)
        if unit.made_due:
            self._bell.ring()
        return result

    def _commit(self, transaction: Transaction, label: str) -> None:
        self._probe(f"{label}:before")
        try:
            transaction.commit()
        except DBAPIError as error:
            if faults.of_postgres(error) is Fault.LOST:
                raise StoreUnavailable("the connection broke during a commit, which may have succeeded") from error
            raise
        self._probe(f"{label}:after")

    async def _to_its_end(self, work: Coroutine[Any, Any, T], label: str) -> T:
        if self._closed:
            work.close()
            raise StoreUnavailable("it is closed")
        task = asyncio.create_task(work, name=label)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        # Asked for, so that a failure whose caller was cancelled is not reported as never retrieved.
        if not task.cancelled() and task.exception() is not None:
            _log.debug("transaction_failed", extra={"label": task.get_name()})


def make_engine(url: str) -> AsyncEngine:
    return create_async_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_size=POOL,
        max_overflow=POOL,
        pool_timeout=POOL_SECONDS,
        hide_parameters=True,
        connect_args={"timeout": POOL_SECONDS, "server_settings": _SERVER_SETTINGS},
    )


def _nothing(_: str) -> None:
    return


async def _persistently(engine: AsyncEngine, transact: Callable[[Connection], T]) -> T:
    """Run `transact`; again, a few times, when others were in the way; once again when the connection was lost."""
    tries = losses = 0
    while True:
        tries += 1
        try:
            async with engine.connect() as connection:
                return await connection.run_sync(transact)
        except DBAPIError as error:
            fault = faults.of_postgres(error)
            losses += fault is Fault.LOST
            # A row that is taken every time is no race: the work itself writes something twice.
            if fault is Fault.OURS or (fault is Fault.TAKEN and tries == faults.TRIES):
                raise
            if fault is Fault.UNAVAILABLE or losses > 1 or tries == faults.TRIES:
                raise StoreUnavailable(faults.reason(error)) from error
        except (PoolTimeoutError, OSError) as error:
            raise StoreUnavailable(faults.reason(error)) from error
        await asyncio.sleep(faults.pause(tries))
