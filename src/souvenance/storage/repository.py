"""What every repository is made of: a connection in a transaction, and the one owner its statements are bound to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    FromClause,
    Integer,
    Row,
    bindparam,
)

from souvenance.domain.ids import OwnerId
from souvenance.storage import direct
from souvenance.storage.declare import WORD
from souvenance.storage.hashing import Hasher

OWNER: BindParameter[str] = bindparam("owner", type_=WORD)
"""Bound by `Repository` to the unit's owner; statements name it through `owned`."""

LIMIT: BindParameter[int] = bindparam("limit", type_=Integer)
"""The most rows a page may have."""


def owned(table: FromClause) -> ColumnElement[bool]:
    """The condition that every select, update and delete starts with (HOUSE 7)."""
    return table.c.owner_id == OWNER


class Repository:
    """Runs statements bound to one owner. `owner` is taken as a parameter's name: no statement may use it otherwise."""

    __slots__ = ("_connection", "_hash", "_owner_id")

    def __init__(self, connection: Connection, owner_id: OwnerId, hasher: Hasher) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._hash = hasher

    def _run(self, statement: Executable, **values: object) -> CursorResult[Any]:
        return self._connection.execute(statement, {"owner": self._owner_id, **values})

    def _rows(self, statement: Executable, **values: object) -> Sequence[Row[Any]]:
        return self._run(statement, **values).all()

    def _tuples(self, statement: direct.Query, **values: object) -> Sequence[Sequence[Any]]:
        """The rows of a select that is made once and read often, to be taken apart by their order."""
        if self._connection.dialect.name == "sqlite":
            return direct.fetch(self._connection, statement, {"owner": self._owner_id, **values})
        return self._rows(statement, **values)

    def _row(self, statement: Executable, **values: object) -> Row[Any] | None:
        return self._run(statement, **values).one_or_none()

    def _write(self, statement: Executable, **row: object) -> CursorResult[Any]:
        """Insert one row of this owner by a statement that returns something or changes a row that is there."""
        return self._run(statement, owner_id=self._owner_id, **row)

    def _insert(self, statement: Executable, rows: Sequence[Mapping[str, object]]) -> None:
        """Insert rows of this owner; `owner_id` is added to each."""
        if rows:
            self._connection.execute(statement, [{**row, "owner_id": self._owner_id} for row in rows])
