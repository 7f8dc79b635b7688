"""Servers for the flows: each on SQLite and on PostgreSQL where both matter, all over real HTTP; and commands."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from souvenance.cli import main
from souvenance.settings import Settings
from souvenance.testing import ScriptedUpstream
from tests.flows.commands import Ran, Souvenance
from tests.flows.serving import Served, served, settings_for


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    """An OpenAI-compatible upstream that echoes until it is told otherwise."""
    with ScriptedUpstream(models=("scripted",)) as scripted:
        yield scripted


@pytest.fixture(params=["sqlite", "postgres"])
def both_settings(request: pytest.FixtureRequest, tmp_path: Path, upstream: ScriptedUpstream) -> Settings:
    """An installation with the scripted upstream, on each database."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return settings_for(tmp_path, database_url=url, upstream=upstream)


@pytest_asyncio.fixture
async def server(tmp_path: Path, upstream: ScriptedUpstream) -> AsyncIterator[Served]:
    """A server on SQLite with the scripted upstream."""
    async with served(settings_for(tmp_path, upstream=upstream)) as running:
        yield running


@pytest_asyncio.fixture
async def both(both_settings: Settings) -> AsyncIterator[Served]:
    """A server with the scripted upstream, on each database."""
    async with served(both_settings) as running:
        yield running


@pytest.fixture
def environment(tmp_path: Path, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A data folder and the scripted upstream, set as a person would; nothing else is looked for."""
    own = {
        "SOUVENANCE_FOLDER": str(tmp_path / "data"),
        "SOUVENANCE_UPSTREAMS_HOME_BASE_URL": upstream.url,
        "SOUVENANCE_DETECT_LOCAL": "off",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **own}


@pytest.fixture
def run(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Souvenance:
    def command(*arguments: str) -> Ran:
        code = main(arguments)
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return command
