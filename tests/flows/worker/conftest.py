"""The house of the app room on each database, with pieces to work on and a time that passes when it is told to."""

from __future__ import annotations

import pytest

from souvenance.storage.postgres import PostgresStore
from souvenance.storage.sqlite import SqliteStore
from tests.flows.app.conftest import house, real_store, where
from tests.flows.app.house import House
from tests.flows.worker.pieces import Pieces

__all__ = ["house", "real_store", "where"]


@pytest.fixture
def pieces(house: House, real_store: SqliteStore | PostgresStore) -> Pieces:
    return Pieces(house.kit, house.clock)
