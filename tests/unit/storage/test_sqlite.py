"""What only a file can do: be busy, full, broken, or read by the wrong person."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, text

from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.errors import StoreUnavailable
from souvenance.ports.store import Unit
from souvenance.storage.sqlite import FILE, SqliteStore
from tests.conformance import facts, rows


def create(unit: Unit) -> None:
    unit.owners.create(rows.owner(LOCAL_ACCOUNT))


def place_of(unit: Unit) -> int:
    return unit.owners.get().place


def next_place(unit: Unit) -> int:
    return unit.owners.next_place()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "data", busy_seconds=0.01)
    await store.write(LOCAL_ACCOUNT, create, label="owner.created")
    yield store
    await store.close()


async def test_folder_and_files_are_for_their_owner_alone(tmp_path: Path, store: SqliteStore) -> None:
    await store.write(LOCAL_ACCOUNT, next_place, label="place.taken")
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
    assert files == {FILE: 0o600, f"{FILE}-wal": 0o600, f"{FILE}-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


async def test_every_connection_has_the_pragmas_that_keep_an_acknowledged_commit(store: SqliteStore) -> None:
    with store.engine.connect() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}


async def test_a_file_that_another_process_holds_too_long_is_unavailable_and_then_available_again(
    tmp_path: Path, store: SqliteStore
) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.write(LOCAL_ACCOUNT, next_place, label="place.taken")
        assert await store.read(LOCAL_ACCOUNT, place_of, label="owner.read") == 0
        other.execute("ROLLBACK")
    assert await store.write(LOCAL_ACCOUNT, next_place, label="place.taken") == 1


@pytest.mark.usefixtures("store")
async def test_a_write_waits_for_a_process_that_is_soon_done(tmp_path: Path) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def tell_when_it_begins(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(lambda sql: loop.call_soon_threadsafe(begun.set) if "IMMEDIATE" in sql else None)

    waiting = await SqliteStore.open(tmp_path / "data", busy_seconds=30)
    event.listen(waiting.engine, "connect", tell_when_it_begins)
    with closing(sqlite3.connect(tmp_path / "data" / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(waiting.write(LOCAL_ACCOUNT, next_place, label="place.taken"))
        await begun.wait()
        other.execute("ROLLBACK")
        assert await writing == 1
    await waiting.close()


async def test_a_write_that_waits_in_line_is_not_begun_once_its_caller_is_cancelled(tmp_path: Path) -> None:
    reached, leave = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def probe(heard: str) -> None:
        if heard == "first:before":
            loop.call_soon_threadsafe(reached.set)
            asyncio.run_coroutine_threadsafe(leave.wait(), loop).result(timeout=60)

    store = await SqliteStore.open(tmp_path, probe=probe)
    await store.write(LOCAL_ACCOUNT, create, label="owner.created")
    first = asyncio.create_task(store.write(LOCAL_ACCOUNT, next_place, label="first"))
    await reached.wait()
    second = asyncio.create_task(store.write(LOCAL_ACCOUNT, next_place, label="second"))
    # One step of the loop hands the second over to the writer's line.
    await asyncio.sleep(0)
    second.cancel()
    leave.set()
    assert await first == 1
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await store.write(LOCAL_ACCOUNT, next_place, label="third") == 2
    await store.close()


@pytest.mark.usefixtures("store")
async def test_a_full_disk_is_named_and_nothing_is_half_stored(tmp_path: Path) -> None:
    def no_more_pages(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    def write_much(unit: Unit) -> None:
        unit.owners.next_place()
        unit.messages.put(rows.message(text="x" * 1_000_000))

    full = await SqliteStore.open(tmp_path / "data")
    event.listen(full.engine, "connect", no_more_pages)
    with pytest.raises(StoreUnavailable, match="full"):
        await full.write(LOCAL_ACCOUNT, write_much, label="message.stored")
    event.remove(full.engine, "connect", no_more_pages)
    assert await full.write(LOCAL_ACCOUNT, next_place, label="place.taken") == 1
    await full.close()


async def test_once_a_purge_is_scrubbed_no_file_of_the_folder_holds_the_text(
    tmp_path: Path, store: SqliteStore
) -> None:
    marker = "Marzipan-Zeppelin"
    secret = facts.memory(1, f"Is afraid of the {marker}")
    offer = facts.erasure(secret.memory_id)

    def files_with_marker() -> set[str]:
        return {path.name for path in (tmp_path / "data").iterdir() if marker.encode() in path.read_bytes()}

    await store.write(LOCAL_ACCOUNT, lambda unit: facts.keep(unit, secret), label="memory.added")
    await store.write(LOCAL_ACCOUNT, lambda unit: unit.erasures.begin(offer), label="erasure.begun")
    assert files_with_marker()

    with closing(sqlite3.connect(tmp_path / "data" / FILE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        await store.write(LOCAL_ACCOUNT, lambda unit: unit.erasures.purge(offer), label="erasure.purged")
        assert not await store.scrub(deleted=True)
        assert files_with_marker()
        reader.execute("ROLLBACK")
    assert await store.scrub(deleted=False)
    assert files_with_marker() == set()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    broken = tmp_path / FILE
    broken.write_bytes(b"This is a letter, not a database. " * 200)
    before = broken.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a database"):
        await SqliteStore.open(tmp_path)
    assert broken.read_bytes() == before


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="file"):
        await SqliteStore.open(tmp_path / "file" / "data")


async def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "data")
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="unable to open"):
        await store.read(LOCAL_ACCOUNT, place_of, label="owner.read")
    await store.close()


async def test_a_path_that_ends_in_db_is_the_file_itself(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "mine.db")
    await store.close()
    assert (tmp_path / "mine.db").exists()


def test_opening_a_store_that_is_up_to_date_imports_no_alembic(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from souvenance.storage.sqlite import SqliteStore\n"
        "store = asyncio.run(SqliteStore.open(sys.argv[1]))\n"
        "print('alembic' in sys.modules)\n"
    )
    said = [
        subprocess.run([sys.executable, "-c", script, tmp_path], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]
