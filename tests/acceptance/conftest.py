"""Both databases and the scripted upstream for the acceptance tests; what is only proved, not tested, is left out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from souvenance.testing import ScriptedUpstream
from tests.counts import PROVING

collect_ignore = [] if PROVING else ["test_wheel.py"]


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    """The one model that a server may reach."""
    with ScriptedUpstream(models=("scripted",)) as scripted:
        yield scripted


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    """None for SQLite in the server's folder, else a fresh PostgreSQL database."""
    return str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else None
