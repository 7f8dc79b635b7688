"""One suite for both databases: each test runs as `[sqlite]` (a real file) and `[postgres]`, each statement audited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from souvenance.ports.store import Store
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.conformance import rows
from tests.conformance.audit import AuditedStore
from tests.sqlite_file import migrated_folder


@dataclass(frozen=True, slots=True)
class Place:
    """A database at the newest revision: a folder for SQLite, a URL for PostgreSQL."""

    folder: Path | None = None
    url: str = ""

    async def open(self, probe: Callable[[str], None] | None = None) -> SqliteStore | PostgresStore:
        if self.folder is not None:
            return await SqliteStore.open(self.folder, probe=probe)
        return await PostgresStore.open(self.url, probe=probe)


def engine_of(store: SqliteStore | PostgresStore) -> Engine:
    return store.engine if isinstance(store, SqliteStore) else store.engine.sync_engine


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(folder=migrated_folder(tmp_path / "data"))
    url: Any = request.getfixturevalue("postgres_url")
    return Place(url=url)


@pytest.fixture
async def bare_store(place: Place) -> AsyncIterator[SqliteStore | PostgresStore]:
    """As it is opened in production, without the audit and without owners."""
    store = await place.open()
    yield store
    await store.close()


@pytest.fixture
async def store(bare_store: SqliteStore | PostgresStore) -> Store:
    """Audited, with the two owners of `rows`."""
    audited = AuditedStore(bare_store, engine_of(bare_store))
    for owner in (rows.ALICE, rows.BOB):
        await audited.write(owner, lambda unit: unit.owners.create(rows.owner(unit.owner_id)), label="owner.created")
    return audited
