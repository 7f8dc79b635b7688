"""The floors: a turn's statements again, through the bare drivers, with the same pragmas and transactions."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.measured_store import Phase, Statement

if TYPE_CHECKING:
    import asyncpg

PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON")


class Floor(Protocol):
    async def repeat(self, phases: Sequence[Phase]) -> float: ...


class BareSqlite:
    """A copy of the database that lags one turn behind: the statements of each turn, with the very ids and values
    that it made, find it as the turn found its own.
    """

    def __init__(self, path: Path) -> None:
        self._writer, self._reader = _Thread(path, writes=True), _Thread(path, writes=False)

    async def repeat(self, phases: Sequence[Phase]) -> float:
        """Seconds for all phases, one thread hop each; every row is fetched, none is converted."""
        began = time.perf_counter()
        for phase in phases:
            await (self._writer if phase.writes else self._reader).run(phase.statements)
        return time.perf_counter() - began

    async def aclose(self) -> None:
        await self._writer.aclose()
        await self._reader.aclose()


class _Thread:
    def __init__(self, path: Path, *, writes: bool) -> None:
        self._begin = "BEGIN IMMEDIATE" if writes else "BEGIN"
        self._hop = ThreadPoolExecutor(1)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
        for pragma in PRAGMAS:
            self._connection.execute(f"PRAGMA {pragma}")

    async def run(self, statements: Sequence[Statement]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._hop, self._run, statements)

    def _run(self, statements: Sequence[Statement]) -> None:
        cursor = self._connection.cursor()
        cursor.execute(self._begin)
        for statement in statements:
            if statement.many:
                cursor.executemany(statement.sql, statement.rows)
            else:
                cursor.execute(statement.sql, statement.rows).fetchall()
        cursor.execute("COMMIT")

    async def aclose(self) -> None:
        await asyncio.to_thread(self._hop.shutdown)
        self._connection.close()


class BarePostgres:
    """The same on PostgreSQL through asyncpg, which needs no thread."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def repeat(self, phases: Sequence[Phase]) -> float:
        """Seconds for all phases, each in a transaction of the isolation that the store gives it."""
        began = time.perf_counter()
        for phase in phases:
            isolation: dict[str, Any] = (
                {"isolation": "read_committed"} if phase.writes else {"isolation": "repeatable_read", "readonly": True}
            )
            async with self._connection.transaction(**isolation):
                await self._run(phase.statements)
        return time.perf_counter() - began

    async def _run(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            if statement.many:
                await self._connection.executemany(statement.sql, statement.rows)
            else:
                await self._connection.fetch(statement.sql, *statement.rows)

    async def execute(self, statements: Sequence[str]) -> None:
        for statement in statements:
            await self._connection.execute(statement)

    async def aclose(self) -> None:
        await self._connection.close()
