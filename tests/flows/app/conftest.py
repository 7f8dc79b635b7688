"""A house on each database: each test of this folder that asks for one runs as `[sqlite]` and as `[postgres]`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from souvenance.app.kit import Kit
from souvenance.domain.ids import LOCAL_ACCOUNT
from souvenance.domain.owner import Owner, OwnerKind
from souvenance.models.tokens import O200k
from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from souvenance.testing import CountedIds, FrozenClock, ScriptedModel
from tests.flows.app.house import House
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
    clock, model = FrozenClock(), ScriptedModel()
    owner = Owner(
        owner_id=LOCAL_ACCOUNT,
        kind=OwnerKind.ACCOUNT,
        name="Local",
        secret=b"a secret of forty-eight bytes, for tests only...",
        place=0,
        created_at=clock.now(),
    )
    await real_store.write(LOCAL_ACCOUNT, lambda unit: unit.owners.create(owner), label="owner.created")
    kit = Kit(store=real_store, models=model, tokenizer=O200k(), clock=clock, ids=CountedIds())
    return House(kit=kit, model=model, clock=clock, owner=LOCAL_ACCOUNT)
