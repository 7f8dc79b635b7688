"""The store on SQLite: one file, one writer at a time, readers beside it (Z1, HOUSE 8)."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar, cast

from sqlalchemy import Connection, Engine, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from souvenance.domain.due import Due
from souvenance.domain.ids import OwnerId
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Unit
from souvenance.storage import claims, faults, migrate
from souvenance.storage.bell import Bell
from souvenance.storage.faults import Fault
from souvenance.storage.lanes import Lane
from souvenance.storage.unit import SqlUnit

T = TypeVar("T")

FILE = "souvenance.db"
BUSY_SECONDS = 3.0
"""How long one try waits for another process that writes; see `faults.TRIES`."""
READERS = 3

_BEGIN = "souvenance_begin"
"""The option of a connection that says how its transactions begin."""

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
)

_log = logging.getLogger(__name__)


class SqliteStore:
    """`ports.store.Store` on one file; several processes may use it at the same time.

    A write whose caller is cancelled is either committed whole or not begun (see `Lane`).
    """

    def __init__(self, engine: Engine, path: Path, *, probe: Callable[[str], None] | None) -> None:
        self.engine = engine
        self._path = path
        self._probe = probe or _nothing
        self._bell = Bell()
        self._writer = Lane(lambda: _connection(engine, writes=True), threads=1, name="souvenance-writer")
        self._readers = Lane(lambda: _connection(engine, writes=False), threads=READERS, name="souvenance-reader")

    @classmethod
    async def open(
        cls,
        folder_or_file: str | Path,
        *,
        probe: Callable[[str], None] | None = None,
        migrations: migrate.Migrations = migrate.CURRENT,
        busy_seconds: float = BUSY_SECONDS,
    ) -> SqliteStore:
        """Open `souvenance.db` in the folder (or the file, when it ends in `.db`); made when missing, readable by its
        owner alone, brought to the newest revision after a backup beside it.

        `probe` is told `<label>:before` and `<label>:after` each commit. Raises StoreTooNew or StoreUnavailable.
        """
        path = file_of(folder_or_file)
        engine = await asyncio.to_thread(_opened, path, migrations, busy_seconds)
        return cls(engine, path, probe=probe)

    async def write(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._writer.run(lambda connection: self._write(connection, owner_id, work, label))

    async def read(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._readers.run(
            lambda connection: _persistently(connection, lambda: work(SqlUnit(connection, owner_id)))
        )

    async def rehearse(self, owner_id: OwnerId, work: Callable[[Unit], T], *, label: str) -> T:
        return await self._writer.run(
            lambda connection: _persistently(connection, lambda: work(SqlUnit(connection, owner_id)), stays=False)
        )

    async def claim(self, *, worker: str, now: datetime, lease: timedelta, kinds: Sequence[str]) -> Due | None:
        if not await self._readers.run(
            lambda connection: _persistently(connection, lambda: claims.any_claimable(connection, now=now, kinds=kinds))
        ):
            return None
        return await self._writer.run(
            lambda connection: self._transact(
                connection,
                lambda: claims.claim(connection, worker=worker, now=now, lease=lease, kinds=kinds),
                "due.claimed",
            )
        )

    @asynccontextmanager
    async def listening(self, wake: Callable[[], object]) -> AsyncIterator[None]:
        """Other processes on the same file are not heard: they look for what is due from time to time."""
        with self._bell.heard_by(wake):
            yield

    async def owners_with_ended_offers(self, now: datetime) -> list[OwnerId]:
        return await self._readers.run(
            lambda connection: _persistently(connection, lambda: claims.owners_with_ended_offers(connection, now))
        )

    async def will_purge(self) -> None:
        await self._writer.run(_marked)

    async def scrub(self, *, deleted: bool) -> bool:
        """Write the file anew, empty the write-ahead log into it, and delete backups from before the deletion.

        `secure_delete` overwrites what is deleted, but copies that SQLite left behind when it split or joined pages
        stay until the file is rebuilt.
        """
        if deleted:
            await self.will_purge()
        if not await self._readers.run(_holds_traces):
            return True
        return await self._writer.run(lambda connection: _rebuilt(connection, self._path))

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._readers.close()
        self.engine.dispose()

    def _write(self, connection: Connection, owner_id: OwnerId, work: Callable[[Unit], T], label: str) -> T:
        made_due = False

        def work_and_note() -> T:
            nonlocal made_due
            unit = SqlUnit(connection, owner_id)
            result = work(unit)
            made_due = unit.made_due
            return result

        result = self._transact(connection, work_and_note, label)
        if made_due:
            self._bell.ring()
        return result

    def _transact(self, connection: Connection, work: Callable[[], T], label: str) -> T:
        def work_to_the_edge() -> T:
            result = work()
            self._probe(f"{label}:before")
            return result

        result = _persistently(connection, work_to_the_edge)
        self._probe(f"{label}:after")
        return result


def file_of(folder_or_file: str | Path) -> Path:
    path = Path(folder_or_file)
    return path if path.suffix == ".db" else path / FILE


def _nothing(_: str) -> None:
    return


def _persistently(connection: Connection, work: Callable[[], T], *, stays: bool = True) -> T:
    """Run `work` in one transaction, which is rolled back unless it `stays`; once more, a few times, when another
    process holds the file.
    """
    tries = 0
    while True:
        tries += 1
        try:
            with connection.begin() as transaction:
                # Not by an event of the engine: one that is listened to adds a quarter to the time of every statement.
                _driver(connection).execute(connection.get_execution_options()[_BEGIN])
                result = work()
                if not stays:
                    transaction.rollback()
                return result
        except (DBAPIError, sqlite3.Error) as error:
            fault = faults.of_sqlite(error)
            if fault is Fault.OURS:
                raise
            if fault is not Fault.AGAIN or tries == faults.TRIES:
                raise StoreUnavailable(faults.reason(error)) from error
        time.sleep(faults.pause(tries))


def _opened(path: Path, migrations: migrate.Migrations, busy_seconds: float) -> Engine:
    try:
        _make_private(path)
        engine = make_engine(path, busy_seconds=busy_seconds)
        migrate.prepare_sqlite(engine, path, migrations)
    except (DBAPIError, sqlite3.Error, OSError) as error:
        raise StoreUnavailable(f"{path}: {faults.reason(error)}") from error
    return engine


def _make_private(path: Path) -> None:
    """Make folder and file so that only their owner reads them; SQLite gives its side files the file's own rights."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def make_engine(path: Path, *, busy_seconds: float) -> Engine:
    """An engine that leaves it to its user to begin a transaction: IMMEDIATE where it is to write."""

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(
            path, timeout=busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        with closing(made.cursor()) as cursor:
            for pragma in _PRAGMAS:
                cursor.execute(pragma)
        return made

    return create_engine("sqlite+pysqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)


def _connection(engine: Engine, *, writes: bool) -> Connection:
    try:
        connection = engine.connect().execution_options(**{_BEGIN: "BEGIN IMMEDIATE" if writes else "BEGIN"})
    except (DBAPIError, sqlite3.Error) as error:
        raise StoreUnavailable(faults.reason(error)) from error
    if not writes:
        _driver(connection).execute("PRAGMA query_only = ON")
    return connection


def _marked(connection: Connection) -> None:
    _driver(connection).execute("PRAGMA user_version = 1")


def _holds_traces(connection: Connection) -> bool:
    """Whether something was, or may have been, purged since the file was last rebuilt."""
    (marked,) = _driver(connection).execute("PRAGMA user_version").fetchone()
    return bool(marked)


def _rebuilt(connection: Connection, path: Path) -> bool:
    """Whether no file holds a trace any more; False while another process is in the way."""
    driver = _driver(connection)
    try:
        driver.execute("VACUUM")
        _delete_backups(driver, path)
        busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            driver.execute("PRAGMA user_version = 0")
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (sqlite3.OperationalError, OSError) as error:
        _log.warning("file_not_rebuilt", extra={"reason": faults.reason(error)})
        return False
    return not busy


def _delete_backups(driver: sqlite3.Connection, path: Path) -> None:
    """Those from before the deletion hold what was deleted. Who makes one holds the file: none is half made here."""
    driver.execute("BEGIN IMMEDIATE")
    try:
        for backup in migrate.backups_of(path):
            backup.unlink(missing_ok=True)
            _log.info("backup_deleted", extra={"file": backup.name})
    finally:
        driver.execute("ROLLBACK")


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)
