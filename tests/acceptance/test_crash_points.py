"""A crash before and after every single commit: each is there whole or not at all, and nothing acknowledged is lost.

The boundaries are found by a dry run of the story in `crash_story`, so a new commit in it is a new crash.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

import pytest
from sqlalchemy import Connection, select

from souvenance.app.remember import NewMemory, remember
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.domain.memory import ACCOUNT_SCOPE
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.storage.postgres import PostgresStore, make_engine
from souvenance.storage.schema import metadata
from souvenance.storage.sqlite import SqliteStore
from souvenance.testing import FrozenClock, ScriptedModel
from souvenance.testing.clock import START
from souvenance.wiring import open_house
from tests.acceptance.crash_story import KILLED, Life, Order, View, settings_of, view
from tests.acceptance.serving import ROOT, scrubbed
from tests.counts import times
from tests.sqlite_file import migrated_folder

Place: TypeAlias = tuple[Path, str | None]
"""A folder, and the database that is used instead of SQLite in it."""
Rows: TypeAlias = dict[str, list[str]]
_ONE_LIFE = 2**24
_OWNER = Owner(owner_id=LOCAL_ACCOUNT, kind=OwnerKind.ACCOUNT, name="", secret=b"s" * 32, place=0, created_at=START)


@pytest.fixture
def places(database_url: str | None, tmp_path: Path) -> Callable[[str], AbstractAsyncContextManager[Place]]:
    """Makes empty places to live in, by name: on SQLite a folder each, on PostgreSQL one database, emptied again."""

    @asynccontextmanager
    async def made(name: str) -> AsyncIterator[Place]:
        if database_url is None:
            migrated_folder(tmp_path / name)
        yield tmp_path / name, database_url
        if database_url is not None:
            await empty(database_url)

    return made


@pytest.mark.timeout(times(600, full=7_200))
async def test_a_crash_at_any_commit_boundary_leaves_the_commit_whole_or_undone(
    places: Callable[[str], AbstractAsyncContextManager[Place]], record_property: Callable[[str, object], None]
) -> None:
    async with teller() as lives:
        async with places("whole") as place:
            await make_account(place)
            whole = await lives(_order(place, None))
            assert whole.status == 0
            ended = await rows_of(place)
        opening = len(whole.boundaries) // 2 - whole.acknowledged
        after: Rows = {}
        for number, boundary in enumerate(whole.boundaries):
            async with places(f"point{number}") as place:
                await make_account(place)
                life = await lives(_order(place, number))
                committed = (number + 1) // 2
                check_life(life, whole, boundary, acknowledged=number // 2 - opening)
                rows = await rows_of(place)
                if boundary.endswith(":before"):
                    assert not after or rows == after, f"{boundary}: what was not committed left something behind"
                elif committed > opening:
                    assert rows != after, f"{boundary}: the commit is there"
                after = rows
                await check_reopened(place, seen=seen_after(whole, committed - opening))
        assert after == ended
    commits = len(whole.boundaries) // 2
    database = "SQLite" if place[1] is None else "PostgreSQL"
    record_property("proof", f"crash points, {database}: before and after each of {commits} commits, once")


async def test_a_crash_while_the_account_is_made_leaves_a_store_that_opens(
    places: Callable[[str], AbstractAsyncContextManager[Place]],
) -> None:
    async with teller() as lives:
        for number in (0, 1):
            async with places(f"opening{number}") as place:
                life = await lives(_order(place, number))
                assert life.boundaries[number].startswith("account.created:")
                assert (life.status, life.acknowledged) == (KILLED, 0)
                await check_reopened(place, seen={})


def check_life(life: Life, whole: Life, boundary: str, *, acknowledged: int) -> None:
    """It died where it was told to, and until then it was as the whole life."""
    assert life.status == KILLED
    assert life.boundaries[-1] == boundary
    assert life.boundaries == whole.boundaries[: len(life.boundaries)]
    assert life.acknowledged == max(0, acknowledged), f"{boundary}: acknowledged is what was committed before"


def seen_after(whole: Life, commits: int) -> View:
    return whole.views[commits - 1] if commits > 0 else {}


async def check_reopened(place: Place, *, seen: View) -> None:
    """The store opens, shows exactly what was committed, and takes new memories."""
    settings = settings_of(_order(place, None))
    async with await open_house(settings, models=ScriptedModel(), clock=FrozenClock()) as house:
        assert await view(house) == seen
        new = NewMemory(text="Came back after the crash", scope=ACCOUNT_SCOPE)
        assert (await remember(house.kit, house.owner_id, new)).created


async def make_account(place: Place) -> None:
    """With a secret that is the same everywhere, so that stores can be compared row by row."""
    async with opened(place) as store:
        await store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(_OWNER), label="account.made")


async def empty(database_url: str) -> None:
    engine = make_engine(database_url)
    async with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            await connection.execute(table.delete())
    await engine.dispose()


async def rows_of(place: Place) -> Rows:
    """All rows of all tables."""
    async with opened(place) as store:
        if isinstance(store, PostgresStore):
            async with store.engine.connect() as connection:
                return await connection.run_sync(_rows)
        return await asyncio.to_thread(_rows_of_sqlite, store)


def _rows_of_sqlite(store: SqliteStore) -> Rows:
    with store.engine.connect() as connection:
        return _rows(connection)


def _rows(connection: Connection) -> Rows:
    tables = metadata.sorted_tables
    return {table.name: sorted(repr(tuple(row)) for row in connection.execute(select(table))) for table in tables}


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[SqliteStore | PostgresStore]:
    folder, url = place
    store = await (SqliteStore.open(folder) if url is None else PostgresStore.open(url))
    try:
        yield store
    finally:
        await store.close()


def _order(place: Place, dies_at: int | None) -> Order:
    return Order(folder=str(place[0]), database_url=place[1], dies_at=dies_at)


@asynccontextmanager
async def teller() -> AsyncIterator[Callable[[Order], asyncio.Future[Life]]]:
    """The process whose children live and die in the places they are given."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.acceptance.crash_story"),
        cwd=ROOT,
        env=scrubbed(Path(os.devnull)),
        stdin=PIPE,
        stdout=PIPE,
        limit=_ONE_LIFE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    orders, answers = process.stdin, process.stdout

    async def lives(order: Order) -> Life:
        orders.write(json.dumps(asdict(order)).encode() + b"\n")
        return Life(**json.loads(await answers.readline()))

    try:
        yield lambda order: asyncio.ensure_future(lives(order))
    finally:
        await process.communicate(b"")
