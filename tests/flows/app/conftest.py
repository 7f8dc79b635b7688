"""A house on each database: each test of this folder that asks for one runs as `[sqlite]` and as `[postgres]`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.flows.app.house import House, house_on
from tests.sqlite_file import migrated_folder


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """A folder for SQLite, or the URL of a fresh PostgreSQL database."""
    if request.param == "sqlite":
        return migrated_folder(tmp_path / "data")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest_asyncio.fixture
async def real_store(where: Path | str) -> AsyncIterator[SqliteStore | PostgresStore]:
    store = await (SqliteStore.open(where) if isinstance(where, Path) else PostgresStore.open(where))
    yield store
    await store.close()


@pytest_asyncio.fixture
async def house(real_store: SqliteStore | PostgresStore) -> House:
    """The local account of a fresh store, a frozen clock, counted ids, and a model that echoes until it is scripted."""
    return await house_on(real_store)
