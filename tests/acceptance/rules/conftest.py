"""One server a module and database, on which every test has bots and conversations of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from souvenance.settings import Settings
from souvenance.testing import ScriptedUpstream
from tests.acceptance.rules.summing import Summed, answers
from tests.acceptance.rules.world import MovedClock, World, world_of
from tests.flows.serving import served, settings_for
from tests.postgres import SharedPostgres


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """None for SQLite in the server's folder, else a PostgreSQL database of the module's own."""
    if request.param == "sqlite":
        yield None
        return
    shared: SharedPostgres = request.getfixturevalue("postgres")
    with shared.migrated_database() as url:
        yield url


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    """The one model: it says what a test has written for it, else it sums up what it is asked to, or echoes."""
    with ScriptedUpstream(models=("scripted",)) as scripted:
        yield scripted.respond_with(answers)


@pytest.fixture(scope="module")
def limits() -> Mapping[str, float]:
    """The figures that a module's server has other than usual."""
    return {}


@pytest.fixture(scope="module")
def settings(
    tmp_path_factory: pytest.TempPathFactory,
    database_url: str | None,
    upstream: ScriptedUpstream,
    limits: Mapping[str, float],
) -> Settings:
    folder: Path = tmp_path_factory.mktemp("installation")
    return settings_for(folder, database_url=database_url, upstream=upstream, limits=limits)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(settings: Settings, upstream: ScriptedUpstream) -> AsyncIterator[World]:
    """The running server, a worker within it as `serve` has it; tests ask for `world`, which is the same, emptied."""
    clock = MovedClock()
    async with served(settings, clock=clock) as server, server.house.at_work():
        yield world_of(server, upstream, clock)


@pytest_asyncio.fixture(loop_scope="module")
async def world(house: World) -> World:
    """The server with nothing in the account's memory, and a model that has nothing left to say of the last test."""
    await house.empty_account()
    house.upstream.respond_with(answers)
    return house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def long(house: World) -> Summed:
    """A conversation of 41 turns with a node of every tier, for tests that only read it or change a fork of it."""
    return await Summed.brought(house, "My secret is wombats.", turns=41)
