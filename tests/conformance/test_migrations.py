"""Opening a store brings its database to the newest revision, once, or leaves it as it was."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from souvenance.errors import StoreTooNew, StoreUnavailable
from souvenance.storage import migrate
from souvenance.storage.migrate import CURRENT, Migrations
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.schema import metadata
from souvenance.storage.sqlite import SqliteStore
from tests.conformance import rows
from tests.conformance.rows import ALICE

_NEXT = """
from alembic import op
import sqlalchemy as sa
revision, down_revision = "9001", {newest!r}
def upgrade():
    op.create_table("moods", sa.Column("owner_id", sa.String(64), primary_key=True))
    op.add_column("bots", sa.Column("mood", sa.Text()))
    {then}
"""


class Empty:
    """A database without tables: a folder for SQLite, a URL for PostgreSQL."""

    def __init__(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        self.is_sqlite = request.param == "sqlite"
        self.folder = tmp_path / "data"
        self.url: Any = "" if self.is_sqlite else request.getfixturevalue("empty_postgres_url")

    async def open(self, migrations: Migrations = CURRENT) -> SqliteStore | PostgresStore:
        if self.is_sqlite:
            return await SqliteStore.open(self.folder, migrations=migrations)
        return await PostgresStore.open(self.url, migrations=migrations)

    @asynccontextmanager
    async def opened(self, migrations: Migrations = CURRENT) -> AsyncIterator[SqliteStore | PostgresStore]:
        store = await self.open(migrations)
        yield store
        await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Empty:
    return Empty(request, tmp_path)


def with_next(tmp_path: Path, *, then: str = "") -> Migrations:
    """The migrations of a newer version: ours and one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(CURRENT.folder, folder)
    (folder / "versions" / "9001_moods.py").write_text(_NEXT.format(newest=CURRENT.newest, then=then))
    return Migrations(folder=folder, revisions=(*CURRENT.revisions, "9001"))


async def look(store: SqliteStore | PostgresStore, question: Any) -> Any:
    """Ask a synchronous question of a connection, in a transaction of its own."""
    if isinstance(store, PostgresStore):
        async with store.engine.begin() as connection:
            return await connection.run_sync(question)
    with store.engine.begin() as connection:
        return question(connection)


def stamp(revision: str) -> Any:
    return lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


async def make_alice(store: SqliteStore | PostgresStore) -> None:
    await store.write(ALICE, lambda unit: unit.owners.create(rows.owner(ALICE)), label="owner.created")


async def alice_is_there(store: SqliteStore | PostgresStore) -> bool:
    return await store.read(ALICE, lambda unit: unit.owners.get(), label="owner.read") == rows.owner(ALICE)


async def test_the_migrations_make_what_the_schema_says(empty: Empty) -> None:
    def differences(connection: Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata)

    def without_rowid(connection: Connection) -> set[str]:
        made = connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'"))
        return {row.name for row in made}

    async with empty.opened() as store:
        assert await look(store, differences) == []
        if empty.is_sqlite:
            assert await look(store, without_rowid) == set(metadata.tables)


def test_the_revisions_named_in_the_code_are_those_in_the_folder() -> None:
    script = ScriptDirectory(str(CURRENT.folder))
    assert tuple(revision.revision for revision in reversed(list(script.walk_revisions()))) == CURRENT.revisions


async def test_many_processes_may_open_an_empty_database_at_once(empty: Empty) -> None:
    stores = await asyncio.gather(*(empty.open() for _ in range(5)))
    await make_alice(stores[0])
    assert all([await alice_is_there(store) for store in stores])
    for store in stores:
        await store.close()


async def test_a_newer_database_is_refused_and_left_alone(empty: Empty) -> None:
    async with empty.opened() as store:
        await look(store, stamp("9999"))
    with pytest.raises(StoreTooNew, match=f"schema 9999; this one knows {CURRENT.newest}"):
        await empty.open()
    if empty.is_sqlite:
        assert not list(empty.folder.glob("*.backup-*"))


async def test_an_older_database_is_migrated_with_everything_in_it(empty: Empty, tmp_path: Path) -> None:
    async with empty.opened() as store:
        await make_alice(store)
    async with empty.opened(with_next(tmp_path)) as store:
        assert await alice_is_there(store)
        assert await look(store, lambda connection: inspect(connection).has_table("moods"))
        assert await look(store, migrate.revision_of) == "9001"


async def test_a_migration_that_fails_half_way_leaves_the_old_database_usable(empty: Empty, tmp_path: Path) -> None:
    async with empty.opened() as store:
        await make_alice(store)
    with pytest.raises(StoreUnavailable, match="could not be migrated to 9001"):
        await empty.open(with_next(tmp_path, then='op.execute("INSERT INTO nowhere VALUES (1)")'))
    async with empty.opened() as store:
        assert await alice_is_there(store)
        assert not await look(store, lambda connection: inspect(connection).has_table("moods"))


async def test_an_older_file_is_backed_up_beside_itself_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    old = await SqliteStore.open(folder)
    await make_alice(old)
    # The last writes may still be in the write-ahead log of a process that runs: the backup has them too.
    new = await SqliteStore.open(folder, migrations=with_next(tmp_path))
    await new.close()
    await old.close()

    [backup] = folder.glob("*.backup-*")
    assert re.fullmatch(rf"souvenance\.db\.backup-{CURRENT.newest}-\d{{8}}T\d{{12}}Z", backup.name)
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT owner_id FROM owners").fetchall() == [(ALICE,)]
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(CURRENT.newest,)]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_upgrade_prepares_a_file_as_opening_it_does(tmp_path: Path) -> None:
    migrate.upgrade(tmp_path / "souvenance.db")
    with closing(sqlite3.connect(tmp_path / "souvenance.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(CURRENT.newest,)]
