"""What only a server can do: end a connection, or not be there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Unit
from souvenance.storage.notified import notified
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.repository import Repository
from tests.conformance import rows

_END_THE_OTHERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_END_MYSELF = text("SELECT pg_terminate_backend(pg_backend_pid())")


def next_place(unit: Unit) -> int:
    return unit.owners.next_place()


def place_of(unit: Unit) -> int:
    return unit.owners.get().place


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    store = await PostgresStore.open(postgres_url)
    await store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(rows.owner(LOCAL_ACCOUNT)), label="owner.created")
    yield store
    await store.close()


async def end_connections_of_others(postgres_url: str) -> None:
    other = await PostgresStore.open(postgres_url)
    async with other.engine.connect() as connection:
        await connection.execute(_END_THE_OTHERS)
    await other.close()


async def test_a_write_goes_through_after_the_server_ended_every_connection(
    postgres_url: str, store: PostgresStore
) -> None:
    assert await store.write(LOCAL_ACCOUNT, next_place, label="place.taken") == 1
    await end_connections_of_others(postgres_url)
    assert await store.write(LOCAL_ACCOUNT, next_place, label="place.taken") == 2
    await end_connections_of_others(postgres_url)
    assert await store.read(LOCAL_ACCOUNT, place_of, label="owner.read") == 2


@pytest.mark.parametrize(("ended", "place"), [(1, 1), (2, 0)])
async def test_work_whose_connection_broke_runs_once_more_and_no_more(
    store: PostgresStore, ended: int, place: int
) -> None:
    runs: list[int] = []

    def work(unit: Unit) -> int:
        taken = unit.owners.next_place()
        runs.append(taken)
        if len(runs) <= ended:
            repository = unit.owners
            assert isinstance(repository, Repository)
            repository._run(_END_MYSELF)
        return taken

    if ended == 1:
        assert await store.write(LOCAL_ACCOUNT, work, label="place.taken") == 1
    else:
        with pytest.raises(StoreUnavailable):
            await store.write(LOCAL_ACCOUNT, work, label="place.taken")
    assert runs == [1, 1]
    assert await store.read(LOCAL_ACCOUNT, place_of, label="owner.read") == place


async def test_work_that_writes_a_row_twice_fails_as_a_fault_of_ours(store: PostgresStore) -> None:
    def work(unit: Unit) -> None:
        unit.messages.put(rows.message())
        unit.messages.put(rows.message())

    with pytest.raises(IntegrityError):
        await store.write(LOCAL_ACCOUNT, work, label="message.stored")


async def test_a_server_that_is_not_there_is_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere = tmp_path_factory.mktemp("none")
    with pytest.raises(StoreUnavailable):
        await PostgresStore.open(f"postgresql+asyncpg://postgres@/none?host={nowhere}")


async def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist"):
        await PostgresStore.open(postgres_url.replace("/test_", "/gone_"))


async def test_who_listens_for_due_work_is_woken_when_a_lost_connection_stands_again(
    postgres_url: str, store: PostgresStore
) -> None:
    told = asyncio.Event()
    async with notified(store.engine.url, told.set, again_seconds=0), asyncio.timeout(60):
        await told.wait()
        told.clear()
        await end_connections_of_others(postgres_url)
        await told.wait()
        told.clear()
        await store.write(LOCAL_ACCOUNT, lambda unit: unit.due.put(rows.due(owner_id=LOCAL_ACCOUNT)), label="due.put")
        await told.wait()
